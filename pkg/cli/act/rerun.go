package act

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

type rerunOptions struct {
	*verbs
	archived archived.Flags
	name     string
	set      []string
	dryRun   cli.DryRun
	output   cli.Output
}

func (v *verbs) rerunCommand() *cobra.Command {
	r := &rerunOptions{verbs: v}
	command := &cobra.Command{
		Use: "rerun NAME [flags]", Short: "Run an application again, as a new object",
		Long: `Create a new application with the spec of another one. The old one stays as it is.

--set changes a field of the spec by its path: mainClass=Main, sparkConf.spark.sql.shuffle.partitions=8,
arguments=["a","b"]. These names are understood for every API, even if it has Spark properties in their place:
image, driver.memory, driver.memoryOverhead, driver.cores, driver.serviceAccount, executor.memory,
executor.memoryOverhead, executor.cores, executor.instances.

The spec of an application that is gone is that of the archive, if there is one. It has no values of secrets: what has to be given again is named.

` + target.NameHelp,
		Example: `  kubectl spark rerun etl --set driver.memoryOverhead=2g
  kubectl spark rerun etl --name etl-again -o yaml --dry-run=client`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return r.run(command.Context(), args[0]) },
	}
	command.Flags().StringVar(&r.name, "name", "", "The name of the new application. Default: NAME-rerun- and a random text.")
	command.Flags().StringArrayVar(&r.set, "set", nil, "FIELD=VALUE: a change of the spec. May be given several times.")
	r.archived.AddTo(command)
	r.dryRun.AddFlag(command)
	r.output.AddFlag(command)
	return command
}

func (r *rerunOptions) run(ctx context.Context, name string) error {
	if err := r.output.Check(); err != nil {
		return err
	}
	changes, err := parseChanges(r.set)
	if err != nil {
		return err
	}
	if r.name != "" {
		if problems := validation.NameIsDNSSubdomain(r.name, false); len(problems) > 0 {
			return cli.Usage("--name %q is no name of an object: %s", r.name, strings.Join(problems, "; "))
		}
	}
	c, err := r.connect()
	if err != nil {
		return err
	}
	found, o, err := c.find(ctx, name, overview.Application)
	fromArchive := err != nil
	if fromArchive {
		found, o, err = r.findArchived(ctx, c, name, err)
	}
	if err != nil {
		return err
	}
	if r.name == found.GetName() {
		return cli.Usage("--name %s is the name of the old application: write another one", r.name)
	}
	again := anew(found.Unstructured, r.name)
	set := setter{spec: specType(o), explain: func(path string) string { return explain(found, path) }}
	for _, change := range changes {
		if err := set.apply(again.Object, change); err != nil {
			return err
		}
	}
	if fromArchive {
		if err := checkRedacted(again); err != nil {
			return err
		}
	}
	r.warn(again)
	return r.create(ctx, c, found, again)
}

// specType returns the type of the spec of an object.
func specType(o *overview.Object) reflect.Type {
	field, _ := reflect.TypeOf(o.Typed).Elem().FieldByName("Spec") // all kinds have it
	return field.Type
}

// explain returns the command that lists the fields at a path of a spec.
func explain(found *target.Found, path string) string {
	if path != "" {
		path = "." + path
	}
	return fmt.Sprintf("kubectl explain %s.spec%s --api-version=%s", found.Resource.Resource, path, found.Resource.GroupVersion())
}

// generatedName matches what a rerun adds to a name.
var generatedName = regexp.MustCompile(`-rerun-[a-z0-9]{5}$`)

const (
	appNameKey = "spark.app.name"
	// generatedLength is how many characters Kubernetes adds to a generateName.
	generatedLength = 5
)

// maxBase leaves room, within the 63 characters of a label, for what is added to the name of an application: the driver's suffix.
const maxBase = 40

