// Package schema checks manifests against the schemas of the CustomResourceDefinitions, with the API server's own validation code. It does not
// evaluate the CEL rules of the schemas: pkg/check has each of them in Go, with the same words.
//
// hack/codegen writes the schemas, without descriptions.
package schema

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

//go:embed zz_generated.*.json
var files embed.FS

// fileOf returns the name of the file with the schema of a kind.
func fileOf(kind kubeschema.GroupKind) string {
	return fmt.Sprintf("zz_generated.%s_%s.json", kind.Group, strings.ToLower(kind.Kind))
}

// loaded is the schema of a kind. It is read when the first manifest of the kind is checked.
type loaded struct {
	once      sync.Once
	schema    *spec.Schema
	validator *validate.SchemaValidator
	err       error
}

// Schemas reads schemas when they are needed. The zero value is ready for use. It is safe for concurrent use.
type Schemas struct {
	// Strict makes unknown fields errors, not warnings: kubectl asks the API server to refuse them.
	Strict bool

	mutex sync.Mutex
	kinds map[kubeschema.GroupKind]*loaded
}

func (s *Schemas) of(kind kubeschema.GroupKind) *loaded {
	s.mutex.Lock()
	known := s.kinds[kind]
	if known == nil {
		if s.kinds == nil {
			s.kinds = map[kubeschema.GroupKind]*loaded{}
		}
		known = &loaded{}
		s.kinds[kind] = known
	}
	s.mutex.Unlock()
	known.once.Do(func() { known.load(kind) })
	return known
}

func (l *loaded) load(kind kubeschema.GroupKind) {
	text, err := files.ReadFile(fileOf(kind))
	if err != nil {
		l.err = fmt.Errorf("there is no schema of %s", kind)
		return
	}
	l.schema = &spec.Schema{}
	if l.err = l.schema.UnmarshalJSON(text); l.err != nil {
		return
	}
	allowIntOrString(l.schema)
	l.validator = validate.NewSchemaValidator(l.schema, nil, "", strfmt.Default)
}

const (
	intOrString     = "x-kubernetes-int-or-string"
	preserveUnknown = "x-kubernetes-preserve-unknown-fields"
	embedded        = "x-kubernetes-embedded-resource"
)

func has(schema *spec.Schema, extension string) bool {
	set, _ := schema.Extensions.GetBool(extension)
	return set
}

