package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cli/upload"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// Described is an object that a file describes.
type Described struct {
	*unstructured.Unstructured
	// Files are the files of this machine that it named. It names them by their URLs now, so they have to be sent before it is created.
	Files *upload.Plan
}

// Reading says how manifests are read.
type Reading struct {
	// Namespace is that of objects that name none. Explicit reports whether the command line names it, so that objects must not name another one.
	Namespace string
	Explicit  bool
	// Upload says where the files of this machine are sent that manifests name.
	Upload upload.Flags
}

// ReadManifests reads the objects of files, for none of which an error was found.
func ReadManifests(ctx context.Context, o *cli.Options, names []string, how Reading) ([]Described, error) {
	s := &submitter{Options: o}
	var objects []Described
	for _, file := range manifest.Files(names) {
		text, err := manifest.Read(ctx, file, s.In)
		if err != nil {
			return nil, err
		}
		for _, read := range manifest.Parse(text) {
			if len(read.Duplicates) > 0 {
				first := &read.Duplicates[0]
				return nil, fmt.Errorf("%s:%d: %w", file, first.Line, &first.Finding)
			}
			object, err := s.objectOf(ctx, read, how)
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
	objects, err := ReadManifests(ctx, s.Options, s.files, Reading{namespace, explicit, s.upload})
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
func (s *submitter) objectOf(ctx context.Context, read *manifest.Manifest, how Reading) (Described, error) {
	if read.Problem != nil {
		return Described{}, read.Problem
	}
	if _, err := check.Decode(read.JSON); err != nil {
		return Described{}, err
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(read.JSON, &object.Object); err != nil {
		return Described{}, err
	}
	switch own := object.GetNamespace(); {
	case own == "":
		object.SetNamespace(how.Namespace)
	case how.Explicit && own != how.Namespace:
		return Described{}, cli.Usage("metadata.namespace %q contradicts --namespace %q: leave one of them out", own, how.Namespace)
	}
	files, err := moveFiles(ctx, object, how.Upload)
	if err != nil {
		return Described{}, err
	}
	encoded, err := json.Marshal(object.Object)
	if err != nil {
		return Described{}, err
	}
	decoded, err := check.Decode(encoded)
	if err != nil {
		return Described{}, err
	}
	found := append(schema.UnknownMetadata(read.JSON), Examine(decoded, s.Now())...)
	return Described{object, files}, s.report(withUploadRemedy(found))
}

// moveFiles has a manifest name its files of this machine by the URLs to which they are to be sent. Without flags, spark-submit's own property says
// where to.
func moveFiles(ctx context.Context, object *unstructured.Unstructured, flags upload.Flags) (*upload.Plan, error) {
	files := sparksubmit.ManifestFiles(object.Object)
	if len(files) == 0 {
		return nil, nil
	}
	if !flags.Given() {
		flags = upload.FlagsOfSpark(sparksubmit.ManifestProperties(object.Object))
	}
	if !flags.Given() {
		return nil, nil
	}
	plan, err := flags.Plan(ctx, files, sparksubmit.ManifestReceiver(object.Object, object.GetNamespace()))
	if err != nil {
		return nil, err
	}
	sparksubmit.MoveManifestFiles(object.Object, plan.URLs)
	return plan, nil
}

func (s *submitter) submitObject(ctx context.Context, object Described) error {
	if err := s.sendFiles(ctx, object.Files, func() error { return s.admissible(ctx, object.Unstructured) }); err != nil {
		return err
	}
	created, err := s.createObject(ctx, object.Unstructured, nil)
	if err != nil {
		object.Files.Remind(s.Options)
		return err
	}
	return s.created(ctx, created.Resource, created.Unstructured, false)
}

// admissible reports why the API server would not create an object.
func (s *submitter) admissible(ctx context.Context, object *unstructured.Unstructured) error {
	_, err := Create(ctx, s.Options, object, cli.DryRunServer)
	return err
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

// createObject creates an object of a manifest. isOurs is that of actions.Creation.
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
	case actions.NotServed(err):
		return nil, fmt.Errorf("this cluster does not serve %s of %s: apply its CustomResourceDefinition, or choose another --context", object.GetKind(), object.GetAPIVersion())
	case err != nil:
		return nil, err
	}
	return &target.Found{Unstructured: created, Resource: resource}, nil
}

// ResourceOf returns the resource of an object of a kind that check.Decode knows.
func ResourceOf(object *unstructured.Unstructured) (kubeschema.GroupVersionResource, error) {
	kind := object.GroupVersionKind()
	for _, known := range actions.Kinds {
		if known.Group == kind.Group && known.Resource == strings.ToLower(kind.Kind)+"s" {
			return known.WithVersion(kind.Version), nil
		}
	}
	return kubeschema.GroupVersionResource{}, fmt.Errorf("%s of %s is no kind that can be submitted", kind.Kind, object.GetAPIVersion())
}
