package api_test

import (
	"testing"
	"time"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/api"
)

func TestAsManyWorkersAreNeededAsAreAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		want int32
	}{
		"the minimum":                     {workers(3, 2, 2), 2},
		"of a range":                      {workers(1, 2, 5), 2},
		"one, where none is the minimum":  {workers(3, 0, 0), 1},
		"none, where none are asked for":  {workers(0, 0, 0), 0},
		"one, where none is of the range": {workers(0, 0, 3), 1},
		"no more than there are":          {workers(2, 5, 1), 2},
		"what it is scaled to":            {workers(1, 3, 3), 1},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := Policy(of(t, test.spec), time.Minute)
			if err != nil || policy.NeededWorkers != test.want {
				t.Errorf("%d are needed, want %d: %v", policy.NeededWorkers, test.want, err)
			}
		})
	}
}

func TestEditsAreRecognised(t *testing.T) {
	hash := func(spec string) string {
		policy, err := Policy(of(t, spec), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return policy.SpecHash
	}
	if hash("") != hash(`suspend: true`) {
		t.Error("a suspension is an edit")
	}
	seen := map[string]string{"": hash("")}
	for _, spec := range []string{
		`sparkConf: {a: b}`, workers(3, 2, 2), workers(2, 1, 3), `runtimeVersions: {sparkVersion: 4.2.0}`,
		`masterSpec: {serviceMetadata: {labels: {a: b}}}`, `workerSpec: {statefulSetSpec: {template: {spec: {nodeName: a}}}}`,
	} {
		for other, known := range seen {
			if known == hash(spec) {
				t.Errorf("%s is no edit of %s", spec, other)
			}
		}
		seen[spec] = hash(spec)
	}
}

func TestPolicyHasTheSettings(t *testing.T) {
	policy, err := Policy(of(t, `suspend: true`), time.Minute)
	if err != nil || !policy.Suspend || policy.MasterStartTimeout != time.Minute || policy.Refused != nil {
		t.Errorf("%+v: %v", policy, err)
	}
}
