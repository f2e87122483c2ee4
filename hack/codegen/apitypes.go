package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// apiTypes are the structs of the API packages by their import path and name, such as
// github.com/firesteel-dev/firesteel/pkg/apis/spark/v1.RuntimeVersions.
type apiTypes map[string]apiType

// apiType is a struct, with the names that its file uses for other packages.
type apiType struct {
	list    []*ast.Field
	pkg     string            // import path of its package
	imports map[string]string // import paths by the names that stand for them
}

// apiField is a field of a struct, or of another struct that it inlines.
type apiField struct {
	name string // in JSON
	in   apiType
	of   ast.Expr
}

// readAPITypes parses the API packages below root. It does not compile them: the deep copies of new kinds may not exist yet.
func readAPITypes(root string) (apiTypes, error) {
	files, err := filepath.Glob(filepath.Join(root, "pkg/apis/*/*/*.go"))
	if err != nil {
		return nil, err
	}
	types := apiTypes{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		types.add(file, path.Join(module, filepath.ToSlash(folder)))
	}
	return types, nil
}

func (t apiTypes) add(file *ast.File, pkg string) {
	imports := map[string]string{}
	for _, imported := range file.Imports {
		importPath, _ := strconv.Unquote(imported.Path.Value)
		name := path.Base(importPath)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		imports[name] = importPath
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.TypeSpec); ok {
			if object, ok := spec.Type.(*ast.StructType); ok {
				t[pkg+"."+spec.Name.Name] = apiType{object.Fields.List, pkg, imports}
			}
		}
		return true
	})
}

// folders are the folders of groups below pkg/apis whose names have another.
var folders = map[string]string{"spark-operator.k8s.io": "early"}

// of returns the type of the stored version of a CRD. The name of a group's folder is the first label of the group's name, unless folders
// has it.
func (t apiTypes) of(crd *apiextensionsv1.CustomResourceDefinition) apiType {
	folder := folders[crd.Spec.Group]
	if folder == "" {
		folder, _, _ = strings.Cut(crd.Spec.Group, ".")
	}
	return t[path.Join(module, "pkg/apis", folder, crd.Spec.Versions[0].Name)+"."+crd.Spec.Names.Kind]
}

// fields returns the fields of a struct in their order, with those of structs that it inlines. It omits inlined types of
// Kubernetes, such as metav1.TypeMeta.
func (t apiTypes) fields(object apiType) []apiField {
	var fields []apiField
	for _, field := range object.list {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		switch name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name {
		case "-":
		case "":
			if inlined, ok := t[object.nameOf(field.Type)]; ok {
				fields = append(fields, t.fields(inlined)...)
			}
		default:
			fields = append(fields, apiField{name, object, field.Type})
		}
	}
	return fields
}

// nameOf returns import path and name of a type that the struct mentions; empty for pointers, lists and maps.
func (a apiType) nameOf(mentioned ast.Expr) string {
	switch mentioned := mentioned.(type) {
	case *ast.Ident:
		return a.pkg + "." + mentioned.Name
	case *ast.SelectorExpr:
		if pkg, ok := mentioned.X.(*ast.Ident); ok {
			return a.imports[pkg.Name] + "." + mentioned.Sel.Name
		}
	}
	return ""
}
