package v1alpha1_test

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

func TestWhatIsCompactSaysTheSame(t *testing.T) {
	text, err := os.ReadFile("../../../kube/testdata/application.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, app := range map[string]interface {
		metav1.Object
		Compact()
	}{
		"Apache": &sparkv1.SparkApplication{}, "Kubeflow": &v1beta2.SparkApplication{},
	} {
		t.Run(name, func(t *testing.T) {
			if err := json.Unmarshal(text, app); err != nil {
				t.Fatal(err)
			}
			managed := app.GetManagedFields()
			app.SetManagedFields(nil)
			app.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: string(text)})
			before, err := json.Marshal(app)
			if err != nil {
				t.Fatal(err)
			}
			app.SetManagedFields(managed)
			app.Compact()
			after, err := json.Marshal(app)
			if diff := cmp.Diff(string(before), string(after)); err != nil || diff != "" {
				t.Errorf("%v (-before +after):\n%s", err, diff)
			}
		})
	}
	new(sparkv1.SparkApplication).Compact() // one without a status
}

func TestTextsAreSharedForAsLongAsTheyAreUsed(t *testing.T) {
	first := v1alpha1.Shared(strings.Clone("Driver has started running."))
	for range 3 {
		runtime.GC()
	}
	again := v1alpha1.Shared(strings.Clone("Driver has started running."))
	if unsafe.StringData(first) != unsafe.StringData(again) {
		t.Error("one text is there twice")
	}
	long := strings.Repeat("x", 1000)
	if copied := v1alpha1.Shared(strings.Clone(long)); copied != long || unsafe.StringData(v1alpha1.Shared(strings.Clone(long))) == unsafe.StringData(copied) {
		t.Error("a long text is kept")
	}
}
