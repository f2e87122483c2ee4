package main

import (
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

func TestConfigMapsAreReadAgainWhileTheAPIServerCannotAnswer(t *testing.T) {
	t.Setenv("SYSTEM_NAMESPACE", "firesteel-system")
	scope := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: config.ScopeName}}
	unavailable := apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", corev1.Resource("configmaps"), "", "", 0, true)
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), config.ScopeName, errors.New("no right"))
	for name, test := range map[string]struct {
		answers []error
		objects []runtime.Object
		found   bool
		want    error
		reads   int
	}{
		"it answers":                   {objects: []runtime.Object{scope}, found: true, reads: 1},
		"it answers later":             {answers: []error{errors.New("connection reset"), unavailable}, objects: []runtime.Object{scope}, found: true, reads: 3},
		"there is no such ConfigMap":   {answers: []error{unavailable}, reads: 2},
		"the controller has no rights": {answers: []error{forbidden}, objects: []runtime.Object{scope}, want: forbidden, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.objects...)
			reads := 0
			client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				if reads++; reads <= len(test.answers) {
					return true, nil, test.answers[reads-1]
				}
				return false, nil, nil
			})
			got, err := readConfigMap(t.Context(), client.CoreV1().ConfigMaps("firesteel-system"), config.ScopeName)
			if !errors.Is(err, test.want) || (got != nil && got.Name != "") != test.found || reads != test.reads {
				t.Errorf("after %d reads it is %v (%v), want %d reads, found %t, error %v", reads, got, err, test.reads, test.found, test.want)
			}
		})
	}
}
