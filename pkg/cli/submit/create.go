package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/upload"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
	sparksubmission "github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	// fieldManager is the name under which the command writes.
	fieldManager = "kubectl-spark"
	// maxNames bounds how many names are tried.
	maxNames = 5
	// suffixLength is the length of what makes a name unique.
	suffixLength = 5
)

// NoVersion is the error of a command line that does not tell the version of Spark.
func NoVersion(submission *sparksubmit.Submission) error {
	if submission.Image() == "" {
		return cli.Usage("no image is named: write --conf spark.kubernetes.container.image=IMAGE, such as apache/spark:4.1.0")
	}
	return cli.Usage("the version of Spark in the image is not known: write --spark-version, such as --spark-version 4.1.0")
}

// CheckVersion returns a usage error if the value of --spark-version names no version. One that Firesteel does not know is submitted with a warning.
func CheckVersion(version string) error {
	if version == "" || sparksubmission.NamesVersion(version) {
		return nil
	}
	return cli.Usage("--spark-version %q is no version: write that of Spark in the image, such as 4.1.0", version)
}

// submit creates the application of a command line.
func (s *submitter) submit(ctx context.Context, submission *sparksubmit.Submission) error {
	namespace, _, err := s.Namespace()
	if err != nil {
		return err
	}
	if s.sparkVersion != "" {
		submission.SparkVersion = s.sparkVersion
	}
	if submission.SparkVersion == "" {
		return NoVersion(submission)
	}
	api, resource, err := s.chooseAPI()
	if err != nil {
		return err
	}
	files, err := s.planUpload(ctx, submission, namespace)
	if err != nil {
		return err
	}
	base, same := sparksubmit.ObjectName(submission.Name)
	unique := s.Program == cli.SparkSubmit || !submission.Named || !same
	for try := range maxNames {
		name := base
		if unique || try > 0 {
			name += "-" + rand.String(suffixLength)
		}
		object, found, err := s.manifest(submission, api, resource, name, namespace)
		if err != nil {
			return err
		}
		if try > 0 {
			found = found.Of(finding.Error) // the warnings are printed already
		}
		if err := s.reportLine(found); err != nil {
			return err
		}
		created, err := s.createWithFiles(ctx, &wanted{resource, object, api.configMaps(submission, name, namespace), unique || try > 0}, files)
		switch {
		case apierrors.IsAlreadyExists(err):
			continue
		case err != nil:
			files.Remind(s.Options)
			return err
		}
		if !unique && try > 0 && s.dryRun == cli.DryRunNone {
			s.Warn(fmt.Sprintf("%s/%s exists already, so this run is %s", resource.GroupResource(), base, name))
		}
		return s.created(ctx, resource, created, s.Program == cli.SparkSubmit && submission.Waits())
	}
	return fmt.Errorf("names that begin with %s are taken in the namespace %s: write another --name", base, namespace)
}

// planUpload returns what is to be uploaded for a submission, which names it by its new URLs from then on.
func (s *submitter) planUpload(ctx context.Context, submission *sparksubmit.Submission, namespace string) (*upload.Plan, error) {
	files := submission.LocalFiles()
	if len(files) == 0 {
		return nil, nil
	}
	flags := s.upload
	if !flags.Given() {
		flags = upload.FlagsOfSpark(submission.Properties)
	}
	if !flags.Given() {
		return nil, nil
	}
	plan, err := flags.Plan(ctx, files, submission.Receiver(namespace))
	if err != nil {
		return nil, err
	}
	submission.MoveFiles(plan.URLs)
	delete(submission.Properties, upload.PathKey) // it has done its work
	return plan, nil
}

// wanted is an application that is to be created.
type wanted struct {
	resource schema.GroupVersionResource
	object   *unstructured.Unstructured
	// configMaps are those that it refers to.
	configMaps []sparksubmit.Object
	// unique reports whether the names are random.
	unique bool
}

