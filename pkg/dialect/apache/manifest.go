package apache

import (
	"slices"
	"strconv"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Manifest returns what the admin's rules read of an application.
func Manifest(app *sparkv1.SparkApplication, defaults Defaults) *policy.Manifest {
	p := policy.Properties{Given: app.Spec.SparkConf, Defaults: defaults.Properties}
	m := &policy.Manifest{
		Labels:     app.Labels,
		Driver:     policy.RoleOf("driver", p, policy.RoleFields{}),
		Executor:   policy.RoleOf("executor", p, policy.RoleFields{}),
		Executors:  policy.ExecutorsOf(p, policy.ExecutorFields{Otherwise: strconv.Itoa(submission.DefaultExecutors)}),
		TimeToLive: &policy.Value{Field: "spec.applicationTolerations.ttlAfterStopMillis"},
	}
	if given := app.Spec.ApplicationTolerations; given != nil && given.TTLAfterStopMillis != nil && *given.TTLAfterStopMillis >= 0 {
		m.TimeToLive.Text = strconv.FormatInt(*given.TTLAfterStopMillis, 10)
	}
	m.AddPropertyKeys(p)
	m.AddImageProperties(p, policy.ImageKeys...)
	m.AddHostPathProperties(p)
	unnamed := slices.ContainsFunc(policy.ImageKeys[1:], func(key string) bool { return app.Spec.SparkConf[key] == "" })
	if unnamed && app.Spec.SparkConf[policy.ImageKeys[0]] == "" && defaults.Image != "" {
		m.AddImages(&policy.Value{Source: "the operator's default image", Text: defaults.Image})
	}
	if template := template(app.Spec.DriverSpec); template != nil {
		m.AddPod(API.Fields.DriverTemplate+".spec", &template.Spec)
	}
	if template := template(app.Spec.ExecutorSpec); template != nil {
		m.AddPod(API.Fields.ExecutorTemplate+".spec", &template.Spec)
	}
	return m
}
