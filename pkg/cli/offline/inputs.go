package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// filenames is the flag -f.
type filenames []string

func (f *filenames) addTo(command *cobra.Command, what string) {
	command.Flags().StringSliceVarP((*[]string)(f), "filename", "f", nil, "Files or folders with "+what+", or - for the standard input.")
	_ = command.MarkFlagFilename("filename", "yaml", "yml", "json") // the flag exists
}

// check returns a usage error if no file is named.
func (f filenames) check() error {
	switch {
	case len(f) == 0:
		return cli.Usage("no file is named: write -f FILE")
	case len(slices.DeleteFunc(slices.Clone(f), func(name string) bool { return name != manifest.Stdin })) > 1:
		return cli.Usage("-f - is given twice: write it once, since the standard input is read once")
	default:
		return nil
	}
}

// input is one object of a file.
type input struct {
	*manifest.Manifest
	file string
	// object is the decoded object. If it names no namespace, it has that of the command line. It is nil if refused is set.
	object check.Object
	// command is set if the input is a command line of spark-submit, and submission if that can be read. warnings are about it.
	command    *sparksubmit.Command
	submission *sparksubmit.Submission
	warnings   finding.List
	// refused is why the object or the submission cannot be used.
	refused finding.List
}

// otherGroup reports whether an object is of a group that Firesteel does not serve, such as a ConfigMap in the same file.
func (i *input) otherGroup() bool {
	if i.Problem != nil || i.command != nil {
		return false
	}
	given := i.Header.GroupVersionKind()
	if given.Kind == "" || i.Header.APIVersion == "" {
		return false
	}
	return !slices.ContainsFunc(check.Served(), func(served schema.GroupVersionKind) bool { return served.Group == given.Group })
}

// name returns the kind and the name of an object, as in SparkApplication team-a/pi.
func (i *input) name() string {
	name := cmp.Or(i.Header.Name, i.Header.GenerateName)
	if i.Header.Kind == "" || name == "" {
		return i.Header.Kind
	}
	if i.Header.Namespace != "" {
		name = i.Header.Namespace + "/" + name
	}
	return i.Header.Kind + " " + name
}

// place returns the place of a finding, as in pi.yaml:7:3.
func (i *input) place(f manifest.Located) string {
	return fmt.Sprintf("%s:%d:%d", i.file, f.Line, f.Column)
}

// printErrors prints why the object is refused.
func (i *input) printErrors(o *cli.Options, found finding.List) {
	for _, f := range i.located(found) {
		i.print(o, o.ErrOut, f)
	}
}

// located adds the place to each finding: that of its field, or of its option of a command line.
func (i *input) located(found finding.List) []manifest.Located {
	if i.command == nil {
		return i.Locate(found)
	}
	var all []manifest.Located
	for _, f := range found {
		what := f.Field
		if expansion, _, _ := strings.Cut(f.Text, " "); what == "" && strings.ContainsAny(expansion, "$`<") {
			what = expansion
		}
		all = append(all, manifest.Located{Finding: f, Line: i.command.LineOf(what), Column: 1})
	}
	slices.SortStableFunc(all, func(a, b manifest.Located) int { return a.Line - b.Line })
	return all
}

// printDuplicates prints an error for each key that the object has twice, and reports whether there are any. It is not known which of the two the user
// wants, and kubectl refuses such a manifest.
func (i *input) printDuplicates(o *cli.Options) bool {
	for _, duplicate := range i.Duplicates {
		i.print(o, o.ErrOut, duplicate)
	}
	return len(i.Duplicates) > 0
}

// print prints a finding in one line.
func (i *input) print(o *cli.Options, out io.Writer, f manifest.Located) {
	color := cli.Bad
	if f.Severity == finding.Warning {
		color = cli.Odd
	}
	fmt.Fprintf(out, "%s: %s %s\n", cli.Printable(i.place(f)), o.Color(out, color, severityOf(f.Finding)+":"), cli.Printable(f.Error()))
}

var errNoManifest = errors.New("no file has a manifest of Spark: name one after -f")

// readInputs reads all files in their order. A file that cannot be read is an input that is refused. namespace is the namespace of objects that name none.
func readInputs(ctx context.Context, o *cli.Options, names filenames, namespace string) ([]*input, error) {
	return readFiles(ctx, o, names, func(file string, text []byte) []*input { return manifests(file, text, namespace) })
}

// readFiles reads all files in their order, and parses each with a function.
func readFiles(
	ctx context.Context, o *cli.Options, names filenames, parse func(file string, text []byte) []*input,
) (inputs []*input, err error) {
	files := manifest.Files(names)
	read := make([][]*input, len(files))
	err = each(len(files), func(i int) error {
		name := files[i]
		if name == manifest.Stdin {
			name = "<stdin>"
		}
		text, err := manifest.Read(ctx, files[i], o.In)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			problem := &finding.Finding{Reason: "Unreadable", Text: err.Error()}
			read[i] = []*input{newInput(name, &manifest.Manifest{Line: 1, Problem: problem}, "")}
		default:
			read[i] = parse(name, text)
		}
		return nil
	})
	return slices.Concat(read...), err
}

// manifests returns the objects of a file.
func manifests(file string, text []byte, namespace string) (inputs []*input) {
	for _, object := range manifest.Parse(text) {
		inputs = append(inputs, newInput(file, object, namespace))
	}
	return inputs
}

func newInput(file string, read *manifest.Manifest, namespace string) *input {
	one := &input{Manifest: read, file: file}
	if read.Problem != nil {
		one.refused = finding.List{*read.Problem}
		return one
	}
	if one.otherGroup() {
		return one
	}
	object, err := check.Decode(read.JSON)
	var unknown *check.UnknownError
	switch {
	case errors.As(err, &unknown):
		one.refused = finding.List{unknown.Finding}
	case err != nil:
		one.refused = finding.Of(err)
	default:
		if object.GetNamespace() == "" {
			object.SetNamespace(namespace)
		}
		one.object = object
	}
	return one
}

// namespaces are those of the objects.
func namespaces(inputs []*input) []string {
	var all []string
	for _, one := range inputs {
		if one.object != nil && !slices.Contains(all, one.object.GetNamespace()) {
			all = append(all, one.object.GetNamespace())
		}
	}
	slices.Sort(all)
	return all
}

// parallel is the number of files that are read and checked at the same time.
const parallel = 8

// each calls a function for each number below count.
func each(count int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range count {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// offlineNamespace returns the namespace of objects that name none: that of the command line, or default. It does not read the kubeconfig.
func offlineNamespace(o *cli.Options) string {
	if given := o.Connection.Namespace; given != nil && *given != "" {
		return *given
	}
	return "default"
}
