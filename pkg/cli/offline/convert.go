package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/submit"
	"github.com/firesteel-dev/firesteel/pkg/convert"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
)

// conversion is the verb convert.
type conversion struct {
	*cli.Options
	files  filenames
	output cli.Output
	to     string
	// version is the version of Spark for command lines without one.
	version string
	// names are the names of the applications of earlier command lines, as NAMESPACE/NAME.
	names map[string]bool
	// schemas know the fields of the kinds.
	schemas schema.Schemas
}

func convertCommand(o *cli.Options) *cobra.Command {
	c := &conversion{Options: o, names: map[string]bool{}}
	apis := strings.Join(apiNames(), ", ")
	command := &cobra.Command{
		Use: "convert -f FILE --to API [flags]", Short: "Rewrite manifests for another API, and command lines of spark-submit as manifests",
		Long: `Rewrite applications and schedules for another API, so that they run with the same
driver: apache is spark.apache.org, kubeflow is sparkoperator.k8s.io, and early is
spark-operator.k8s.io. What does not carry over is named as a warning. Other objects
stay as they are. With spark-submit it prints the command line with which Spark itself
submits an application of spark.apache.org. Values of secrets are printed, as in the given manifest.

A file may also be a shell script: each command line of spark-submit in it is rewritten as
an application. Nothing of it is run. Variables that it sets are known; others stand as they
are written, and each is named.`,
		Example: `  # From the Kubeflow operator's API to the Apache operator's
  kubectl spark convert -f pi.yaml --to apache > pi-apache.yaml

  # From a script that calls spark-submit
  kubectl spark convert -f submit.sh --to kubeflow`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return c.run(command.Context()) },
	}
	c.files.addTo(command, "manifests or command lines of spark-submit")
	command.Flags().StringVar(&c.version, "spark-version", "", "The version of Spark in the image of a command line. By default that of the image's tag.")
	c.output.AddFlag(command)
	command.Flags().StringVar(&c.to, "to", "", "The API: "+apis+", or "+sparkSubmit+" for its command line.")
	_ = command.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(append(apiNames(), sparkSubmit), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return command
}

func apiNames() []string {
	var names []string
	for _, api := range convert.APIs {
		names = append(names, string(api))
	}
	return names
}

func (c *conversion) run(ctx context.Context) error {
	switch {
	case c.to == "":
		return cli.Usage("no API is named: write --to with one of %s", strings.Join(apiNames(), ", "))
	case c.to == sparkSubmit && c.output.Format() != "":
		return cli.Usage("-o %s is for manifests, and --to %s prints command lines: leave one of them out", c.output.Format(), sparkSubmit)
	case !slices.Contains(apiNames(), c.to) && c.to != sparkSubmit:
		return cli.Usage("--to %s is no API: write one of %s", c.to, strings.Join(apiNames(), ", "))
	}
	if err := errors.Join(c.files.check(), c.output.Check(), submit.CheckVersion(c.version)); err != nil {
		return err
	}
	inputs, err := readFiles(ctx, c.Options, c.files, parse)
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return errNoManifest
	}
	if c.to == sparkSubmit {
		inputs = slices.DeleteFunc(inputs, (*input).otherGroup)
		lines, refused := converted(c, inputs, commandLine)
		for _, line := range lines {
			if _, err := fmt.Fprintln(c.Out, line); err != nil {
				return err
			}
		}
		return refused
	}
	made, refused := converted(c, inputs, c.convert)
	var objects []*unstructured.Unstructured
	for _, one := range made {
		objects = append(objects, append(one.Beside, one.Object)...)
	}
	return cmp.Or(c.print(objects), refused)
}

// converted converts all inputs. It prints warnings about what is lost, and errors about inputs that cannot be converted: then refused is an error.
func converted[T any](c *conversion, inputs []*input, do func(*input) (T, finding.List, error)) (all []T, refused error) {
	for _, one := range inputs {
		twice := one.printDuplicates(c.Options)
		made, lost, err := do(one)
		dropped, errOfSchema := c.dropped(one)
		if err = cmp.Or(err, errOfSchema); err != nil {
			one.printErrors(c.Options, finding.Of(err))
		}
		if twice || err != nil {
			refused = &cli.FoundError{}
			continue
		}
		for _, f := range one.located(append(dropped, lost.Beside(dropped)...)) {
			c.Warn(one.place(f) + ": " + f.Error())
		}
		all = append(all, made)
	}
	return all, refused
}

// dropped returns warnings about fields that an object's kind does not have.
func (c *conversion) dropped(one *input) (finding.List, error) {
	if one.object == nil {
		return nil, nil
	}
	found, err := c.schemas.Complete(submit.Examine(one.object, c.Now()), one.Header.GroupVersionKind().GroupKind(), one.JSON)
	unknown := slices.DeleteFunc(found, func(f finding.Finding) bool { return !f.IsUnknownField() })
	for i := range unknown {
		unknown[i].Severity = finding.Warning
	}
	return unknown, err
}

// convert converts one object. It does not change an object of another group.
func (c *conversion) convert(one *input) (*convert.Converted, finding.List, error) {
	switch {
	case one.otherGroup():
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(one.JSON); err != nil {
			return nil, nil, err
		}
		return &convert.Converted{Object: object}, nil, nil
	case one.submission != nil:
		return c.application(one)
	case one.object == nil:
		return nil, nil, one.refused.Err()
	}
	made, err := convert.To(convert.API(c.to), one.object)
	if err != nil {
		return nil, nil, err
	}
	return made, made.Lost, nil
}

func (c *conversion) print(objects []*unstructured.Unstructured) error {
	if !c.output.Own() {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
		for _, object := range objects {
			list.Items = append(list.Items, *object)
		}
		if len(objects) == 1 {
			return c.output.Print(objects[0], c.Out)
		}
		return c.output.Print(list, c.Out)
	}
	for i, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(c.Out, "---")
		}
		if _, err := c.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}
