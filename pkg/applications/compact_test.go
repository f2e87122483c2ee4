package applications_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/applications"
)

func TestCompactApplicationsHaveTheSameContent(t *testing.T) {
	text, err := os.ReadFile("../kube/codec/testdata/application.json")
	if err != nil {
		t.Fatal(err)
	}
	empty := newApplications()
	for group, api := range applications.All(nil) {
		t.Run(group, func(t *testing.T) {
			if _, err := api.Compact(empty[group].DeepCopyObject()); err != nil { // it has no status
				t.Error(err)
			}
			app := empty[group]
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
			compact, err := api.Compact(app)
			if err != nil {
				t.Fatal(err)
			}
			after, err := json.Marshal(compact)
			if diff := cmp.Diff(string(before), string(after)); err != nil || diff != "" {
				t.Errorf("%v (-before +after):\n%s", err, diff)
			}
		})
	}
}
