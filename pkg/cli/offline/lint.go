package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
)

// lint is the verb lint.
type lint struct {
	*cli.Options
	files    filenames
	settings settings.Flags
	format   string
	schemas  schema.Schemas
}

func lintCommand(o *cli.Options) *cobra.Command {
	l := &lint{Options: o, schemas: schema.Schemas{Strict: true}}
	command := &cobra.Command{
		Use: "lint -f FILE [flags]", SuggestFor: []string{"check", "validate", "verify", "test"}, Short: "Find what would be refused or ignored about manifests",
		Long: `Find what the API server, the webhook or the launch would refuse or warn of, without
a cluster. Each finding has the line of its field. Objects of other groups are skipped.
A field that the kind does not have is an error: kubectl refuses it. A file that cannot
be read is an error, too, and the others are checked.

The exit code is 1 if there is an error, and 0 if there are only warnings.`,
		Example: `  # All manifests of a folder
  kubectl spark lint -f manifests/

  # For code review
  kubectl spark lint -f manifests/ -o sarif > lint.sarif

  # What a tool renders, with the settings of the cluster
  kustomize build . | kubectl spark lint -f - --settings cluster`,
		Args: cli.None,
		RunE: func(command *cobra.Command, _ []string) error { return l.run(command.Context()) },
	}
	l.files.addTo(command, "manifests")
	l.settings.AddTo(command)
	command.Flags().StringVarP(&l.format, "output", "o", "text", "Format: text, json or sarif.")
	return command
}

// result is the findings about all manifests.
type result struct {
	settings *settings.Settings
	findings []found
	// objects and files are the numbers of those that were checked. skipped is the number of objects of other groups.
	objects, files, skipped int
}

// found is a finding about an object of a file.
type found struct {
	manifest.Located
	input *input
}

func (r *result) count(severity finding.Severity) int {
	count := 0
	for _, f := range r.findings {
		if f.Severity == severity {
			count++
		}
	}
	return count
}

func (l *lint) run(ctx context.Context) error {
	write, known := map[string]func(*lint, *result) error{"text": (*lint).writeText, "json": (*lint).writeJSON, "sarif": (*lint).writeSARIF}[l.format]
	if !known {
		return cli.Usage("-o %s is no format: write text, json or sarif", l.format)
	}
	if err := l.files.check(); err != nil {
		return err
	}
	result, err := l.check(ctx)
	if err != nil {
		return err
	}
	if err := write(l, result); err != nil {
		return err
	}
	switch {
	case result.objects == 0:
		return errNoManifest
	case result.count(finding.Error) > 0:
		return &cli.FoundError{}
	default:
		return nil
	}
}

// check checks all manifests.
func (l *lint) check(ctx context.Context) (*result, error) {
	inputs, err := readInputs(ctx, l.Options, l.files, offlineNamespace(l.Options))
	if err != nil {
		return nil, err
	}
	with, err := l.settings.Read(ctx, l.Options, namespaces(inputs))
	if err != nil {
		return nil, err
	}
	r := &result{settings: with}
	perInput := make([][]found, len(inputs))
	if err := each(len(inputs), func(i int) (err error) {
		perInput[i], err = l.checkOne(inputs[i], with)
		return err
	}); err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for _, one := range inputs {
		if one.otherGroup() && !one.misspelt() {
			r.skipped++
			continue
		}
		r.objects++
		files[one.file] = true
	}
	r.files = len(files)
	r.findings = slices.Concat(perInput...)
	return r, nil
}

// checkOne returns the findings about an object, in the order of their lines.
func (l *lint) checkOne(one *input, with *settings.Settings) ([]found, error) {
	var list finding.List
	switch {
	case one.misspelt():
		_, err := check.Decode(one.JSON)
		list = unchecked(err)
	case one.otherGroup():
		return nil, nil
	default:
		var err error
		if list, err = l.examine(one, with); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", one.file, one.Line, err)
		}
	}
	located := append(slices.Clone(one.Duplicates), one.Locate(list)...)
	slices.SortStableFunc(located, func(a, b manifest.Located) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var all []found
	seen := map[string]bool{}
	for _, each := range located {
		if key := fmt.Sprint(each.Line, each.Error()); !seen[key] {
			seen[key] = true
			all = append(all, found{each, one})
		}
	}
	return all, nil
}

