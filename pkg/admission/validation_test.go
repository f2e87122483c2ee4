package admission_test

import (
	"context"
	"encoding/json"
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
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

const installation = "firesteel-system"

// storeWith has read all config maps of the installation, with changes by the name of the config map and the key.
func storeWith(t testing.TB, changes map[string]map[string]string) *config.Store {
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
		Settings: storeWith(t, changes).Load, Namespaces: labelled(labels.Set{"team": "a"}, nil), Installation: installation, Version: "v1.2.3",
		Admitted: check.AsBuilt, Now: func() time.Time { return time.Unix(0, 0) },
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
	if !strings.Contains(fmt.Sprint(response.Warnings), "spec.sparkConf[spark.app.name]") {
		t.Errorf("a refusal has the warnings %v", response.Warnings)
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

func TestAnEditIsRefusedOnlyForErrorsThatItAdds(t *testing.T) {
	with := func(fields string) string { return strings.TrimSuffix(bad, "}") + "," + fields + "}" }
	const known = "spec.sparkConf[spark.driver.memory]"
	for name, test := range map[string]struct {
		before, after string
		refused       []string
		warned        bool
	}{
		"it suspends":               {before: bad, after: with(`"suspend":true`), warned: true},
		"it resumes":                {before: with(`"suspend":true`), after: bad, warned: true},
		"it adds an error":          {before: bad, after: with(`"deploymentMode":"ClientMode"`), refused: []string{"spec.deploymentMode"}, warned: true},
		"it writes another error":   {before: bad, after: strings.Replace(bad, "1.5g", "2.5g", 1), refused: []string{known}},
		"it was good":               {before: good, after: bad, refused: []string{known}},
		"it corrects one of two":    {before: with(`"deploymentMode":"ClientMode"`), after: bad, warned: true},
		"it could be decoded until": {before: good, after: `{"sparkConf":[]}`, refused: []string{"spec.sparkConf"}},
		"it cannot be decoded":      {before: `{"sparkConf":[]}`, after: `{"sparkConf":[],"suspend":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			request := applied(test.after)
			request.Operation, request.OldObject.Raw = admissionv1.Update, []byte(manifestOf(test.before))
			response := validator(t, nil).Admit(t.Context(), request)
			var refused []string
			if !response.Allowed {
				for _, cause := range response.Result.Details.Causes {
					refused = append(refused, cause.Field)
				}
			}
			if !slices.Equal(refused, test.refused) {
				t.Errorf("it is refused for %q, want %q: %v", refused, test.refused, response)
			}
			if warned := strings.Contains(fmt.Sprint(response.Warnings), known); warned != test.warned {
				t.Errorf("the warnings are %v", response.Warnings)
			}
		})
	}
}

// Only some large objects are checked at the same time; the others pass.
func TestObjectsThatAreCheckedAtTheSameTimeAreBounded(t *testing.T) {
	v := validator(t, map[string]map[string]string{"config-scope": {"namespace-selector": "team=a"}})
	large := func(bytes int) *admissionv1.AdmissionRequest {
		request := applied(bad)
		request.Object.Raw = append(request.Object.Raw, strings.Repeat(" ", bytes)...)
		return request
	}
	if response := v.Admit(t.Context(), large(20<<20)); response.Allowed {
		t.Errorf("one alone is not checked: %v", response)
	}
	entered, leave, answered := make(chan struct{}), make(chan struct{}), make(chan *admissionv1.AdmissionResponse)
	labelsOf := v.Namespaces
	v.Namespaces = func(ctx context.Context, name string) (labels.Set, bool, error) {
		entered <- struct{}{}
		<-leave
		return labelsOf(ctx, name)
	}
	go func() { answered <- v.Admit(t.Context(), large(7<<20)) }()
	select {
	case <-entered:
	case response := <-answered:
		t.Fatalf("afterwards one alone is not checked: %v", response)
	}
	v.Namespaces = labelsOf
	if response := v.Admit(t.Context(), large(7<<20)); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "too many large objects") {
		t.Errorf("beside another one: %v", response)
	}
	if response := v.Admit(t.Context(), applied(bad)); response.Allowed {
		t.Errorf("a small one beside it is not checked: %v", response)
	}
	close(leave)
	if response := <-answered; response.Allowed {
		t.Errorf("the first one is not checked: %v", response)
	}
	if response := v.Admit(t.Context(), large(7<<20)); response.Allowed {
		t.Errorf("afterwards it is not checked: %v", response)
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
		`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"labels":7}}`: "metadata.labels is a number and not an object",
		`{"apiVersion":7}`: "no object with apiVersion and kind",
	} {
		request := applied(good)
		request.Object.Raw = []byte(raw)
		if response := v.Admit(t.Context(), request); response.Allowed || !strings.Contains(response.Result.Message, want) {
			t.Errorf("%s: the answer is %v, want %s", raw, response, want)
		}
	}
}

func TestAnObjectWhoseNamespaceCannotBeReadPasses(t *testing.T) {
	v := validator(t, map[string]map[string]string{"config-scope": {"namespace-selector": "team=a"}})
	v.Namespaces = func(context.Context, string) (labels.Set, bool, error) { return nil, false, errors.New("no answer") }
	if response := v.Admit(t.Context(), applied(bad)); !response.Allowed || !strings.Contains(fmt.Sprint(response.Warnings), "has not checked this object") {
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
	served := map[string]map[string]string{"config-scope": {"watched-namespaces": "team-a," + installation}, "config-kubeflow": {"denied-spark-properties": "spark.secret.*"}}
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
		"defaults of the own namespace":     {configMap(installation, "firesteel-defaults", enabled, `{"driver-service-account":"x"}`, ""), "only config-defaults may set it"},
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

func TestAnEditOfAConfigMapIsRefusedOnlyForProblemsThatItAdds(t *testing.T) {
	labelled := func(request *admissionv1.AdmissionRequest, before string) *admissionv1.AdmissionRequest {
		var object map[string]any
		if err := json.Unmarshal(request.OldObject.Raw, &object); err != nil {
			t.Fatal(err)
		}
		object["metadata"].(map[string]any)["labels"] = json.RawMessage(before)
		request.OldObject.Raw, _ = json.Marshal(object)
		return request
	}
	const enabled = `{"firesteel.dev/defaults":"enabled"}`
	for name, test := range map[string]struct {
		request         *admissionv1.AdmissionRequest
		refused, warned string
	}{
		"a problem remains":         {request: configMap(installation, "config-scope", "{}", `{"x":"y","label-selector":"a=b"}`, `{"x":"y"}`), warned: `no key "x"`},
		"a problem more":            {configMap(installation, "config-scope", "{}", `{"x":"y","z":"y"}`, `{"x":"y"}`), `no key "z"`, `no key "x"`},
		"another label":             {request: labelled(configMap(installation, "config-scope", `{"a":"b"}`, `{"x":"y"}`, `{"x":"y"}`), `{}`)},
		"the label of defaults":     {labelled(configMap("team-a", "firesteel-defaults", enabled, `{"x":"y"}`, `{"x":"y"}`), `{}`), `no key "x"`, ""},
		"defaults keep their label": {request: labelled(configMap("team-a", "firesteel-defaults", enabled, `{"x":"y"}`, `{"x":"y"}`), `{"firesteel.dev/defaults":"enabled","a":"b"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			response := validator(t, nil).Admit(t.Context(), test.request)
			refused := ""
			if !response.Allowed {
				refused = response.Result.Message
			}
			for _, text := range []struct{ got, want string }{{refused, test.refused}, {strings.Join(response.Warnings, " "), test.warned}} {
				if !strings.Contains(text.got, text.want) || (text.got == "") != (text.want == "") {
					t.Errorf("it is %q, want %q", text.got, text.want)
				}
			}
		})
	}
}

// An upgrade and a rollback apply the settings of another version before the webhook of that version runs.
func TestSettingsOfAnotherVersionAreOnlyWarnedOf(t *testing.T) {
	for version, refused := range map[string]bool{"v1.2.3": true, "v1.3.0": false, "v1.1.0": false, "": true} {
		request := configMap(installation, "config-scope", `{"app.kubernetes.io/version":"`+version+`"}`, `{"new-key":"x"}`, "{}")
		response := validator(t, nil).Admit(t.Context(), request)
		if response.Allowed == refused {
			t.Errorf("%q: the answer is %v", version, response)
		}
		if warnings := fmt.Sprint(response.Warnings); !refused && !strings.Contains(warnings, `no key "new-key"`) {
			t.Errorf("%q: the warnings are %s", version, warnings)
		}
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