// anew returns a new object with the spec of an old one. What marks the old one for its owner, its schedule, its launch or a tool that
// applies manifests is left out.
func anew(old *unstructured.Unstructured, name string) *unstructured.Unstructured {
	again := &unstructured.Unstructured{Object: map[string]any{}}
	again.SetAPIVersion(old.GetAPIVersion())
	again.SetKind(old.GetKind())
	again.SetNamespace(old.GetNamespace())
	if again.SetName(name); name == "" {
		base := generatedName.ReplaceAllString(old.GetName(), "")
		again.SetGenerateName(strings.TrimRight(base[:min(len(base), maxBase)], "-.") + "-rerun-")
	}
	again.SetLabels(without(old.GetLabels(), scheduleLabels...))
	again.SetAnnotations(without(old.GetAnnotations(), markingAnnotations...))
	if spec, ok := old.Object["spec"]; ok {
		again.Object["spec"] = spec
	}
	again = again.DeepCopy() // the spec is the old one's
	unstructured.RemoveNestedField(again.Object, "spec", "suspend")
	rename(again, old.GetName())
	return again
}

// rename gives Spark's name of the application, if it was the old object's name, the new object's. That has to be known before the object is
// created: the operators let no other name have an effect.
func rename(again *unstructured.Unstructured, old string) {
	if name, _, _ := unstructured.NestedString(again.Object, "spec", "sparkConf", appNameKey); name != old {
		return
	}
	if base := again.GetGenerateName(); base != "" {
		again.SetGenerateName("")
		again.SetName(base + rand.String(generatedLength))
	}
	_ = unstructured.SetNestedField(again.Object, again.GetName(), "spec", "sparkConf", appNameKey) // sparkConf is a map
}

var (
	scheduleLabels = []string{variant.Apache.LabelSchedule, variant.Kubeflow.LabelSchedule}
	// markingAnnotations are about the old object.
	markingAnnotations = []string{
		"kubectl.kubernetes.io/last-applied-configuration", "firesteel.dev/launch", dialect.AnnotationStop, variant.AnnotationScheduledTime,
	}
	// toolPrefixes are those of tools that apply manifests: they would take the new object for one of theirs, and delete it.
	toolPrefixes = []string{"argocd.argoproj.io/", "meta.helm.sh/", "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/"}
)

// without removes some entries of a map, and those of tools. It returns nil if nothing is left.
func without(all map[string]string, names ...string) map[string]string {
	for _, name := range names {
		delete(all, name)
	}
	for name := range all {
		for _, prefix := range toolPrefixes {
			if strings.HasPrefix(name, prefix) {
				delete(all, name)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// driverNames are the fields that give the driver Pod a fixed name.
var driverNames = [][]string{{"spec", "driver", "podName"}, {"spec", "sparkConf", "spark.kubernetes.driver.pod.name"}}

// warn names what two applications cannot share.
func (r *rerunOptions) warn(again *unstructured.Unstructured) {
	for _, path := range driverNames {
		if name, ok, _ := unstructured.NestedString(again.Object, path...); ok && name != "" {
			r.Warn(fmt.Sprintf("%s names the driver Pod %s: while the old one exists, the new application cannot start; --set %s=NAME changes it",
				strings.Join(path, "."), name, strings.Join(path[1:], ".")))
		}
	}
}

func (r *rerunOptions) create(ctx context.Context, c *cluster, found *target.Found, again *unstructured.Unstructured) error {
	created := again
	if r.dryRun != cli.DryRunClient {
		var err error
		created, err = target.Create(ctx, c.dynamic, target.Creation{
			Resource: found.Resource, Object: again,
			Options: metav1.CreateOptions{DryRun: r.dryRun.Options(), FieldValidation: metav1.FieldValidationStrict},
		})
		if err != nil {
			return err
		}
	}
	if !r.output.Own() {
		return r.output.Print(created, r.Out)
	}
	name := created.GetName()
	if name == "" {
		name = created.GetGenerateName() + "*"
	}
	fmt.Fprintf(r.Out, "%s/%s created%s\n", found.Resource.GroupResource(), name, r.dryRun.Note())
	return nil
}
