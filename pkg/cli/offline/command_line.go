package offline

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// sparkSubmit is the value of --to for a command line of spark-submit.
const sparkSubmit = "spark-submit"

// commandLine returns the command line of an application, and what is lost.
func commandLine(one *input) (string, finding.List, error) {
	switch {
	case len(one.refused) > 0:
		return "", nil, one.refused.Err()
	case one.submission != nil:
		return shellLine(one.submission, one.warnings)
	}
	app, isApplication := one.object.(*sparkv1.SparkApplication)
	if !isApplication {
		return "", nil, &finding.Finding{
			Field: "kind", Value: one.Header.Kind, Message: "of " + one.Header.APIVersion + " is no application whose spec is Spark's properties",
			Remedy: "convert an application --to apache first",
		}
	}
	return shellLine(sparksubmit.FromApache(app))
}

// shellLine returns the command line of a submission. It names files for the pod templates.
func shellLine(submission *sparksubmit.Submission, lost finding.List) (string, finding.List, error) {
	files := sparksubmit.Files{DriverTemplate: submission.Name + "-driver.yaml", ExecutorTemplate: submission.Name + "-executor.yaml"}
	for _, role := range []struct {
		field, file string
		template    *corev1.PodTemplateSpec
	}{{"spec.driverSpec", files.DriverTemplate, submission.DriverTemplate}, {"spec.executorSpec", files.ExecutorTemplate, submission.ExecutorTemplate}} {
		if role.template != nil {
			lost.Warn(role.field, nil, "is a file for spark-submit", "write the template into "+role.file)
		}
	}
	line := submission.Line(files)
	for _, group := range line {
		for _, argument := range group {
			if name, _, _ := strings.Cut(argument, "="); strings.Contains(argument, "\x00") {
				return "", nil, &finding.Finding{
					Text: fmt.Sprintf("an argument of %s (%q) has a NUL character, which no command line can hold", group[0], redact.Text(name)), Remedy: "remove it",
				}
			}
		}
	}
	return sparksubmit.Shell(sparkSubmit, line), lost, nil
}
