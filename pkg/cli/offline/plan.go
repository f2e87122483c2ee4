package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// plan is the verb plan.
type plan struct {
	*cli.Options
	files       filenames
	settings    settings.Flags
	output      cli.Output
	version     string
	diff        bool
	showSecrets bool
}

func planCommand(o *cli.Options) *cobra.Command {
	p := &plan{Options: o}
	command := &cobra.Command{
		Use: "plan -f FILE [flags]", Short: "Show the objects that a manifest would create",
		Long: `Show what a launch would create: the driver Pod, its Service, ConfigMaps, and a
template of the executors, which the driver creates. Nothing is created and no
cluster is needed. The first line names the settings that are used, and what was not read.

Values of secrets are replaced, unless --show-secrets is set. With --diff the exit
code is 1 if what runs is different.`,
		Example: `  # The objects of an application, as Spark 4.1 would make them
  kubectl spark plan -f pi.yaml --spark-version 4.1.0

  # What an edit would change about what runs
  kubectl spark plan -f pi.yaml --settings cluster --diff`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	p.files.addTo(command, "manifests")
	p.settings.AddTo(command)
	p.output.AddFlag(command)
	command.Flags().StringVar(&p.version, "spark-version", "", "Plan for this version of Spark, and not for that of the manifest.")
	command.Flags().BoolVar(&p.diff, "diff", false, "Show the differences to the objects in the cluster.")
	command.Flags().BoolVar(&p.showSecrets, "show-secrets", false, "Show the values of secrets.")
	return command
}

func (p *plan) run(ctx context.Context) error {
	if err := p.files.check(); err != nil {
		return err
	}
	if err := p.output.Check(); err != nil {
		return err
	}
	if p.diff && p.output.Format() != "" {
		return cli.Usage("--diff and -o %s contradict each other: leave one out", p.output.Format())
	}
	inputs, err := p.read()
	if err != nil {
		return err
	}
	live := &liveCluster{Options: p.Options}
	if p.diff {
		if err := live.connect(); err != nil {
			return err
		}
		if err := live.identify(ctx, inputs); err != nil {
			return err
		}
	}
	with, err := p.settings.Read(ctx, p.Options, namespaces(inputs))
	if err != nil {
		return err
	}
	drafts, refused := p.drafts(inputs, with)
	for _, draft := range drafts {
		with.Unread = append(with.Unread, draft.templates...)
	}
	if p.diff {
		err = p.printDiff(ctx, live, with, drafts)
	} else {
		err = p.print(with, drafts)
	}
	if err == nil && refused {
		err = &cli.FoundError{}
	}
	return err
}

// read reads the manifests, and sets the version of Spark of --spark-version. It leaves out objects of other groups.
func (p *plan) read() ([]*input, error) {
	inputs, err := readInputs(p.Options, p.files, offlineNamespace(p.Options))
	if err != nil {
		return nil, err
	}
	inputs = slices.DeleteFunc(inputs, (*input).otherGroup)
	if len(inputs) == 0 {
		return nil, errNoManifest
	}
	for _, one := range inputs {
		if p.version != "" && one.object != nil {
			if err := check.SetSparkVersion(one.object, p.version); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", one.file, one.Line, err)
			}
		}
	}
	return inputs, nil
}

// draft is what would be created for one manifest.
type draft struct {
	input    *input
	warnings finding.List
	// objects are in the order of their creation. The template of the executors is the last one.
	objects []*unstructured.Unstructured
	// templates are the pod templates at URLs, which are not read.
	templates []string
	// byUser reports whether the user starts the driver: then nothing is created.
	byUser bool
}

// drafts returns what would be created. It prints errors about manifests that would be refused.
func (p *plan) drafts(inputs []*input, with *settings.Settings) (drafts []*draft, refused bool) {
	for _, one := range inputs {
		twice := one.printDuplicates(p.Options)
		refused = refused || twice
		made, found := p.draft(one, with)
		if errors := found.Of(finding.Error); len(errors) > 0 {
			refused = true
			one.printErrors(p.Options, errors)
		}
		if made != nil && !twice {
			drafts = append(drafts, made)
		}
	}
	return drafts, refused
}

