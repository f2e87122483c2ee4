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

// ReadManifests reads the objects of files, for none of which an error was found. namespace is that of objects that name none; explicit reports
// whether the command line names it, so that objects must not name another one.
func ReadManifests(o *cli.Options, names []string, namespace string, explicit bool) ([]*unstructured.Unstructured, error) {
	s := &submitter{Options: o}
	files, err := manifest.Files(names)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := manifest.Read(file, s.In)
		if err != nil {
			return nil, err
		}
		for _, read := range manifest.Parse(text) {
			if len(read.Duplicates) > 0 {
				first := &read.Duplicates[0]
				return nil, fmt.Errorf("%s:%d: %w", file, first.Line, &first.Finding)
			}
			object, err := s.objectOf(read, namespace, explicit)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, read.Line, err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// submitManifests creates the objects of files. All are checked before the first is created.
func (s *submitter) submitManifests(ctx context.Context) error {
	namespace, explicit, err := s.Namespace()
	if err != nil {
		return err
	}
	objects, err := ReadManifests(s.Options, s.files, namespace, explicit)
	switch {
	case err != nil:
		return err
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
	return object, s.report(Examine(decoded, s.Now()))
}

func (s *submitter) submitObject(ctx context.Context, object *unstructured.Unstructured) error {
	created, err := s.createObject(ctx, object, nil)
	if err != nil {
		return err
	}
	return s.created(ctx, created.Resource, created.Unstructured, false)
}

// Create creates an object of a manifest.
func Create(ctx context.Context, o *cli.Options, object *unstructured.Unstructured, dryRun cli.DryRun) (*target.Found, error) {
	return (&submitter{Options: o, dryRun: dryRun}).createObject(ctx, object, nil)
}

// existsError reports that a name is taken, with the remedy. apierrors.IsAlreadyExists is true of it.
type existsError struct {
	error
	message string
}

func (e *existsError) Error() string { return e.message }

func (e *existsError) Unwrap() error { return e.error }

// createObject creates an object of a manifest. isOurs is that of target.Creation.
func (s *submitter) createObject(
	ctx context.Context, object *unstructured.Unstructured, isOurs func(*unstructured.Unstructured) bool,
) (*target.Found, error) {
	resource, err := ResourceOf(object)
	if err != nil {
		return nil, err
	}
	created, err := s.create(ctx, resource, object, isOurs)
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, &existsError{
			error: err, message: fmt.Sprintf("%s/%s exists already in the namespace %s: write another name, or generateName",
				resource.GroupResource(), object.GetName(), object.GetNamespace()),
		}
	case target.NotServed(err):
		return nil, fmt.Errorf("this cluster does not serve %s of %s: apply its CustomResourceDefinition, or choose another --context", object.GetKind(), object.GetAPIVersion())
	case err != nil:
		return nil, err
	}
	return &target.Found{Unstructured: created, Resource: resource}, nil
}

// ResourceOf returns the resource of an object of a kind that check.Decode knows.
func ResourceOf(object *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	kind := object.GroupVersionKind()
	for _, known := range target.Kinds {
		if known.Group == kind.Group && known.Resource == strings.ToLower(kind.Kind)+"s" {
			return known.WithVersion(kind.Version), nil
		}
	}
	return schema.GroupVersionResource{}, fmt.Errorf("%s of %s is no kind that can be submitted", kind.Kind, object.GetAPIVersion())
}
