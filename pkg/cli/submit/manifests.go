package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
)

// submitManifests creates the objects of files. All are checked before the first is created.
func (s *submitter) submitManifests(ctx context.Context) error {
	namespace, explicit, err := s.Namespace()
	if err != nil {
		return err
	}
	files, err := manifest.Files(s.files)
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := manifest.Read(file, s.In)
		if err != nil {
			return err
		}
		for _, read := range manifest.Parse(text) {
			object, err := s.objectOf(read, namespace, explicit)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", file, read.Line, err)
			}
			objects = append(objects, object)
		}
	}
	switch {
	case len(objects) == 0:
		return errors.New("no file has a manifest of Spark: name one after -f")
	case len(objects) > 1 && (s.wait || s.watch || s.logs):
		return cli.Usage("the files hold %d objects, and --wait, --watch and --logs are about one: submit it alone", len(objects))
	}
	for _, object := range objects {
		if err := s.submitObject(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// objectOf returns the object of a manifest, for which no error was found.
func (s *submitter) objectOf(read *manifest.Manifest, namespace string, explicit bool) (*unstructured.Unstructured, error) {
	if read.Problem != nil {
		return nil, read.Problem
	}
	decoded, err := check.Decode(read.JSON)
	if err != nil {
		return nil, err
	}
	switch own := decoded.GetNamespace(); {
	case own == "":
		decoded.SetNamespace(namespace)
	case explicit && own != namespace:
		return nil, cli.Usage("metadata.namespace %q contradicts --namespace %q: leave one of them out", own, namespace)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(read.JSON, &object.Object); err != nil {
		return nil, err
	}
	object.SetNamespace(decoded.GetNamespace())
	return object, s.report(s.examine(decoded))
}

func (s *submitter) submitObject(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := resourceOf(object)
	if err != nil {
		return err
	}
	created, err := s.create(ctx, resource, object)
	switch {
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%s/%s exists already in the namespace %s: write another name, or generateName", resource.GroupResource(), object.GetName(), object.GetNamespace())
	case target.NotServed(err):
		return fmt.Errorf("this cluster does not serve %s of %s: apply its CustomResourceDefinition, or choose another --context", object.GetKind(), object.GetAPIVersion())
	case err != nil:
		return err
	}
	return s.created(ctx, resource, created, false)
}

// resourceOf returns the resource of an object of a kind that check.Decode knows.
func resourceOf(object *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	kind := object.GroupVersionKind()
	for _, known := range target.Kinds {
		if known.Group == kind.Group && known.Resource == strings.ToLower(kind.Kind)+"s" {
			return known.WithVersion(kind.Version), nil
		}
	}
	return schema.GroupVersionResource{}, fmt.Errorf("%s of %s is no kind that can be submitted", kind.Kind, object.GetAPIVersion())
}
