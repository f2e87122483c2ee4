package offline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/check"
	planned "github.com/firesteel-dev/firesteel/pkg/check/plan"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
	"github.com/firesteel-dev/firesteel/pkg/submission"
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
		Use: "plan -f FILE [flags]", SuggestFor: []string{"diff", "render", "template", "dry-run"}, Short: "Show the objects that a manifest would create",
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
	if _, known := submission.RulesFor(p.version); p.version != "" && !known {
		return cli.Usage("--spark-version %q is no version of Spark that Firesteel knows: write one of %s, or a patch release of them such as 4.1.0",
			p.version, strings.Join(submission.KnownVersions(), ", "))
	}
	inputs, err := p.read(ctx)
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
		with.Unread = append(with.Unread, draft.Templates...)
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
func (p *plan) read(ctx context.Context) ([]*input, error) {
	inputs, err := readInputs(ctx, p.Options, p.files, offlineNamespace(p.Options))
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
	*planned.Plan
	input *input
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
	made, found := planned.Of(one.object, with.Config, p.Now())
	if made == nil {
		return nil, found
	}
	made.Warnings = append(schema.UnknownMetadata(one.JSON), made.Warnings...)
	if !p.showSecrets {
		planned.Hide(one.JSON, made.Objects...)
	}
	return &draft{made, one}, nil
}

func (p *plan) print(with *settings.Settings, drafts []*draft) error {
	if p.output.Own() {
		return p.printYAML(with, drafts)
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	fmt.Fprintln(p.ErrOut, cli.Printable(with.String()))
	for _, draft := range drafts {
		p.warn(draft)
		for _, object := range draft.Objects {
			list.Items = append(list.Items, *object)
		}
	}
	if len(list.Items) == 0 {
		return nil
	}
	return p.output.Print(list, p.Out)
}

func (p *plan) warn(d *draft) {
	for _, f := range d.Warnings {
		p.Warn(fmt.Sprintf("%s: %s", d.input.name(), f.Error()))
	}
	if d.ByUser {
		p.Warn(d.input.name() + ": nothing is created, since its user starts the driver")
	}
}

// printYAML prints the objects as they could be applied, with comments.
func (p *plan) printYAML(with *settings.Settings, drafts []*draft) error {
	comment(p.Out, with.String())
	for _, draft := range drafts {
		comment(p.Out, draft.input.name())
		for _, f := range draft.Warnings {
			comment(p.Out, "Warning: "+f.Error())
		}
		if draft.ByUser {
			comment(p.Out, "Nothing is created: the user starts the driver.")
		}
		for _, object := range draft.Objects {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.Out, "---\n")
			if planned.IsTemplate(object) {
				comment(p.Out, fmt.Sprintf("The driver creates %s executors that request this.", object.GetAnnotations()[planned.AnnotationExecutors]))
			}
			if _, err := p.Out.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func comment(out io.Writer, text string) {
	fmt.Fprintf(out, "# %s\n", cli.Printable(text))
}
