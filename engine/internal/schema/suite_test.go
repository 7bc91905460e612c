package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// officialSuite returns the folder of the JSON-Schema-Test-Suite.
func officialSuite(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SALLYPORT_SUITES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "suites")
	}
	folder := filepath.Join(root, "json-schema-test-suite")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("SKIPPED, NOT PASSED: the JSON-Schema-Test-Suite is not at %s; set SALLYPORT_SUITES to the folder that holds json-schema-test-suite", folder)
	}
	return folder
}

// remotes serves what the suite expects at http://localhost:1234/ from files.
type remotes string

func (r remotes) Load(url string) (any, error) {
	path, ok := strings.CutPrefix(url, "http://localhost:1234/")
	if !ok {
		return nil, errors.New("not in the suite")
	}
	text, err := os.ReadFile(filepath.Join(string(r), filepath.FromSlash(path)))
	if err == nil {
		return decode(string(text)), nil
	}
	// Some are only embedded in another remote document, by their $id.
	var embedded any
	err = filepath.WalkDir(string(r), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), `"`+url+`"`) {
			embedded = withID(decode(string(text)), url)
		}
		return err
	})
	if embedded == nil {
		err = errors.Join(err, fs.ErrNotExist)
	}
	return embedded, err
}

// withID returns the subschema that has this $id.
func withID(value any, id string) any {
	switch v := value.(type) {
	case map[string]any:
		if v["$id"] == id {
			return v
		}
		for _, member := range v {
			if found := withID(member, id); found != nil {
				return found
			}
		}
	case []any:
		for _, item := range v {
			if found := withID(item, id); found != nil {
				return found
			}
		}
	}
	return nil
}

type suiteGroup struct {
	Description string
	Schema      any
	Tests       []struct {
		Description string
		Data        any
		Valid       bool
	}
}

// groupsIn reads one file of the suite.
func groupsIn(t *testing.T, file string) []suiteGroup {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

// runSuite validates every case of the files and returns how many there are and
// which have another outcome than the suite says, as "file: description: case".
func runSuite(t *testing.T, folder string, files []string, o Options) (cases int, misses []string) {
	t.Helper()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, group := range groupsIn(t, file) {
			s, faults := compile(lint("suite", group.Schema, o), environment{o, remotes(filepath.Join(folder, "remotes"))})
			for _, test := range group.Tests {
				cases++
				id := fmt.Sprintf("%s: %s: %s", name, group.Description, test.Description)
				if len(faults) > 0 {
					misses = append(misses, id+" (does not compile)")
					continue
				}
				violations, err := s.Validate(context.Background(), test.Data)
				if err != nil || (len(violations) == 0) != test.Valid {
					misses = append(misses, id)
				}
			}
		}
	}
	slices.Sort(misses)
	return cases, misses
}

func glob(t *testing.T, pattern ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The hardened path that every tool's schema takes passes all that the suite
// requires. What is left out is how a document is written, which lint judges.
func TestOfficialSuiteRequired(t *testing.T) {
	folder := officialSuite(t)
	for _, part := range []struct {
		draft   string
		cases   int
		dialect Dialect
		formats Formats // from 2019-09 on the suite takes format for an annotation unless asked
	}{
		{"draft7", 927, Draft7, AssertFormats},
		{"draft2020-12", 1299, Draft2020, AnnotateFormats},
	} {
		t.Run(part.draft, func(t *testing.T) {
			cases, misses := runSuite(t, folder, glob(t, folder, "tests", part.draft, "*.json"), Options{Declared: part.dialect, Formats: part.formats, Limits: limits})
			if cases != part.cases {
				t.Errorf("%d cases, want %d", cases, part.cases)
			}
			for _, miss := range misses {
				t.Error(miss)
			}
			t.Logf("%d of %d", cases-len(misses), cases)
		})
	}
}

// Optional cases that have another outcome are listed by name, so that a new
// version of the validator shows in both directions.
func TestOfficialSuiteOptional(t *testing.T) {
	folder := officialSuite(t)
	for _, part := range []struct {
		name         string
		path         []string
		cases        int
		backtracking bool
	}{
		{"draft7-optional", []string{"tests", "draft7", "optional", "*.json"}, 118, false},
		{"draft7-optional-backtracking", []string{"tests", "draft7", "optional", "*.json"}, 118, true},
		{"draft7-format", []string{"tests", "draft7", "optional", "format", "*.json"}, 676, false},
		{"draft2020-12-optional", []string{"tests", "draft2020-12", "optional", "*.json"}, 162, false},
		{"draft2020-12-optional-backtracking", []string{"tests", "draft2020-12", "optional", "*.json"}, 162, true},
	} {
		t.Run(part.name, func(t *testing.T) {
			o := Options{Declared: Draft7, Limits: limits, Backtracking: part.backtracking}
			if strings.HasPrefix(part.name, "draft2020") {
				o.Declared, o.Formats = Draft2020, AnnotateFormats
			}
			cases, misses := runSuite(t, folder, glob(t, append([]string{folder}, part.path...)...), o)
			t.Logf("%d of %d", cases-len(misses), cases)
			if cases != part.cases {
				t.Errorf("%d cases, want %d", cases, part.cases)
			}
			list := filepath.Join("testdata", part.name+"-misses.txt")
			text := strings.Join(misses, "\n") + "\n"
			if *update {
				if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(list)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
				t.Errorf("%d misses (-listed +now):\n%s", len(misses), diff)
			}
		})
	}
}

// lint resolves references itself, to say where they stand. It may not refuse one
// that the validator follows, nor pass one that the validator does not.
func TestReferencesAgreeWithTheValidator(t *testing.T) {
	folder := officialSuite(t)
	checked := 0
	for _, draft := range []string{"draft7", "draft2020-12"} {
		for _, file := range append(glob(t, folder, "tests", draft, "*.json"), glob(t, folder, "tests", draft, "optional", "*.json")...) {
			for _, group := range groupsIn(t, file) {
				found := lint("suite", group.Schema, asFile)
				if !found.known || len(found.references) == 0 {
					continue
				}
				checked++
				refused := found.faults
				found.faults = nil
				_, faults := compile(found, environment{Options: asFile})
				ours := slices.ContainsFunc(refused, aboutReferences)
				theirs := slices.ContainsFunc(faults, aboutReferences)
				if ours != theirs {
					t.Errorf("%s: %s: lint refuses a reference: %v, the validator: %v\n%v\n%v", file, group.Description, ours, theirs, joined(refused), joined(faults))
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d schemas with references", checked)
	}
}

func aboutReferences(f *CompileError) bool {
	return strings.HasPrefix(f.Problem, "refers to ") || f.Problem == noURL
}