func (p *plan) draft(one *input, with *settings.Settings) (*draft, finding.List) {
	if one.object == nil {
		return nil, one.refused
	}
	found, _ := check.Examine(one.object, with.Config, p.Now(), check.AsBuilt)
	if len(found.Of(finding.Error)) > 0 {
		return nil, found
	}
	created, err := check.Create(one.object, with.Config, p.Now())
	if err != nil {
		return nil, finding.Of(err)
	}
	made := &draft{input: one, warnings: found, byUser: created == nil}
	if created == nil {
		return made, nil
	}
	made.templates = created.Templates
	for _, object := range created.Objects {
		if err := made.add(object); err != nil {
			return nil, finding.Of(err)
		}
	}
	if created.Executor != nil {
		if err := made.add(executorTemplate(created)); err != nil {
			return nil, finding.Of(err)
		}
	}
	if !p.showSecrets {
		hide(one.JSON, made.objects)
	}
	return made, nil
}

// annotationExecutors is the annotation of the template with the number of executors.
const annotationExecutors = "firesteel.dev/executors"

// executorTemplate returns a template of the executors. The driver creates them.
func executorTemplate(created *check.Created) runtime.Object {
	return &corev1.PodTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
		ObjectMeta: metav1.ObjectMeta{
			Name: created.Of.GetName() + "-executors", Namespace: created.Of.GetNamespace(),
			Annotations: map[string]string{annotationExecutors: fmt.Sprint(created.Executors)},
		},
		Template: corev1.PodTemplateSpec{ObjectMeta: created.Executor.ObjectMeta, Spec: created.Executor.Spec},
	}
}

// add adds an object without the fields that only the API server fills in.
func (d *draft) add(object runtime.Object) error {
	encoded, err := json.Marshal(object)
	if err != nil {
		return err
	}
	added := &unstructured.Unstructured{}
	if err := added.UnmarshalJSON(encoded); err != nil {
		return err
	}
	unstructured.RemoveNestedField(added.Object, "status")
	unstructured.RemoveNestedField(added.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(added.Object, "template", "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(added.Object, "spec", "template", "metadata", "creationTimestamp")
	owners, _, _ := unstructured.NestedSlice(added.Object, "metadata", "ownerReferences")
	for _, owner := range owners {
		if fields, ok := owner.(map[string]any); ok && fields["uid"] == "" {
			delete(fields, "uid") // the API server chooses it
		}
	}
	if len(owners) > 0 {
		if err := unstructured.SetNestedSlice(added.Object, owners, "metadata", "ownerReferences"); err != nil {
			return err
		}
	}
	d.objects = append(d.objects, added)
	return nil
}

func (p *plan) print(with *settings.Settings, drafts []*draft) error {
	if p.output.Own() {
		return p.printYAML(with, drafts)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	fmt.Fprintf(p.ErrOut, "%s\n", with)
	for _, draft := range drafts {
		p.warn(draft)
		for _, object := range draft.objects {
			list.Items = append(list.Items, *object)
		}
	}
	if len(list.Items) == 0 {
		return nil
	}
	return p.output.Print(list, p.Out)
}

func (p *plan) warn(d *draft) {
	for _, f := range d.warnings {
		p.Warn(fmt.Sprintf("%s: %s", d.input.name(), f.Error()))
	}
	if d.byUser {
		p.Warn(d.input.name() + ": nothing is created, since its user starts the driver")
	}
}

// printYAML prints the objects as they could be applied, with comments.
func (p *plan) printYAML(with *settings.Settings, drafts []*draft) error {
	fmt.Fprintf(p.Out, "# %s\n", with)
	for _, draft := range drafts {
		comment(p.Out, draft.input.name())
		for _, f := range draft.warnings {
			comment(p.Out, "Warning: "+f.Error())
		}
		if draft.byUser {
			comment(p.Out, "Nothing is created: the user starts the driver.")
		}
		for _, object := range draft.objects {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Out, "---\n")
			if object.GetKind() == "PodTemplate" {
				comment(p.Out, fmt.Sprintf("The driver creates %s executors that request this.", object.GetAnnotations()[annotationExecutors]))
			}
			if _, err := p.Out.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func comment(out io.Writer, text string) {
	fmt.Fprintf(out, "# %s\n", strings.ReplaceAll(text, "\n", " "))
}
