package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// request is about a new driver Pod in the namespace team-a, as JSON.
func request(pod string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Create, Namespace: "team-a", Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		Object: runtime.RawExtension{Raw: []byte(pod)},
	}
}

// annotated is a driver Pod of a newer API server: it has fields that this version does not know.
const annotated = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pi-driver","creationTimestamp":null,"labels":{"spark-role":"driver"},
	"annotations":{"sparkoperator.k8s.io/sparkConfigMap":"c","sparkoperator.k8s.io/sparkconfigmap":"d"}},
	"spec":{"fieldOfTheFuture":{"a":[1]},"containers":[{"name":"spark-kubernetes-driver","image":"spark","resources":{},"alsoNew":"x",
	"env":[{"name":"SPARK_CONF_DIR","value":"/opt/spark/conf"}]}]}}`

func scopeOf(t *testing.T, data map[string]string) func() *config.Scope {
	t.Helper()
	scope, err := config.NewScope(&corev1.ConfigMap{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return func() *config.Scope { return scope }
}

func labelled(labelsOf labels.Set, err error) func(context.Context, string) (labels.Set, bool, error) {
	return func(context.Context, string) (labels.Set, bool, error) { return labelsOf, true, err }
}

func TestPatchAddsWhatAnnotationsAskForAndKeepsUnknownFields(t *testing.T) {
	response := admission.Pods(scopeOf(t, nil), labelled(nil, nil))(t.Context(), request(annotated))
	if !response.Allowed || response.PatchType == nil || *response.PatchType != admissionv1.PatchTypeJSONPatch {
		t.Fatalf("the answer is %v", response)
	}
	if text := fmt.Sprint(response.Warnings); !strings.Contains(text, "sparkconfigmap] is no key that Firesteel knows") {
		t.Errorf("the warnings are %s", text)
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply([]byte(annotated))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(annotated, `"env":[{"name":"SPARK_CONF_DIR","value":"/opt/spark/conf"}]`,
		`"env":[{"name":"SPARK_CONF_DIR","value":"/opt/spark/conf"},{"name":"SPARK_CONF_DIR","value":"/etc/spark/conf"}],
		"volumeMounts":[{"name":"spark-configmap-volume","readOnly":true,"mountPath":"/etc/spark/conf"}]`, 1)
	want = strings.TrimSuffix(want, "}}") + `,"volumes":[{"name":"spark-configmap-volume","configMap":{"name":"c"}}]}}`
	if diff := cmp.Diff(decoded(t, want), decoded(t, string(patched))); diff != "" {
		t.Errorf("(-want +got): %s", diff)
	}
	// Asked again, it changes nothing.
	if again := admission.Pods(scopeOf(t, nil), labelled(nil, nil))(t.Context(), request(string(patched))); !again.Allowed || again.Patch != nil || again.PatchType != nil {
		t.Errorf("the second answer is %v", again)
	}
}

func decoded(t *testing.T, text string) (object any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return object
}

func TestPodsOfOthersAreAllowedAsTheyAre(t *testing.T) {
	ours := strings.Replace(annotated, `"spark-role":"driver"`, `"spark-role":"driver","firesteel.dev/launch-id":"x"`, 1)
	update, status, service := request(annotated), request(annotated), request(annotated)
	update.Operation, status.SubResource, service.Resource.Resource = admissionv1.Update, "status", "services"
	for name, test := range map[string]struct {
		scope   map[string]string
		request *admissionv1.AdmissionRequest
		changed bool
	}{
		"in a watched namespace":       {map[string]string{"watched-namespaces": "team-a"}, request(annotated), true},
		"in another namespace":         {map[string]string{"watched-namespaces": "team-b"}, request(annotated), false},
		"in a selected namespace":      {map[string]string{"namespace-selector": "spark=yes"}, request(annotated), true},
		"in a namespace not selected":  {map[string]string{"namespace-selector": "spark=no"}, request(annotated), false},
		"with the label":               {map[string]string{"label-selector": "spark-role"}, request(annotated), true},
		"without the label":            {map[string]string{"label-selector": "team=a"}, request(annotated), false},
		"of a launch of an own driver": {nil, request(ours), false},
		"that is changed":              {nil, update, false},
		"whose status is changed":      {nil, status, false},
		"that is a Service":            {nil, service, false},
		"without annotations":          {nil, request(`{"metadata":{"labels":{"spark-role":"driver"}}}`), false},
	} {
		response := admission.Pods(scopeOf(t, test.scope), labelled(labels.Set{"spark": "yes"}, nil))(t.Context(), test.request)
		if !response.Allowed || (response.Patch != nil) != test.changed {
			t.Errorf("%s: the answer is %v", name, response)
		}
	}
}

func TestRefusalsHaveACodeAndAMessage(t *testing.T) {
	selects := map[string]string{"namespace-selector": "spark=yes"}
	for name, test := range map[string]struct {
		scope map[string]string
		err   error
		pod   string
		code  int32
		want  string
	}{
		"an unreadable annotation": {nil, nil, strings.Replace(annotated, `sparkConfigMap":"c"`, `affinity":"?"`, 1), 400, "metadata.annotations[sparkoperator.k8s.io/affinity]"},
		"no Pod":                   {nil, nil, `{"spec":[]}`, 400, "the Pod cannot be decoded"},
		"more than a Pod may be":   {nil, nil, `{"spec":{"containers":[` + strings.Repeat("{},", 1<<20) + `{}]}}`, 400, "the Pod cannot be decoded"},
		"an unknown namespace":     {selects, errors.New("the API server is away"), annotated, 500, "the API server is away"},
	} {
		response := admission.Pods(scopeOf(t, test.scope), labelled(nil, test.err))(t.Context(), request(test.pod))
		if response.Allowed || response.Result.Code != test.code || !strings.Contains(response.Result.Message, test.want) || response.Patch != nil {
			t.Errorf("%s: the answer is %v", name, response)
		}
	}
}
