package payload_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
)

// parsingSuite returns the folder of the JSON parsing suite by Nicolas Seriot.
func parsingSuite(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SALLYPORT_SUITES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "suites")
	}
	folder := filepath.Join(root, "json-parsing", "test_parsing")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("SKIPPED, NOT PASSED: the JSON parsing suite is not at %s; set SALLYPORT_SUITES to the folder that holds json-parsing", folder)
	}
	return folder
}

// stricter are valid documents that are refused on purpose.
var stricter = map[string]string{
	"y_object_duplicated_key.json":           "duplicate_key",
	"y_object_duplicated_key_and_value.json": "duplicate_key",
	"y_number_double_close_to_zero.json":     "number_length", // 81 characters
}

// undecided are documents on which the standard leaves the choice.
var undecided = map[string]string{
	"i_number_double_huge_neg_exp.json":                   "number_exponent",
	"i_number_huge_exp.json":                              "number_length",
	"i_number_neg_int_huge_exp.json":                      "number_exponent",
	"i_number_pos_double_huge_exp.json":                   "number_exponent",
	"i_number_real_neg_overflow.json":                     "number_exponent",
	"i_number_real_pos_overflow.json":                     "number_exponent",
	"i_number_real_underflow.json":                        "number_exponent",
	"i_number_too_big_neg_int.json":                       "accepted",
	"i_number_too_big_pos_int.json":                       "accepted",
	"i_number_very_big_negative_int.json":                 "accepted",
	"i_object_key_lone_2nd_surrogate.json":                "lone_surrogate",
	"i_string_1st_surrogate_but_2nd_missing.json":         "lone_surrogate",
	"i_string_1st_valid_surrogate_2nd_invalid.json":       "lone_surrogate",
	"i_string_incomplete_surrogate_and_escape_valid.json": "lone_surrogate",
	"i_string_incomplete_surrogate_pair.json":             "lone_surrogate",
	"i_string_incomplete_surrogates_escape_valid.json":    "lone_surrogate",
	"i_string_invalid_lonely_surrogate.json":              "lone_surrogate",
	"i_string_invalid_surrogate.json":                     "lone_surrogate",
	"i_string_inverted_surrogates_U+1D11E.json":           "lone_surrogate",
	"i_string_lone_second_surrogate.json":                 "lone_surrogate",
	"i_string_UTF-16LE_with_BOM.json":                     "invalid_utf8",
	"i_string_UTF-8_invalid_sequence.json":                "invalid_utf8",
	"i_string_UTF8_surrogate_U+D800.json":                 "invalid_utf8",
	"i_string_invalid_utf-8.json":                         "invalid_utf8",
	"i_string_iso_latin_1.json":                           "invalid_utf8",
	"i_string_lone_utf8_continuation_byte.json":           "invalid_utf8",
	"i_string_not_in_unicode_range.json":                  "invalid_utf8",
	"i_string_overlong_sequence_2_bytes.json":             "invalid_utf8",
	"i_string_overlong_sequence_6_bytes.json":             "invalid_utf8",
	"i_string_overlong_sequence_6_bytes_null.json":        "invalid_utf8",
	"i_string_truncated-utf-8.json":                       "invalid_utf8",
	"i_string_utf16BE_no_BOM.json":                        "syntax",
	"i_string_utf16LE_no_BOM.json":                        "syntax",
	"i_structure_500_nested_arrays.json":                  "depth",
	"i_structure_UTF-8_BOM_empty_object.json":             "byte_order_mark",
}

func TestParsingSuite(t *testing.T) {
	folder := parsingSuite(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) != 318 {
		t.Fatalf("%d files, %v; want 318", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		facts := payload.Decode(text, limits(t)).Facts
		got := "accepted"
		switch {
		case facts.Fault != nil:
			got = facts.Fault.Code
		case !facts.Complete:
			got = facts.Stop
		}
		switch {
		case strings.HasPrefix(name, "n_"):
			if got == "accepted" {
				t.Errorf("%s: accepted", name)
			}
		case strings.HasPrefix(name, "y_"):
			want := "accepted"
			if code, listed := stricter[name]; listed {
				want = code
			}
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		default:
			if diff := cmp.Diff(undecided[name], got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}
