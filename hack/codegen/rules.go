package main

import (
	"fmt"
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// refinement is what the schema requires of a field beyond its Go type.
type refinement struct {
	// path leads to the field; [] stands for the items of a list. It is empty for the object itself.
	path string
	// opaque means that the object may have any fields.
	opaque bool
	// schema replaces the field's, but for the description and whether it may be null.
	schema *apiextensionsv1.JSONSchemaProps
	// properties are fields that rules read, of an object whose other fields are not known.
	properties map[string]apiextensionsv1.JSONSchemaProps
	// required are the properties that must be present.
	required []string
	// texts is the pattern of texts, for a field that may also be a text.
	texts string
	// values is the schema of each value of an object whose fields have arbitrary names.
	values *apiextensionsv1.JSONSchemaProps
	rules  apiextensionsv1.ValidationRules
}

// applicationRefinements refuse applications that no operator can run, as soon as they are applied. They accept what the
// Apache operator runs, even if it does so in an unexpected way: that becomes a condition. If a stored object breaks a newer
// rule, the API server accepts updates of it as long as that field does not change.
var applicationRefinements = []refinement{
	{path: "spec.runtimeVersions.sparkVersion", rules: labelOfVersion},
	{path: "spec.driverServiceIngressList[]", rules: rules(
		namedOrNumbered("serviceMetadata", "Service"), namedOrNumbered("ingressMetadata", "Ingress"),
	)},
	{path: "spec.driverServiceIngressList[].serviceMetadata", properties: names},
	{path: "spec.driverServiceIngressList[].ingressMetadata", properties: names},
	{path: "spec.driverHttpRouteList[]", rules: rules(
		named("serviceMetadata", "Service"), named("httpRouteMetadata", "HTTPRoute"), attached("httpRouteSpec"),
	)},
	{path: "spec.driverHttpRouteList[].serviceMetadata", properties: names},
	{path: "spec.driverHttpRouteList[].httpRouteMetadata", properties: names},
	{path: "spec.driverHttpRouteList[].httpRouteSpec", properties: parents},
	{path: "spec.driverGrpcRouteList[]", rules: rules(
		named("serviceMetadata", "Service"), named("grpcRouteMetadata", "GRPCRoute"), attached("grpcRouteSpec"),
	)},
	{path: "spec.driverGrpcRouteList[].serviceMetadata", properties: names},
	{path: "spec.driverGrpcRouteList[].grpcRouteMetadata", properties: names},
	{path: "spec.driverGrpcRouteList[].grpcRouteSpec", properties: parents},
}

// labelOfVersion requires that a version of Spark is a valid label value.
var labelOfVersion = matches(
	`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`,
	finding.NoVersionLabel.Error(),
)

var (
	names = map[string]apiextensionsv1.JSONSchemaProps{
		"name":         {Type: "string"},
		"generateName": {Type: "string"},
	}
	parents = map[string]apiextensionsv1.JSONSchemaProps{"parentRefs": {
		Type: "array",
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: ptr.To(true),
		}},
	}}
)

func rules(each ...apiextensionsv1.ValidationRule) apiextensionsv1.ValidationRules { return each }

// matches requires that a text matches a pattern. Its message begins with the text.
func matches(pattern, otherwise string) apiextensionsv1.ValidationRules {
	return rules(apiextensionsv1.ValidationRule{
		Rule:              fmt.Sprintf("self.matches('%s')", pattern),
		MessageExpression: fmt.Sprintf(`'"' + self + '" %s'`, otherwise),
	})
}

// named requires that the metadata of an object names it.
func named(metadata, kind string) apiextensionsv1.ValidationRule {
	return required(metadata+".name", fmt.Sprintf("has(self.%[1]s.name) && self.%[1]s.name != ''", metadata), finding.Unnamed("", kind).Remedy)
}

// namedOrNumbered requires a name, or the beginning of a name.
func namedOrNumbered(metadata, kind string) apiextensionsv1.ValidationRule {
	return required(metadata+".name", fmt.Sprintf("has(self.%[1]s.name) || has(self.%[1]s.generateName)", metadata), finding.Unnamed("", kind).Remedy)
}

// attached requires that a route has a parent.
func attached(spec string) apiextensionsv1.ValidationRule {
	return required(spec+".parentRefs",
		fmt.Sprintf("has(self.%[1]s) && has(self.%[1]s.parentRefs) && size(self.%[1]s.parentRefs) > 0", spec),
		"name the Gateway, since a route without one gets no traffic")
}

func required(field, rule, remedy string) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{
		Rule: rule, FieldPath: "." + field, Reason: ptr.To(apiextensionsv1.FieldValueRequired), Message: remedy,
	}
}

// apply refines the field that the rest of the path leads to.
func (r refinement) apply(schema *apiextensionsv1.JSONSchemaProps, path []string) error {
	if len(path) == 0 {
		r.refine(schema)
		return nil
	}
	name, ofItems := strings.CutSuffix(path[0], "[]")
	property, known := schema.Properties[name]
	if !known {
		return fmt.Errorf("there is no field %s", r.path)
	}
	inner := &property
	if ofItems {
		inner = property.Items.Schema
	}
	if err := r.apply(inner, path[1:]); err != nil {
		return err
	}
	schema.Properties[name] = property
	return nil
}

func (r refinement) refine(schema *apiextensionsv1.JSONSchemaProps) {
	if r.opaque {
		*schema = apiextensionsv1.JSONSchemaProps{
			Description: schema.Description, Type: "object", XPreserveUnknownFields: ptr.To(true),
		}
	}
	if r.schema != nil {
		replaced := *r.schema.DeepCopy()
		replaced.Description, replaced.Nullable = schema.Description, schema.Nullable
		*schema = replaced
	}
	if r.texts != "" {
		r.allowTexts(schema)
	}
	if schema.Properties == nil && r.properties != nil {
		schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	maps.Copy(schema.Properties, r.properties)
	schema.Required = append(schema.Required, r.required...)
	if r.values != nil {
		schema.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: r.values}
	}
	schema.XValidations = append(schema.XValidations, r.rules...)
}

// allowTexts takes the type off a schema. Its other keywords apply to values of the type that it had.
func (r refinement) allowTexts(schema *apiextensionsv1.JSONSchemaProps) {
	if schema.Type != "object" {
		schema.MaxProperties = ptr.To[int64](0)
	}
	schema.Type, schema.Pattern = "", r.texts
	schema.MaxItems, schema.XPreserveUnknownFields = ptr.To[int64](0), ptr.To(true)
}