// misspelt reports whether an object is of another group, and its kind has the name of a kind that Firesteel serves: the group may be misspelt.
func (i *input) misspelt() bool {
	return i.otherGroup() && check.IsNamedAlike(i.Header.GroupVersionKind())
}

// unchecked returns warnings about an object whose group may be misspelt. err is why it is not decoded.
func unchecked(err error) finding.List {
	list := finding.Of(err)
	for i := range list {
		list[i].Severity, list[i].Remedy = finding.Warning, list[i].Remedy+" if that is meant: the object is not checked"
	}
	return list
}

// examine returns the findings of Firesteel's checks and of the schema.
func (l *lint) examine(one *input, with *settings.Settings) (finding.List, error) {
	list, partly := one.refused, slices.ContainsFunc(one.refused, func(f finding.Finding) bool { return f.Reason == finding.ReasonType })
	if one.object != nil {
		list, _ = check.Examine(one.object, with.Config, l.Now(), check.AsBuilt)
		partly = check.IsUndecodable(list)
		list = check.ExplainUndecodable(list, one.JSON)
	}
	if one.object == nil && !partly {
		return list, nil
	}
	if partly {
		list = append(list, check.ExamineRest(one.JSON, list, offlineNamespace(l.Options), with.Config, l.Now())...)
	}
	return l.schemas.Complete(list, one.Header.GroupVersionKind().GroupKind(), one.JSON)
}

func severityOf(f finding.Finding) string {
	if f.Severity == finding.Warning {
		return "warning"
	}
	return "error"
}

func (l *lint) writeText(r *result) error {
	comment(l.Out, r.settings.String())
	for _, f := range r.findings {
		f.input.print(l.Options, l.Out, f.Located)
	}
	_, err := fmt.Fprintln(l.Out, r.summary())
	return err
}

func (r *result) summary() string {
	summary := fmt.Sprintf("%s in %s: %s, %s", text.Count(r.objects, "object"), text.Count(r.files, "file"),
		text.Count(r.count(finding.Error), "error"), text.Count(r.count(finding.Warning), "warning"))
	if r.skipped > 0 {
		summary += fmt.Sprintf("; %s of other groups skipped", text.Count(r.skipped, "object"))
	}
	return summary
}

// printed is a finding in JSON.
type printed struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Object   string `json:"object,omitempty"`
	Severity string `json:"severity"`
	Reason   string `json:"reason"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy,omitempty"`
}

func (f *found) printed() printed {
	return printed{
		File: f.input.file, Line: f.Line, Column: f.Column, Object: f.input.name(), Severity: severityOf(f.Finding), Reason: f.rule(),
		Field: f.Field, Message: f.Error(), Remedy: f.Remedy,
	}
}

// rule returns the name of the rule that a finding breaks.
func (f *found) rule() string {
	switch {
	case f.Reason != "":
		return f.Reason
	case f.IsUnknownField():
		return "UnknownField"
	case f.Severity == finding.Warning:
		return "NoEffect"
	default:
		return "Refused"
	}
}

func (l *lint) writeJSON(r *result) error {
	list := []printed{}
	for i := range r.findings {
		list = append(list, r.findings[i].printed())
	}
	return writeIndented(l.Out, struct {
		Settings string    `json:"settings"`
		NotRead  []string  `json:"notRead"`
		Objects  int       `json:"objects"`
		Files    int       `json:"files"`
		Skipped  int       `json:"skipped"`
		Errors   int       `json:"errors"`
		Warnings int       `json:"warnings"`
		Findings []printed `json:"findings"`
	}{
		r.settings.Source, r.settings.Unread, r.objects, r.files, r.skipped, r.count(finding.Error), r.count(finding.Warning), list,
	})
}

func writeIndented(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
