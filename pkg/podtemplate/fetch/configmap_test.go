package fetch

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const installation = "firesteel-system"

func TestFetchFromAConfigMap(t *testing.T) {
	client := fake.NewClientset(
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: installation, Name: "templates"},
			Data:       map[string]string{"driver.yaml": templateText, "large": strings.Repeat("#", maxSize+1)},
		},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "of-a-team"}, Data: map[string]string{"driver.yaml": templateText}},
	)
	reader := New(client.CoreV1().ConfigMaps(installation))
	for url, test := range map[string]struct{ want, says string }{
		"configmap://templates/driver.yaml": {"there", ""},
		"configmap://templates/absent":      {"refused", "is not there (the ConfigMap has no such key)"},
		"configmap://templates":             {"refused", "is not there (the ConfigMap has no such key)"},
		"configmap://templates/large":       {"refused", "is larger than 256 KiB"},
		"configmap://of-a-team/driver.yaml": {"refused", "is not there (the operator's namespace has no such ConfigMap)"},
	} {
		what, said := outcome(reader.Fetch(t.Context(), locate(t, "configmap://templates configmap://of-a-team", url)))
		if what != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%s: it is %s: %q; want %s: %q", url, what, said, test.want, test.says)
		}
	}
}

func TestFetchFromAConfigMapIsRetriedUnlessForbidden(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "templates", errors.New("no role"))
	for want, err := range map[string]error{"refused": forbidden, "retried": apierrors.NewServiceUnavailable("restarting")} {
		client := fake.NewClientset()
		client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
		location := locate(t, "configmap://templates", "configmap://templates/driver.yaml")
		if what, said := outcome(New(client.CoreV1().ConfigMaps(installation)).Fetch(t.Context(), location)); what != want {
			t.Errorf("%v: it is %s: %s; want %s", err, what, said, want)
		}
	}
}
