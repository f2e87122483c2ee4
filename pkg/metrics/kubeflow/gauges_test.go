package kubeflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

func TestGaugesAreOfTheCache(t *testing.T) {
	const running, pending, completed = v1beta2.ExecutorRunningState, v1beta2.ExecutorPendingState, v1beta2.ExecutorCompletedState
	of := func(team string, state v1beta2.ApplicationStateType, first, second v1beta2.ExecutorState) *v1beta2.SparkApplication {
		return pi().Labels(map[string]string{"team": team}).Left(state).Executors(executors(first, second)).Obj()
	}
	c := newCluster(t, "team")
	for _, moment := range []struct {
		name  string
		cache []*v1beta2.SparkApplication
		want  map[string]string
	}{
		{
			name: "when the process begins",
			cache: []*v1beta2.SparkApplication{
				of("a", v1beta2.RunningState, running, running), of("a", v1beta2.RunningState, running, pending),
				of("b", v1beta2.SubmittedState, pending, completed),
			},
			want: map[string]string{
				`application_running_count{team="a"}`: "2", `executor_running_count{team="a"}`: "3",
				`application_running_count{team="b"}`: "0", `executor_running_count{team="b"}`: "0",
			},
		},
		{
			name: "an end after which an executor was seen no more",
			cache: []*v1beta2.SparkApplication{
				of("a", v1beta2.CompletedState, completed, running), of("a", v1beta2.RunningState, running, completed),
				of("b", v1beta2.RunningState, running, completed),
			},
			want: map[string]string{
				`application_running_count{team="a"}`: "1", `executor_running_count{team="a"}`: "1",
				`application_running_count{team="b"}`: "1", `executor_running_count{team="b"}`: "1",
			},
		},
		{
			name: "all deleted, or another replica's, while they ran",
			want: map[string]string{
				`application_running_count{team="a"}`: "0", `executor_running_count{team="a"}`: "0",
				`application_running_count{team="b"}`: "0", `executor_running_count{team="b"}`: "0",
			},
		},
	} {
		c.cache = moment.cache
		if diff := cmp.Diff(moment.want, c.samples("spark_")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", moment.name, diff)
		}
	}
}
