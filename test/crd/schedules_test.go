package crd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// schedules are the kinds of schedules: their definition, their version, a manifest and their type.
var schedules = map[string]struct {
	file, version, manifest string
	object                  any
}{
	"Kubeflow": {
		"300-sparkoperator-scheduledsparkapplication.yaml", "v1beta2", "testdata/schedules/kubeflow.yaml",
		&sparkoperatorv1beta2.ScheduledSparkApplication{},
	},
	"Apache": {
		"300-scheduledsparkapplication.yaml", "v1alpha1", "testdata/schedules/apache.yaml",
		&firesteelv1alpha1.ScheduledSparkApplication{},
	},
}

func TestSchedulesKeepEveryField(t *testing.T) {
	for name, kind := range schedules {
		t.Run(name, func(t *testing.T) {
			text := read(t, kind.manifest)
			resource := newResource(t, kind.file, kind.version)
			if unknown := resource.unknown(t, text); len(unknown) > 0 {
				t.Errorf("unknown are %q", unknown)
			}
			admitted, refusal := resource.admit(t, text)
			if refusal != nil {
				t.Errorf("refused: %v", refusal)
			}
			if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
				t.Errorf("changed (-given +admitted):\n%s", diff)
			}
		})
	}
}

func TestSchemasOfSchedulesCoverTheirGoTypes(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(30).Funcs(ofRecords()...).Funcs(
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
		func(at *metav1.MicroTime, _ randfill.Continue) { *at = metav1.NewMicroTime(metav1.Unix(1, 0).Time) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{"a":"b"}`) },
		func(_ *metav1.ObjectMeta, _ randfill.Continue) {},
	)
	for name, kind := range schedules {
		filler.Fill(kind.object)
		text, err := json.Marshal(kind.object)
		if err != nil {
			t.Fatal(err)
		}
		if lacking := newResource(t, kind.file, kind.version).unknown(t, text); len(lacking) > 0 {
			t.Errorf("%s lacks %q", name, lacking)
		}
	}
}

func TestRefusedSchedules(t *testing.T) {
	for name, test := range map[string]struct{ kind, from, to, want string }{
		"no schedule":                  {"Kubeflow", "schedule:", "schedules:", "spec.schedule"},
		"no template":                  {"Kubeflow", "template:", "templates:", "spec.template"},
		"an unknown policy":            {"Kubeflow", "concurrencyPolicy: Allow", "concurrencyPolicy: Perhaps", "spec.concurrencyPolicy"},
		"a limit that is no number":    {"Kubeflow", "failedRunHistoryLimit: 3", "failedRunHistoryLimit: many", "spec.failedRunHistoryLimit"},
		"a deadline before its time":   {"Apache", "startingDeadlineSeconds: 3600", "startingDeadlineSeconds: -1", "spec.startingDeadlineSeconds"},
		"a template without spec":      {"Apache", "    spec:\n", "    specs:\n", "spec.template.spec"},
		"another kind in the template": {"Apache", "    spec:\n", "    kind: Job\n    spec:\n", "spec.template.kind"},
	} {
		t.Run(name, func(t *testing.T) {
			kind := schedules[test.kind]
			text := strings.Replace(string(read(t, kind.manifest)), test.from, test.to, 1)
			_, refusal := newResource(t, kind.file, kind.version).admit(t, []byte(text))
			if refusal == nil || !strings.Contains(refusal.Error(), test.want) {
				t.Errorf("the refusal is %v, want one of %s", refusal, test.want)
			}
		})
	}
}