// allowIntOrString gives fields that take a number or a text both types, as the API server does.
func allowIntOrString(schema *spec.Schema) {
	if has(schema, intOrString) {
		schema.Type = spec.StringOrArray{"integer", "string"}
	}
	for name, property := range schema.Properties {
		allowIntOrString(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		allowIntOrString(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		allowIntOrString(schema.AdditionalProperties.Schema)
	}
}

// Check returns what the API server would find about a manifest in JSON: errors, for which it refuses the manifest, and warnings about unknown
// fields.
func (s *Schemas) Check(kind kubeschema.GroupKind, manifest []byte) (finding.List, error) {
	known := s.of(kind)
	if known.err != nil {
		return nil, known.err
	}
	var object map[string]any
	if err := utiljson.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	delete(object, "status") // a create ignores it
	p := &pruner{severity: finding.Warning, effect: "is dropped"}
	if s.Strict {
		p = &pruner{severity: finding.Error, effect: "is refused by kubectl, and dropped without it"}
	}
	p.object(object, known.schema, "", true)
	found := slices.Concat(checkMetadata(object), unknownMetadata(manifest, p.severity, p.effect))
	for _, err := range known.validator.Validate(object).Errors {
		f := findingOf(err)
		f.Field = pathOf(known.schema, f.Field)
		found.Add(f)
	}
	found.Add(p.unknown...)
	return found, nil
}

// Complete adds the findings of the schema to those of Firesteel's checks. If both are about the same mistake, the finding of the checks is kept:
// its words are better. Findings about the metadata come first, since the names of other objects are made of it.
func (s *Schemas) Complete(list finding.List, kind kubeschema.GroupKind, manifest []byte) (finding.List, error) {
	bySchema, err := s.Check(kind, manifest)
	if err != nil {
		return nil, err
	}
	var metadata finding.List
	for _, f := range bySchema {
		if f.Reason == ReasonMetadata {
			metadata.Add(f)
		}
	}
	var object map[string]any
	if err := utiljson.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	return withoutConsequences(merged(slices.Concat(metadata, list.Beside(metadata)), bySchema), object), nil
}

// findingOf returns an error of the validator as a finding.
func findingOf(err error) finding.Finding {
	refused, ok := err.(*openapierrors.Validation) //nolint:errorlint // the validator wraps none
	if !ok {
		return finding.Finding{Reason: ReasonValue, Text: err.Error(), Remedy: "correct it"}
	}
	f := finding.Finding{Reason: ReasonValue, Field: strings.TrimPrefix(refused.Name, "."), Value: shown(refused.Value)}
	switch refused.Code() {
	case openapierrors.RequiredFailCode:
		f.Value, f.Message, f.Remedy = nil, finding.Missing, "set it"
	case openapierrors.EnumFailCode:
		var values []string
		for _, value := range refused.Values {
			if value != "" { // the same as none
				values = append(values, fmt.Sprint(value))
			}
		}
		f.Message, f.Remedy = "is no value of the field", "write one of "+strings.Join(values, ", ")
	case openapierrors.PatternFailCode:
		f.Message, f.Remedy = "has not the form that it needs", formOf(refused.Error())
	case openapierrors.InvalidTypeCode:
		return wrongType(f.Field, typeIn(refused.Error()), refused.Value)
	default:
		_, problem, found := strings.Cut(refused.Error(), " in body ")
		if !found {
			problem = refused.Error()
		}
		f.Message, f.Remedy = "is refused, it "+problem, "correct it"
	}
	return f
}

// forms are examples of values by their patterns.
var forms = map[string]string{
	`^([0-9]{1,9}[.])?[0-9]{1,9}$`:                                      "a number such as 1",
	`^(Never|Always|OnFailure)$`:                                        "Never, Always or OnFailure",
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`: "lower-case letters, digits, hyphens and periods",
	`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`: "a quantity such as 500m, 2 or 10Gi",
}

// formOf returns the remedy for a value that has not the pattern of a message such as: spec.x in body should match '^[0-9]+$'.
func formOf(message string) string {
	_, pattern, _ := strings.Cut(message, "'")
	pattern = strings.TrimSuffix(pattern, "'")
	return "write " + cmp.Or(forms[pattern], "one that matches "+pattern)
}

// wrongType returns a finding about a field that has a value of another type than the schema asks for.
func wrongType(path, wanted string, value any) finding.Finding {
	f := finding.Finding{Reason: finding.ReasonType, Field: path, Message: "has the wrong type", Remedy: "write a value of the type " + wanted}
	switch {
	case wanted == "string" && isScalar(value):
		f.Message, f.Remedy = "is no text", "write it in quotes"
	case wanted == "integer":
		f.Message, f.Remedy = "is no whole number", "write one, without quotes"
	case wanted == "boolean":
		f.Message, f.Remedy = "is neither true nor false", "write one of them, without quotes"
	case wanted == "array":
		f.Message, f.Remedy = "is no list", "write each entry in a line of its own that begins with a hyphen, or all in brackets"
	case wanted == "object":
		f.Message, f.Remedy = "has no fields", "write them below it, each with its value"
	}
	return f
}

// shown returns a value for a finding if it is a text, a number or a switch; otherwise nil.
func shown(value any) any {
	switch value.(type) {
	case string, int64, float64, bool:
		return value
	default:
		return nil
	}
}

// isScalar reports whether a value becomes a text if it is put in quotes. The validator may name its type in the place of the value.
func isScalar(value any) bool {
	switch value := value.(type) {
	case string:
		return value == "number" || value == "integer" || value == "boolean"
	case int64, float64, bool:
		return true
	default:
		return false
	}
}

// pathOf returns a path of the validator in the form of findings: keys that users choose are in brackets, since they may have dots.
func pathOf(schema *spec.Schema, path string) string {
	shown, rest := "", path
	for schema != nil && rest != "" {
		name, after, found := property(schema, rest)
		switch {
		case found:
			child := schema.Properties[name]
			schema, rest = &child, strings.TrimPrefix(after, ".")
			shown = strings.TrimPrefix(shown+"."+name, ".")
		case rest[0] == '[' && schema.Items != nil && schema.Items.Schema != nil:
			index, after, _ := strings.Cut(rest, "]")
			schema, rest, shown = schema.Items.Schema, strings.TrimPrefix(after, "."), shown+index+"]"
		case schema.AdditionalProperties != nil:
			return finding.Entry(shown, rest)
		default:
			return path
		}
	}
	return shown
}

// property returns the property of a schema with which a path begins, and the rest of the path.
func property(schema *spec.Schema, path string) (name, rest string, found bool) {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	_, found = schema.Properties[path[:end]]
	return path[:end], path[end:], found
}

// typeIn returns the type in a message such as: spec.x in body must be of type integer: "string".
func typeIn(message string) string {
	_, rest, _ := strings.Cut(message, "must be of type ")
	name, _, _ := strings.Cut(rest, ":")
	return name
}

// pruner removes what the API server removes from a manifest before it validates it.
type pruner struct {
	// severity and effect are those of the findings about unknown fields.
	severity finding.Severity
	effect   string
	unknown  finding.List
}

// object prunes a value. resource reports whether it is a whole object, whose metadata checkMetadata checks.
func (p *pruner) object(value any, schema *spec.Schema, path string, resource bool) {
	switch value := value.(type) {
	case map[string]any:
		p.fields(value, schema, path, resource || has(schema, embedded))
	case []any:
		for i, item := range value {
			if schema.Items != nil && schema.Items.Schema != nil {
				p.object(item, schema.Items.Schema, fmt.Sprintf("%s[%d]", path, i), false)
			}
		}
	}
}

func (p *pruner) fields(object map[string]any, schema *spec.Schema, path string, resource bool) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		below := strings.TrimPrefix(path+"."+name, ".")
		if resource && (name == "metadata" || name == "apiVersion" || name == "kind") {
			continue
		}
		child, known := schema.Properties[name]
		if !known && schema.AdditionalProperties != nil {
			known = true
			if schema.AdditionalProperties.Schema != nil {
				child, below = *schema.AdditionalProperties.Schema, finding.Entry(path, name)
			}
		}
		switch {
		case !known && !has(schema, preserveUnknown):
			if len(p.unknown) < finding.Max { // the search for a similar name is slow
				p.unknown.Add(finding.Unknown(p.severity, below, p.effect, path, cmp.Or(similar(schema, name), similarMissing(schema, name, object))))
			}
			delete(object, name)
		case !known:
		case object[name] == nil && !child.Nullable && child.Default == nil && !has(schema, preserveUnknown):
			delete(object, name)
		default:
			p.object(object[name], &child, below, false)
		}
	}
}

// similar returns the field of a schema that a misspelt name probably means; empty if none is similar.
func similar(schema *spec.Schema, name string) string {
	fields := map[string][]string{}
	for field, below := range schema.Properties {
		fields[field] = slices.Collect(maps.Keys(below.Properties))
	}
	return finding.Similar(fields, name)
}

// similarMissing returns the required field that an object lacks and that a misspelt name probably means; empty if none is similar.
func similarMissing(schema *spec.Schema, name string, object map[string]any) string {
	missing := slices.DeleteFunc(slices.Clone(schema.Required), func(required string) bool {
		_, set := object[required]
		return set
	})
	return finding.SimilarName(missing, name)
}

// Reasons of findings.
const (
	// ReasonValue is the reason for values that the schema refuses.
	ReasonValue = "Schema"
	// ReasonMetadata is the reason for metadata that the API server refuses.
	ReasonMetadata = "Metadata"
)

// checkMetadata checks the metadata as the API server does for each kind.
func checkMetadata(object map[string]any) finding.List {
	given, err := utiljson.Marshal(object["metadata"])
	var metadata metav1.ObjectMeta
	if err != nil || utiljson.Unmarshal(given, &metadata) != nil {
		return nil // decoding reports it
	}
	if metadata.Namespace == "" {
		metadata.Namespace = metav1.NamespaceDefault
	}
	if metadata.Name == "" && metadata.GenerateName != "" {
		const generated, longest = "xxxxx", 58
		metadata.Name = metadata.GenerateName[:min(len(metadata.GenerateName), longest)] + generated // as the API server does
	}
	metadata.ManagedFields = nil
	var found finding.List
	for _, err := range validation.ValidateObjectMeta(&metadata, true, validation.NameIsDNSSubdomain, field.NewPath("metadata")) {
		f := finding.Finding{Reason: ReasonMetadata, Field: err.Field, Value: shown(err.BadValue), Message: "is refused", Remedy: finding.Correct([]string{err.Detail})}
		if err.Type == field.ErrorTypeRequired {
			f.Value, f.Message, f.Remedy = nil, finding.Missing, "set it"
		}
		found.Add(f)
	}
	return found
}
