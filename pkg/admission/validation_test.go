package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/admission"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

const installation = "firesteel-system"

// storeWith has read all config maps of the installation, with changes by the name of the config map and the key.
func storeWith(t *testing.T, changes map[string]map[string]string) *config.Store {
	t.Helper()
	store := config.NewStore(zap.NewNop().Sugar(), func(*config.Config, *config.Config) {}, func(_ *corev1.ConfigMap, err error) { t.Error(err) })
	for _, name := range config.Names() {
		store.OnConfigChanged(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: changes[name]})
	}
	return store
}

func validator(t *testing.T, changes map[string]map[string]string) *admission.Validator {
	t.Helper()
	return &admission.Validator{
		Settings: storeWith(t, changes).Load, Namespaces: labelled(labels.Set{"team": "a"}, nil), Installation: installation,
		Now: func() time.Time { return time.Unix(0, 0) },
	}
}

// applied is a request about a new application of the Apache API.
func applied(spec string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: "team-a", Name: "pi",
		Kind:     metav1.GroupVersionKind{Group: "spark.apache.org", Version: "v1", Kind: "SparkApplication"},
		Resource: metav1.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"},
		Object:   runtime.RawExtension{Raw: []byte(manifestOf(spec))},
	}
}

func manifestOf(spec string) string {
	return `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"name":"pi","namespace":"team-a"},"spec":` + spec + `}`
}

const (
	good   = `{"mainClass":"Pi","jars":"local:///pi.jar","runtimeVersions":{"sparkVersion":"4.0.1"}}`
	bad    = `{"mainClass":"Pi","jars":"local:///pi.jar","runtimeVersions":{"sparkVersion":"4.0.1"},"sparkConf":{"spark.driver.memory":"1.5g","spark.app.name":"x"}}`
	secret = `{"mainClass":"Pi","jars":"local:///pi.jar","runtimeVersions":{"sparkVersion":"4.0.1"},
		"sparkConf":{"spark.redaction.regex":"memory","spark.driver.memory":"hunter2","spark.executor.memory":"hunter2"}}`
)

func TestRefusalsHaveACauseForEachFieldAndNoSecret(t *testing.T) {
	v := validator(t, nil)
	response := v.Admit(t.Context(), applied(bad))
	if response.Allowed || response.Result.Code != 422 || len(response.Result.Details.Causes) != 1 {
		t.Fatalf("the answer is %v", response)
	}
	cause := response.Result.Details.Causes[0]
	if cause.Field != "spec.sparkConf[spark.driver.memory]" || !strings.HasPrefix(cause.Message, `"1.5g" is`) ||
		!strings.Contains(response.Result.Message, cause.Field+` "1.5g" is`) {
		t.Errorf("the cause is %v, the message %s", cause, response.Result.Message)
	}
	response = v.Admit(t.Context(), applied(secret))
	if text := fmt.Sprint(response); response.Allowed || len(response.Result.Details.Causes) != 2 || strings.Contains(text, "hunter2") {
		t.Errorf("the answer is %s", text)
	}
	if response := v.Admit(t.Context(), applied(good)); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "service account") {
		t.Errorf("the answer is %v", response)
	}
}

func TestObjectsPassThatAreNotNewOrNotOfThisInstallation(t *testing.T) {
	edit := func(change func(*admissionv1.AdmissionRequest)) *admissionv1.AdmissionRequest {
		request := applied(bad)
		change(request)
		return request
	}
	for name, test := range map[string]struct {
		settings map[string]map[string]string
		request  *admissionv1.AdmissionRequest
		warns    string
	}{
		"status":   {request: edit(func(r *admissionv1.AdmissionRequest) { r.Operation, r.SubResource = admissionv1.Update, "status" })},
		"deletion": {request: edit(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete })},
		"an edit of metadata": {request: edit(func(r *admissionv1.AdmissionRequest) {
			r.Operation = admissionv1.Update
			r.OldObject.Raw = []byte(strings.Replace(manifestOf(bad), `"name":"pi"`, `"name":"pi","labels":{"a":"b"}`, 1))
		})},
		"an edit while it is deleted": {request: edit(func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject.Raw = admissionv1.Update, []byte(manifestOf(good))
			r.Object.Raw = []byte(strings.Replace(manifestOf(bad), `"name":"pi"`, `"name":"pi","deletionTimestamp":"2026-01-01T00:00:00Z"`, 1))
		})},
		"what Firesteel itself writes": {request: edit(func(r *admissionv1.AdmissionRequest) {
			r.UserInfo = authenticationv1.UserInfo{Username: "system:serviceaccount:" + installation + ":controller"}
		})},
		"another namespace":  {settings: map[string]map[string]string{"config-scope": {"watched-namespaces": "team-b"}}, request: applied(bad)},
		"another label":      {settings: map[string]map[string]string{"config-scope": {"label-selector": "team=b"}}, request: applied(bad)},
		"other labels of it": {settings: map[string]map[string]string{"config-scope": {"namespace-selector": "team=b"}}, request: applied(bad)},
		"an unknown version": {
			request: edit(func(r *admissionv1.AdmissionRequest) {
				r.Object.Raw = []byte(strings.Replace(manifestOf(bad), "org/v1", "org/v9", 1))
			}),
			warns: `has not checked this object, and the controller will: apiVersion "spark.apache.org/v9" is no version`,
		},
		"an unknown kind": {
			request: edit(func(r *admissionv1.AdmissionRequest) {
				r.Resource = metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
				r.Object.Raw = []byte(`{"apiVersion":"apps/v1","kind":"Deployment"}`)
			}),
			warns: `kind "Deployment" is no kind of apps/v1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			response := validator(t, test.settings).Admit(t.Context(), test.request)
			if warnings := fmt.Sprint(response.Warnings); !response.Allowed || !strings.Contains(warnings, test.warns) || test.warns == "" && len(response.Warnings) > 0 {
				t.Errorf("the answer is %v", response)
			}
		})
	}
}

func TestAnEditOfTheSpecIsNew(t *testing.T) {
	request := applied(bad)
	request.Operation, request.OldObject.Raw = admissionv1.Update, []byte(manifestOf(good))
	if response := validator(t, nil).Admit(t.Context(), request); response.Allowed {
		t.Errorf("the answer is %v", response)
	}
}

func TestNothingIsCheckedBeforeTheSettingsAreRead(t *testing.T) {
	v := validator(t, nil)
	v.Settings = config.Default
	if response := v.Admit(t.Context(), applied(bad)); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "settings are not read yet") {
		t.Errorf("the answer is %v", response)
	}
}

func TestUndecodableObjectsAreRefused(t *testing.T) {
	v := validator(t, nil)
	for raw, want := range map[string]string{
		manifestOf(`{"driverSpec":{"podTemplateSpec":{"spec":{"activeDeadlineSeconds":"60"}}}}`): "spec.driverSpec.podTemplateSpec.spec.activeDeadlineSeconds",
		`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"labels":7}}`: "metadata cannot be decoded",
		`{"apiVersion":7}`: "no object with apiVersion and kind",
	} {
		request := applied(good)
		request.Object.Raw = []byte(raw)
		if response := v.Admit(t.Context(), request); response.Allowed || !strings.Contains(response.Result.Message, want) {
			t.Errorf("%s: the answer is %v, want %s", raw, response, want)
		}
	}
}

func TestAnUnknownScopeIsAnErrorOfTheServer(t *testing.T) {
	v := validator(t, map[string]map[string]string{"config-scope": {"namespace-selector": "team=a"}})
	v.Namespaces = func(context.Context, string) (labels.Set, bool, error) { return nil, false, errors.New("no answer") }
	if response := v.Admit(t.Context(), applied(bad)); response.Allowed || response.Result.Code != 500 {
		t.Errorf("the answer is %v", response)
	}
}

// configMap is a request about a config map.
func configMap(namespace, name, labels, data, before string) *admissionv1.AdmissionRequest {
	raw := func(data string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","labels":` + labels + `},"data":` + data + `}`)
	}
	request := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Namespace: namespace, Name: name, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		Object: runtime.RawExtension{Raw: raw(data)},
	}
	if before != "" {
		request.Operation, request.OldObject.Raw = admissionv1.Update, raw(before)
	}
	return request
}

