package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cli/submit"
	"github.com/firesteel-dev/firesteel/pkg/convert"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// parse returns the objects of a file, or the command lines of spark-submit in a script. A script is bounded as a document is.
func parse(file string, text []byte) []*input {
	all := manifests(file, text, "")
	hasObject := slices.ContainsFunc(all, func(one *input) bool { return one.Header.Kind != "" })
	if hasObject || len(text) > manifest.MaxBytes || !bytes.Contains(text, []byte(sparkSubmit)) {
		return all
	}
	commands, err := sparksubmit.Commands(string(text))
	var unreadable *sparksubmit.ScriptError
	if errors.As(err, &unreadable) {
		return []*input{{file: file, Manifest: &manifest.Manifest{Line: unreadable.Line}, refused: finding.List{{Text: unreadable.Message()}}}}
	}
	if len(commands) == 0 {
		return all
	}
	all = nil
	for i := range commands {
		all = append(all, newCommandLine(file, &commands[i]))
	}
	return all
}

// newCommandLine returns a command line of spark-submit as an input.
func newCommandLine(file string, command *sparksubmit.Command) *input {
	one := &input{file: file, Manifest: &manifest.Manifest{Line: command.Line}, command: command}
	line, dropped, err := command.Parse()
	switch {
	case err != nil:
		one.refused = finding.List{{Text: err.Error()}}
		return one
	case line.Action != sparksubmit.Submit:
		one.refused = finding.List{{Text: "the command line submits nothing", Remedy: "leave it out"}}
		return one
	case line.Resource == "" && len(dropped) > 0:
		one.refused = finding.List{{
			Text:   fmt.Sprintf("the application file is in %s, which is known only when the script runs", strings.Join(dropped, " ")),
			Remedy: "write the command line in full",
		}}
		return one
	}
	sources := submit.Sources(func(name string) string { return command.Environment[name] })
	sources.AnyPlace = true
	submission, found := line.Resolve(sources)
	one.submission, one.refused = submission, found.Of(finding.Error)
	one.warnings = append(warningsOfScript(command, dropped), found.Of(finding.Warning)...)
	return one
}

// isUnknown reports whether a value has a part that is known only when the script runs.
func (i *input) isUnknown(value any) bool {
	text, ok := value.(string)
	return ok && slices.ContainsFunc(i.command.Unknown, func(raw string) bool { return strings.Contains(text, raw) })
}

// warningsOfScript returns warnings about what only the run of a script knows. dropped is left out of the command line.
func warningsOfScript(command *sparksubmit.Command, dropped []string) (found finding.List) {
	warn := func(text, remedy string) {
		found.Add(finding.Finding{Severity: finding.Warning, Text: text, Remedy: remedy})
	}
	for _, raw := range dropped {
		warn(fmt.Sprintf("%s stands for options that are known only when the script runs, so they are left out", raw), "write them")
	}
	for _, raw := range command.Unknown {
		switch {
		case slices.Contains(dropped, raw) || command.IsOfPlace(raw):
		case strings.HasPrefix(raw, "<"):
			warn(fmt.Sprintf("%s is a placeholder, and stands as it is written", raw), "write its value")
		default:
			warn(fmt.Sprintf("%s is known only when the script runs, so it stands as it is written", raw), "write its value")
		}
	}
	for _, raw := range command.Defaults {
		warn(fmt.Sprintf("%s is a variable that the script does not set, so its default is taken", raw), "write the value that you mean")
	}
	return found
}

// application returns the application of a command line.
func (c *conversion) application(one *input) (*convert.Converted, finding.List, error) {
	submission := one.submission
	if c.version != "" {
		submission.SparkVersion = c.version
	}
	refused := slices.Clone(one.refused)
	if submission.SparkVersion == "" {
		refused = append(refused, finding.Finding{Text: submit.NoVersion(submission).Error()})
	}
	if len(refused) > 0 {
		return nil, nil, refused.Err()
	}
	name, _ := sparksubmit.ObjectName(submission.Name)
	content, configMaps, found := submit.Manifest(submission, convert.API(c.to), name, submission.Namespace)
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return nil, nil, refused.Err()
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, nil, err
	}
	decoded, err := check.Decode(encoded)
	if err != nil {
		return nil, nil, err
	}
	if decoded.GetNamespace() == "" {
		decoded.SetNamespace(offlineNamespace(c.Options))
	}
	lost := finding.List(slices.Concat(one.warnings, found))
	for _, f := range submission.Located(submit.Examine(decoded, c.Now())) { // for example a file that spark-submit would upload
		if one.isUnknown(f.Value) { // a warning names it already
			continue
		}
		f.Severity = finding.Warning
		if !slices.ContainsFunc(lost, func(other finding.Finding) bool { return other.Error() == f.Error() }) { // a file and its property may have the same finding
			lost.Add(f)
		}
	}
	if key := decoded.GetNamespace() + "/" + name; c.names[key] {
		lost.Add(finding.Finding{
			Severity: finding.Warning, Text: fmt.Sprintf("%q is the name of an earlier command line's application, too, and only one of them can be in the cluster", name),
			Remedy: "write another --name",
		})
	} else {
		c.names[key] = true
	}
	converted := &convert.Converted{Object: object}
	for _, configMap := range configMaps {
		converted.Beside = append(converted.Beside, &unstructured.Unstructured{Object: configMap})
	}
	return converted, lost, nil
}
