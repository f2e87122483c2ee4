package main

import (
	"go/ast"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// describe leaves the descriptions of our own fields in the schema of a kind, each paragraph on one line, and removes those of
// Kubernetes' types: they would make the CRDs too large for the annotation of a client-side kubectl apply, and Kubernetes has a
// reference of its own. The API server describes apiVersion, kind and metadata by itself.
func (t apiTypes) describe(schema *apiextensionsv1.JSONSchemaProps, kind apiType) {
	for _, name := range []string{"apiVersion", "kind"} {
		property := schema.Properties[name]
		property.Description = ""
		schema.Properties[name] = property
	}
	t.describeFields(schema, kind)
	visit(schema, func(inner *apiextensionsv1.JSONSchemaProps) {
		paragraphs := strings.Split(inner.Description, "\n\n")
		for i, paragraph := range paragraphs {
			paragraphs[i] = strings.ReplaceAll(paragraph, "\n", " ")
		}
		inner.Description = strings.Join(paragraphs, "\n\n")
	})
}

func (t apiTypes) describeFields(schema *apiextensionsv1.JSONSchemaProps, object apiType) {
	for _, field := range t.fields(object) {
		if property, ok := schema.Properties[field.name]; ok {
			description := property.Description
			t.describeType(&property, field.in, field.of)
			property.Description = description
			schema.Properties[field.name] = property
		}
	}
}

func (t apiTypes) describeType(schema *apiextensionsv1.JSONSchemaProps, in apiType, mentioned ast.Expr) {
	if element := elementOf(mentioned); element != nil {
		if inner := elementSchema(schema); inner != nil {
			t.describeType(inner, in, element)
		}
		return
	}
	if pointer, ok := mentioned.(*ast.StarExpr); ok {
		t.describeType(schema, in, pointer.X)
		return
	}
	if own, ok := t[in.nameOf(mentioned)]; ok {
		t.describeFields(schema, own)
		return
	}
	visit(schema, func(inner *apiextensionsv1.JSONSchemaProps) { inner.Description = "" })
}

// elementOf returns the type of the elements of a list or a map; nil for other types.
func elementOf(mentioned ast.Expr) ast.Expr {
	switch mentioned := mentioned.(type) {
	case *ast.ArrayType:
		return mentioned.Elt
	case *ast.MapType:
		return mentioned.Value
	}
	return nil
}

// elementSchema returns the schema of the elements of a list or a map; nil for others.
func elementSchema(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if schema.Items != nil {
		return schema.Items.Schema
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}