func TestConfigMapsAreRefusedThatTheControllerWouldRefuse(t *testing.T) {
	const enabled = `{"firesteel.dev/defaults":"enabled"}`
	served := map[string]map[string]string{"config-scope": {"watched-namespaces": "team-a"}, "config-kubeflow": {"denied-spark-properties": "spark.secret.*"}}
	for name, test := range map[string]struct {
		request *admissionv1.AdmissionRequest
		want    string
	}{
		"settings":                          {request: configMap(installation, "config-scope", "{}", `{"watched-namespaces":"a,b"}`, "")},
		"an invalid value":                  {configMap(installation, "config-scope", "{}", `{"watched-namespaces":"A_B"}`, ""), "config-scope: watched-namespaces is"},
		"all invalid values":                {configMap(installation, "config-admission", "{}", `{"quota":"x","quota-overtake":"y"}`, ""), "; config-admission: quota-overtake"},
		"a setting of Knative":              {configMap(installation, "config-leader-election", "{}", `{"buckets":"many"}`, ""), "buckets is"},
		"a config map of another owner":     {request: configMap(installation, "config-br-defaults", "{}", `{"a":"b"}`, "")},
		"an edit of the metadata":           {request: configMap(installation, "config-scope", "{}", `{"x":"y"}`, `{"x":"y"}`)},
		"settings elsewhere":                {request: configMap("team-a", "config-scope", "{}", `{"x":"y"}`, "")},
		"defaults of a namespace":           {request: configMap("team-a", "firesteel-defaults", enabled, `{"image":"spark"}`, "")},
		"a key that it may not set":         {configMap("team-a", "firesteel-defaults", enabled, `{"driver-service-account":"x"}`, ""), "only config-defaults may set it"},
		"a denied property":                 {configMap("team-a", "firesteel-kubeflow", enabled, `{"spark-defaults.conf":"spark.secret.a b"}`, ""), "denied-spark-properties"},
		"defaults without the label":        {request: configMap("team-a", "firesteel-defaults", "{}", `{"x":"y"}`, "")},
		"defaults of a namespace of others": {request: configMap("team-b", "firesteel-defaults", enabled, `{"x":"y"}`, "")},
	} {
		t.Run(name, func(t *testing.T) {
			response := validator(t, served).Admit(t.Context(), test.request)
			if response.Allowed != (test.want == "") {
				t.Fatalf("the answer is %v", response)
			}
			if !response.Allowed && (!strings.Contains(response.Result.Message, test.want) || response.Result.Details.Causes[0].Field != "data") {
				t.Errorf("the answer is %v, want %s", response, test.want)
			}
		})
	}
}

func TestEachConfigMapIsCheckedAsTheControllerReadsIt(t *testing.T) {
	v := validator(t, nil)
	for _, name := range slices.Concat(config.Names(), []string{"config-logging", "config-leader-election", "config-observability"}) {
		response := v.Admit(t.Context(), configMap(installation, name, "{}", `{"no-such-key":"x"}`, ""))
		if response.Allowed || !strings.Contains(response.Result.Message, `there is no key "no-such-key"`) {
			t.Errorf("%s: the answer is %v", name, response)
		}
	}
}
