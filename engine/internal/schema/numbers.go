package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxExponent bounds the exponents of numbers, as the payload's decoder does. The
// validator drops a limit that is far beyond it, and spends seconds on one that is
// less far.
const maxExponent = 308

// maxExponents bounds the exponents of all numbers of a document together: comparing large
// ones with each other takes long. It lets a thousand have the largest.
const maxExponents = 1000 * maxExponent

// boundNumbers refuses numbers that the validator cannot be trusted with. It puts 1
// in their place, so that the rest of the document can still be judged.
func boundNumbers(tool string, document any) (faults []*CompileError) {
	exponents := 0
	var walk func(value any, at []string) any
	walk = func(value any, at []string) any {
		switch v := value.(type) {
		case json.Number:
			if !exceeds(v) {
				if exponents += exponent(v); exponents <= maxExponents {
					return v
				}
				if len(faults) == 0 {
					faults = append(faults, &CompileError{
						Tool: tool, Location: pointer(at),
						Problem: "the document has too many numbers with large exponents", Remedy: "leave limits out that are none",
					})
				}
				return json.Number("1")
			}
			faults = append(faults, &CompileError{
				Tool: tool, Location: pointer(at),
				Problem: "the number " + cut(ascii(v.String()), 48) + " has an exponent beyond 308", Remedy: "leave the limit out if there is none",
			})
			return json.Number("1")
		case []any:
			for i, item := range v {
				v[i] = walk(item, append(at, strconv.Itoa(i)))
			}
		case map[string]any:
			for _, key := range sortedKeys(v) {
				v[key] = walk(v[key], append(at, key))
			}
		}
		return value
	}
	walk(document, nil)
	return faults
}

func exceeds(number json.Number) bool { return exponent(number) > maxExponent }

// exponent returns the exponent that a number is written with, without its sign.
func exponent(number json.Number) int {
	i := strings.IndexAny(number.String(), "eE")
	if i < 0 {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimLeft(number.String()[i+1:], "+-"))
	if err != nil {
		return math.MaxInt32
	}
	return n
}

// uncountable says that the value of maxLength, minItems or the like is more than
// 2^31. The validator reads it as an int64 whatever its size.
func uncountable(value any) bool {
	number, ok := value.(json.Number)
	if !ok {
		return false
	}
	count, ok := new(big.Rat).SetString(number.String())
	return !ok || count.Cmp(big.NewRat(1<<31, 1)) > 0
}
