package parity

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Who refuses a submission.
const (
	BySpark  = "spark"
	ByServer = "server" // after Spark had built the objects
)

// Recording is the recorded result of a case.
type Recording struct {
	// RefusedBy is empty where the submission was accepted, and then there are Fields.
	RefusedBy string `json:"refusedBy,omitempty"`
	Message   string `json:"message,omitempty"`
	// Fields are the objects in their normal form, as Flatten has them.
	Fields Fields `json:"fields,omitempty"`
}

// likeMinimal is the case to which the recordings of the others of its version are stored as differences. So a recording shows only
// what is special in its case, and stays small.
const likeMinimal = "minimal"

// valuesFile holds the recordings of all cases of single values.
const valuesFile = "values"

// Recordings are those of one version. Each case has a file of its own, but for those of single values.
type Recordings struct {
	folder string
	// kept are the recordings by the case's name, all but the minimal one as differences from that.
	kept, values map[string]*Recording
}

// Load reads the recordings of a version, as many as there are.
func Load(version string) (*Recordings, error) {
	r := &Recordings{folder: filepath.Join("testdata", version), kept: map[string]*Recording{}, values: map[string]*Recording{}}
	files, err := filepath.Glob(filepath.Join(r.folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == valuesFile {
			err = yaml.UnmarshalStrict(text, &r.values)
		} else {
			r.kept[name] = &Recording{}
			err = yaml.UnmarshalStrict(text, r.kept[name])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return r, nil
}

func (r *Recordings) of(c Case) map[string]*Recording {
	if c.ofValue {
		return r.values
	}
	return r.kept
}

// Has reports whether there is a recording of a case.
func (r *Recordings) Has(c Case) bool { return r.of(c)[c.Name] != nil }

// Of returns the recording of a case.
func (r *Recordings) Of(c Case) (*Recording, error) {
	kept, minimal := r.of(c)[c.Name], r.kept[likeMinimal]
	if kept == nil || minimal == nil {
		return nil, fmt.Errorf("there is no recording of %s, run make parity", c.Name)
	}
	if c.Name == likeMinimal || kept.RefusedBy != "" {
		return kept, nil
	}
	return &Recording{Fields: whole(kept.Fields, minimal.Fields)}, nil
}

// whole merges differences into the fields of the minimal recording.
func whole(differences, minimal Fields) Fields {
	fields := maps.Clone(minimal)
	for field, value := range differences {
		if value == nil {
			delete(fields, field)
		} else {
			fields[field] = value
		}
	}
	return fields
}

// Set puts a recording in the place of a case's former one, if that differs, and reports whether it does. The minimal one
// must have been set.
func (r *Recordings) Set(c Case, whole *Recording) (changed bool) {
	kept := whole
	if minimal := r.kept[likeMinimal]; c.Name != likeMinimal && whole.RefusedBy == "" {
		kept = &Recording{Fields: less(whole.Fields, minimal.Fields)}
	}
	if len(kept.Fields) == 0 {
		kept = &Recording{RefusedBy: kept.RefusedBy, Message: kept.Message}
	}
	if former := r.of(c)[c.Name]; former != nil && reflect.DeepEqual(*former, *kept) {
		return false
	}
	r.of(c)[c.Name] = kept
	return true
}

// less returns the fields that differ from those of the minimal recording; nil stands for one that only that has.
func less(fields, minimal Fields) Fields {
	differences := Fields{}
	for field := range minimal {
		if _, given := fields[field]; !given {
			differences[field] = nil
		}
	}
	for field, value := range fields {
		if minimal[field] != value {
			differences[field] = value
		}
	}
	return differences
}

// Write writes the recordings of cases.
func (r *Recordings) Write(cases []Case) error {
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return err
	}
	values := map[string]*Recording{}
	for _, c := range cases {
		if c.ofValue {
			values[c.Name] = r.values[c.Name]
			continue
		}
		if err := r.writeFile(c.Name, r.kept[c.Name]); err != nil {
			return err
		}
	}
	return r.writeFile(valuesFile, values)
}

func (r *Recordings) writeFile(name string, content any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, name+".yaml"), text, 0o644)
}

// Strangers returns the names of recordings without a case.
func (r *Recordings) Strangers(cases []Case) []string {
	left := maps.Clone(r.kept)
	maps.Copy(left, r.values)
	for _, c := range cases {
		delete(left, c.Name)
	}
	return slices.Sorted(maps.Keys(left))
}
