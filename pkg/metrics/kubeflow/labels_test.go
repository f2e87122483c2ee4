package kubeflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestLabelsAreThoseOfTheApplication(t *testing.T) {
	for name, test := range map[string]struct {
		keys        []string
		application *application
		want        string
	}{
		"none":                                {nil, pi().Labels(map[string]string{"team": "a"}), ""},
		"one that it has":                     {[]string{"team"}, pi().Labels(map[string]string{"team": "a"}), `{team="a"}`},
		"one that it has without value":       {[]string{"team"}, pi().Labels(map[string]string{"team": ""}), `{team=""}`},
		"one that it has not":                 {[]string{"team"}, pi(), `{team="Unknown"}`},
		"its namespace":                       {[]string{"namespace"}, pi(), `{namespace="team-a"}`},
		"a label of that name before that":    {[]string{"namespace"}, pi().Labels(map[string]string{"namespace": "n"}), `{namespace="n"}`},
		"one with a hyphen":                   {[]string{"app-type"}, pi().Labels(map[string]string{"app-type": "etl"}), `{app_type="etl"}`},
		"one with a hyphen, and a prefix":     {[]string{"a-b", "c"}, pi().Labels(map[string]string{"a-b": "1", "c": "2"}), `{a_b="1",c="2"}`},
		"one with a hyphen that is asked for": {[]string{"app_type"}, pi().Labels(map[string]string{"app-type": "etl"}), `{app_type="etl"}`},
		"of two alike the one that is asked for": {
			[]string{"app_type"}, pi().Labels(map[string]string{"app-type": "other", "app_type": "etl"}), `{app_type="etl"}`,
		},
		"of two alike that were not asked for, always the same": {
			[]string{"a_b_c"}, pi().Labels(map[string]string{"a_b-c": "last", "a-b_c": "second", "a-b-c": "first"}), `{a_b_c="first"}`,
		},
		"one of Kubernetes": {
			[]string{"app.kubernetes.io/name"}, pi().Labels(map[string]string{"app.kubernetes.io/name": "etl"}), `{"app.kubernetes.io/name"="etl"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.keys...)
			before := test.application.Obj()
			c.Changed(before, test.application.Went(lifecycle.Submitted).Obj(), start)
			if diff := cmp.Diff(map[string]string{test.want: "1"}, c.samples("spark_application_count")); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsOfExecutorsAreThoseOfTheirPods(t *testing.T) {
	c := newCluster(t, "team", "stage", "namespace")
	running := pi().Went(lifecycle.DriverStarted).Labels(map[string]string{"team": "a", "stage": "test"}).
		ExecutorLabels(map[string]string{"stage": "load"})
	before := running.Executors(executors(v1beta2.ExecutorRunningState, v1beta2.ExecutorRunningState)).Obj()
	after := running.Executors(executors(v1beta2.ExecutorRunningState, v1beta2.ExecutorFailedState)).Obj()
	c.cache = []*v1beta2.SparkApplication{after}
	c.Changed(before, after, start)
	want := map[string]string{
		`executor_failure_count{namespace="team-a",stage="load",team="a"}`:    "1",
		`executor_running_count{namespace="team-a",stage="load",team="a"}`:    "1",
		`executor_running_count{namespace="team-a",stage="test",team="a"}`:    "0",
		`application_running_count{namespace="team-a",stage="load",team="a"}`: "0",
		`application_running_count{namespace="team-a",stage="test",team="a"}`: "1",
	}
	if diff := cmp.Diff(want, c.samples("spark_")); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}
