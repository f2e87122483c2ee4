package status_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 123_456_000, time.UTC)

// of is a cluster with two workers, and a spec in YAML.
func of(t *testing.T, spec string) *sparkv1.SparkCluster {
	t.Helper()
	c := &sparkv1.SparkCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "c", UID: "uid", Generation: 3},
		Spec: sparkv1.ClusterSpec{
			RuntimeVersions:    sparkv1.RuntimeVersions{SparkVersion: "4.1.4"},
			ClusterTolerations: sparkv1.ClusterTolerations{InstanceConfig: sparkv1.WorkerInstanceConfig{InitWorkers: 2, MinWorkers: 2, MaxWorkers: 2}},
		},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &c.Spec); err != nil {
		t.Fatal(err)
	}
	return c
}

func workers(initially, least, most int32) string {
	text, err := yaml.Marshal(map[string]any{"clusterTolerations": map[string]any{
		"instanceConfig": sparkv1.WorkerInstanceConfig{InitWorkers: initially, MinWorkers: least, MaxWorkers: most},
	}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// in is a record that went through these states, one second apart.
func in(states ...cluster.State) *v1alpha1.Record {
	record := &v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: outbox.RecordTime(start)}}
	for i, state := range states {
		outbox.Append(record, v1alpha1.Transition{State: string(state), Message: "It is " + string(state) + "."}, start.Add(time.Duration(i)*time.Second))
	}
	return record
}
