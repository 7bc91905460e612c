package schemadiff

import "slices"

// branches is for allOf, anyOf and oneOf. Equal branches are the same branch wherever
// they stand; the others are paired in their order.
func (d *differ) branches(at place, p pair) {
	before, ok := p.older.([]any)
	after, okNow := p.newer.([]any)
	if (!p.added() && len(before) == 0) || (!p.removed() && len(after) == 0) {
		d.report(at, Changed, p.what())
		return
	}
	if !ok || !okNow {
		d.report(at, d.unlessEvaluated(p.presence()), p.what())
		return
	}
	incoming := map[string]Severity{"allOf": d.unlessEvaluated(Narrowed), "anyOf": Widened, "oneOf": Changed}[p.key]
	if p.key == "oneOf" {
		at = at.below(unsure)
	}
	olds, news := unmatched(before, after)
	for i := range min(len(olds), len(news)) {
		d.schema(at.branch(olds[i], news[i]), before[olds[i]], after[news[i]])
	}
	for _, i := range news[min(len(olds), len(news)):] {
		d.report(at.branch(i, i), incoming, p.key+" branch added: "+show(after[i]))
	}
	for _, i := range olds[min(len(olds), len(news)):] {
		gone := at.branch(i, i)
		gone.gone = true
		d.report(gone, flip(incoming), p.key+" branch removed (was "+show(before[i])+")")
	}
	if len(olds)+len(news) > 0 {
		return
	}
	severity := Text
	if d.loose {
		severity = Changed // a $ref counts on the order
	}
	d.report(at, severity, p.key+" has its branches in another order")
}

// unmatched returns the indexes of the branches that have no Equal one on the other side.
func unmatched(before, after []any) (olds, news []int) {
	free := map[string][]int{}
	for i, branch := range before {
		key := canonical(branch)
		free[key] = append(free[key], i)
	}
	for i, branch := range after {
		if key := canonical(branch); len(free[key]) > 0 {
			free[key] = free[key][1:]
		} else {
			news = append(news, i)
		}
	}
	for _, indexes := range free {
		olds = append(olds, indexes...)
	}
	slices.Sort(olds)
	return olds, news
}