// createWithFiles uploads files and creates an application. The API server checks the application before anything is sent.
func (s *submitter) createWithFiles(ctx context.Context, w *wanted, files *upload.Plan) (*unstructured.Unstructured, error) {
	if err := s.sendFiles(ctx, files, func() error {
		_, err := s.request(ctx, w.resource, w.object, cli.DryRunServer, nil)
		return err
	}); err != nil {
		return nil, err
	}
	return s.createWithConfigMaps(ctx, w)
}

// sendFiles uploads files, after a check.
func (s *submitter) sendFiles(ctx context.Context, files *upload.Plan, check func() error) error {
	switch {
	case files.Empty():
		return nil
	case s.dryRun != cli.DryRunNone:
		files.Announce(s.Options)
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	return files.Send(ctx, s.Options)
}

// manifest returns the object of a submission in an API, and what is found about it.
func (s *submitter) manifest(
	submission *sparksubmit.Submission, api api, resource schema.GroupVersionResource, name, namespace string,
) (*unstructured.Unstructured, finding.List, error) {
	content, found := api.manifest(submission, name, namespace)
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(resource.GroupVersion().String())
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, nil, err
	}
	decoded, err := check.Decode(encoded)
	if err != nil {
		return nil, nil, err
	}
	return object, append(found, withUploadRemedy(submission.Located(Examine(decoded, s.Now())))...), nil
}

// withUploadRemedy has findings about files of this machine name the option that uploads them.
func withUploadRemedy(found finding.List) finding.List {
	for i := range found {
		if found[i].Remedy == sparksubmission.ClientLocalRemedy {
			found[i].Remedy = "write --upload-to s3://BUCKET/FOLDER to upload it, or local:///path for a file in the image"
		}
	}
	return found
}

// settings are those by which a submission is judged: the defaults of a release. Which account drivers get if the application names none is
// not known here.
func settings() *config.Config {
	s := config.Default()
	s.Defaults.DriverServiceAccount, s.Kubeflow.DriverServiceAccount = anyAccount, anyAccount
	return s
}

const anyAccount = "default"

// Examine returns what is found about an object. What depends on the settings of the cluster is found by its operator.
func Examine(object check.Object, now time.Time) finding.List {
	found, _ := check.Examine(object, settings(), now, check.AsBuilt)
	return slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Message == podtemplate.NotAllowed })
}

// report prints warnings, and returns the errors as one.
func (s *submitter) report(found finding.List) error {
	for _, warning := range found.Of(finding.Warning) {
		s.Warn(warning.Error())
	}
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return errors.New(refused.String())
	}
	return nil
}

// reportLine is report for what is found about a command line, which is wrong then.
func (s *submitter) reportLine(found finding.List) error {
	if err := s.report(found); err != nil {
		return cli.Usage("%v", err)
	}
	return nil
}

// create creates an object, unless --dry-run says otherwise. isOurs is that of actions.Creation.
func (s *submitter) create(
	ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, isOurs func(*unstructured.Unstructured) bool,
) (*unstructured.Unstructured, error) {
	if s.dryRun == cli.DryRunClient {
		return object, nil
	}
	return s.request(ctx, resource, object, s.dryRun, isOurs)
}

func (s *submitter) request(
	ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, dryRun cli.DryRun,
	isOurs func(*unstructured.Unstructured) bool,
) (*unstructured.Unstructured, error) {
	client, err := s.Dynamic()
	if err != nil {
		return nil, err
	}
	return actions.Create(ctx, client, actions.Creation{
		Resource: resource, Object: object, Options: metav1.CreateOptions{DryRun: dryRun.Options(), FieldManager: fieldManager}, IsOurs: isOurs,
	})
}

// created prints what was created, and waits if that is asked for.
func (s *submitter) created(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, waits bool) error {
	if s.output.Format() != "" {
		if err := s.output.Print(object, s.Out); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(s.Out, "%s/%s created%s\n", resource.GroupResource(), object.GetName(), s.dryRun.Note()); err != nil {
		return err
	}
	if s.dryRun != cli.DryRunNone || !waits && !s.wait && !s.watch && !s.logs {
		return nil
	}
	return s.follow(ctx, resource, object)
}
