package payload

import "encoding/json"

// number reads a number by the grammar of RFC 8259 section 6 and keeps its text.
func (d *decoder) number() (any, bool) {
	start := d.pos
	d.take('-')
	if !d.take('0') {
		if d.digits() == 0 {
			return nil, d.unexpected()
		}
	}
	if d.take('.') {
		if d.digits() == 0 {
			return nil, d.unexpected()
		}
	}
	exponentOK := true
	if d.take('e') || d.take('E') {
		if !d.take('+') {
			d.take('-')
		}
		first := d.pos
		if d.digits() == 0 {
			return nil, d.unexpected()
		}
		exponentOK = atMost(d.text[first:d.pos], d.limits.MaxExponent)
	}
	switch {
	case d.pos-start > d.limits.MaxNumberLength:
		return nil, d.fault(FaultNumberLength, start)
	case !exponentOK:
		return nil, d.fault(FaultNumberExponent, start)
	}
	return json.Number(d.text[start:d.pos]), true
}

func (d *decoder) digits() int {
	start := d.pos
	for d.pos < len(d.text) && d.text[d.pos] >= '0' && d.text[d.pos] <= '9' {
		d.pos++
	}
	return d.pos - start
}

// atMost says whether the decimal digits stand for limit or less.
func atMost(digits string, limit int) bool {
	n := 0
	for i := range len(digits) {
		if n = n*10 + int(digits[i]-'0'); n > limit {
			return false
		}
	}
	return true
}
