package status_test

import (
	"testing"
	"time"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

func TestNeededWorkers(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		want int32
	}{
		"the minimum":                 {workers(3, 2, 2), 2},
		"of a range":                  {workers(1, 2, 5), 2},
		"one, with a minimum of zero": {workers(3, 0, 0), 1},
		"none, if none are asked for": {workers(0, 0, 0), 0},
		"one, with a range from zero": {workers(0, 0, 3), 1},
		"no more than are asked for":  {workers(2, 5, 1), 2},
		"scaled below the minimum":    {workers(1, 3, 3), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if policy := Policy(of(t, test.spec), time.Minute, time.Hour); policy.NeededWorkers != test.want {
				t.Errorf("%d are needed, want %d", policy.NeededWorkers, test.want)
			}
		})
	}
}

func TestEditsAreRecognised(t *testing.T) {
	hash := func(text string) string {
		return Policy(of(t, text), time.Minute, time.Hour).Spec.Hash(spec.HashVersion)
	}
	if hash("") != hash(`suspend: true`) {
		t.Error("a suspension is an edit")
	}
	seen := map[string]string{"": hash("")}
	for _, text := range []string{
		`sparkConf: {a: b}`, workers(3, 2, 2), workers(2, 1, 3), `runtimeVersions: {sparkVersion: 4.2.0}`,
		`masterSpec: {serviceMetadata: {labels: {a: b}}}`, `workerSpec: {statefulSetSpec: {template: {spec: {nodeName: a}}}}`,
	} {
		for other, known := range seen {
			if known == hash(text) {
				t.Errorf("%s has the same hash as %s", text, other)
			}
		}
		seen[text] = hash(text)
	}
}

func TestPolicyHasTheSettings(t *testing.T) {
	policy := Policy(of(t, `suspend: true`), time.Minute, time.Hour)
	if !policy.Suspend || policy.MasterStartTimeout != time.Minute || policy.Refused != nil {
		t.Errorf("%+v", policy)
	}
}
