package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	for _, command := range commands {
		all = append(all, newCommandLine(file, command))
	}
	return all
}

// newCommandLine returns a command line of spark-submit as an input.
func newCommandLine(file string, command sparksubmit.Command) *input {
	one := &input{file: file, Manifest: &manifest.Manifest{Line: command.Line}}
	line, err := sparksubmit.Parse(command.Arguments, nil)
	if err != nil {
		one.refused = finding.List{{Text: err.Error()}}
		return one
	}
	if line.Action != sparksubmit.Submit {
		one.refused = finding.List{{Text: "the command line submits nothing", Remedy: "leave it out"}}
		return one
	}
	submission, found := line.Resolve(submit.Sources(func(name string) string { return command.Environment[name] }))
	if one.refused = found.Of(finding.Error); len(one.refused) == 0 {
		one.submission = submission
	}
	for _, raw := range command.Unknown {
		one.warnings.Add(finding.Finding{
			Severity: finding.Warning, Text: fmt.Sprintf("%s is known only when the script runs, so it stands as it is written", raw), Remedy: "write its value",
		})
	}
	for _, raw := range command.Defaults {
		one.warnings.Add(finding.Finding{
			Severity: finding.Warning, Text: fmt.Sprintf("%s is a variable that the script does not set, so its default is taken", raw), Remedy: "write the value that you mean",
		})
	}
	one.warnings = append(one.warnings, found.Of(finding.Warning)...)
	return one
}

// application returns the application of a command line.
func (c *conversion) application(one *input) (*convert.Converted, finding.List, error) {
	submission := one.submission
	if c.version != "" {
		submission.SparkVersion = c.version
	}
	if submission.SparkVersion == "" {
		return nil, nil, submit.NoVersion(submission)
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
