package crd

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

const sparkApplications = "300-sparkapplication.yaml"

var sparkVersions = []string{"v1", "v1beta1", "v1alpha1"}

func TestSparkApplicationKeepsEveryField(t *testing.T) {
	text := read(t, "testdata/sparkapplication.yaml")
	for _, version := range sparkVersions {
		t.Run(version, func(t *testing.T) {
			admitted, refusal := newResource(t, sparkApplications, version).admit(t, text)
			if refusal != nil {
				t.Errorf("refused: %v", refusal)
			}
			if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
				t.Errorf("changed (-given +admitted):\n%s", diff)
			}
			application := decodeApplication(t, admitted)
			if want := []string{`unknown field "spec.driverSpec.podTemplateSpec.spec.aFieldOfTomorrow"`}; !cmp.Equal(want, application.UnknownFields) {
				t.Errorf("unknown fields %q, want %q", application.UnknownFields, want)
			}
		})
	}
}

// What the controller writes must survive: a field that the schema lacks would be dropped silently.
func TestSparkApplicationSchemaCoversItsGoType(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(30).Funcs(ofRecords()...).Funcs(
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
		func(at *metav1.MicroTime, _ randfill.Continue) { *at = metav1.NewMicroTime(metav1.Unix(1, 0).Time) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{"a":"b"}`) },
		func(_ *metav1.ObjectMeta, _ randfill.Continue) {},
		func(_ *sparkv1.PodSpecTemplate, _ randfill.Continue) {},
	)
	application := &sparkv1.SparkApplication{}
	filler.Fill(application)
	text, err := json.Marshal(application)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range sparkVersions {
		if lacking := newResource(t, sparkApplications, version).unknown(t, text); len(lacking) > 0 {
			t.Errorf("%s lacks %q", version, lacking)
		}
	}
}

func TestSparkApplicationDefaults(t *testing.T) {
	for name, test := range map[string]struct{ given, want string }{
		"nothing is added without tolerations": {
			given: `{}`,
			want:  `{}`,
		},
		"tolerations": {
			given: `{applicationTolerations: {}}`,
			want:  `{applicationTolerations: {resourceRetainDurationMillis: -1, ttlAfterStopMillis: -1}}`,
		},
		"restart config": {
			given: `{applicationTolerations: {ttlAfterStopMillis: 5, restartConfig: {restartPolicy: Always}}}`,
			want: `{applicationTolerations: {resourceRetainDurationMillis: -1, ttlAfterStopMillis: 5,
			         restartConfig: {restartPolicy: Always, restartCounterResetMillis: -1}}}`,
		},
		"null is absent": {
			given: `{suspend: null, driverArgs: null, driverSpec: {podTemplateSpec: null},
			         applicationTolerations: {ttlAfterStopMillis: null, restartConfig: {maxRestartOnFailure: null}}}`,
			want: `{driverSpec: {}, applicationTolerations: {resourceRetainDurationMillis: -1, ttlAfterStopMillis: -1,
			         restartConfig: {restartCounterResetMillis: -1}}}`,
		},
		"unknown fields outside templates go": {
			given: `{sparkconf: {}, driverSpec: {template: {}}}`,
			want:  `{driverSpec: {}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			admitted, refusal := newResource(t, sparkApplications, "v1").admit(t, application(t, "a", test.given))
			if refusal != nil {
				t.Errorf("refused: %v", refusal)
			}
			if diff := cmp.Diff(decode(t, application(t, "a", test.want)), admitted); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			decodeApplication(t, admitted)
		})
	}
}

func TestSparkApplicationRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		name, spec string
		want       string // part of the message; empty where it is accepted
	}{
		"a name longer than a label":     {name: strings.Repeat("a", 64), spec: `{}`},
		"no versions":                    {spec: `{runtimeVersions: null}`, want: "runtimeVersions"},
		"an empty version":               {spec: `{runtimeVersions: {sparkVersion: ""}}`},
		"a version that is no label":     {spec: `{runtimeVersions: {sparkVersion: "4.1+mine"}}`, want: "sparkVersion"},
		"a number as a property":         {spec: `{sparkConf: {spark.executor.instances: 5}}`, want: "instances"},
		"an unknown mode":                {spec: `{deploymentMode: cluster}`, want: "deploymentMode"},
		"an unknown restart policy":      {spec: `{applicationTolerations: {restartConfig: {restartPolicy: Sometimes}}}`, want: "restartPolicy"},
		"more than 64 bits":              {spec: `{applicationTolerations: {ttlAfterStopMillis: 9223372036854775808}}`, want: "ttlAfterStopMillis"},
		"more than 32 bits":              {spec: `{applicationTolerations: {instanceConfig: {minExecutors: 2147483648}}}`, want: "minExecutors"},
		"a template that is no object":   {spec: `{driverSpec: {podTemplateSpec: []}}`, want: "podTemplateSpec"},
		"an ingress without its service": {spec: `{driverServiceIngressList: [{ingressMetadata: {}}]}`, want: "serviceSpec"},
	} {
		t.Run(name, func(t *testing.T) {
			admitted, refusal := newResource(t, sparkApplications, "v1").admit(t, application(t, test.name, test.spec))
			switch {
			case test.want == "" && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case test.want == "":
				decodeApplication(t, admitted)
			case refusal == nil || !strings.Contains(refusal.Error(), test.want):
				t.Errorf("refused with %v, want a message with %q", refusal, test.want)
			}
		})
	}
}

// The Apache operator's older versions wrote fewer counters.
func TestSparkApplicationAcceptsTheStatusOfTheOtherOperator(t *testing.T) {
	text := []byte(`
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {name: adopted}
spec: {runtimeVersions: {sparkVersion: 4.0.0}}
status:
  currentState:
    currentStateSummary: DriverReady
    lastTransitionTime: "2026-01-02T03:04:05.123456789Z"
    lastObservedDriverStatus: {phase: Running, aFieldOfTomorrow: {}}
  stateTransitionHistory:
    "0": {currentStateSummary: Submitted, lastTransitionTime: "2026-01-02T03:04:05Z", message: Spark application has been created.}
  currentAttemptSummary: {attemptInfo: {id: 0}}
  previousAttemptSummary: {attemptInfo: {}, stateTransitionHistory: {"0": {}}}
`)
	admitted, refusal := newResource(t, sparkApplications, "v1").admit(t, text)
	if refusal != nil {
		t.Errorf("refused: %v", refusal)
	}
	if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
		t.Errorf("changed (-given +admitted):\n%s", diff)
	}
	decodeApplication(t, admitted)
}

// application is an object with some fields of a spec, which may override its version and its main class.
func application(t *testing.T, name, spec string) []byte {
	t.Helper()
	fields := map[string]any{"runtimeVersions": map[string]any{"sparkVersion": "4.1.4"}, "mainClass": "Main"}
	maps.Copy(fields, decode(t, []byte(spec)))
	return manifest(t, "spark.apache.org/v1", name, fields)
}

// manifest is an application of an API.
func manifest(t *testing.T, apiVersion, name string, spec map[string]any) []byte {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": apiVersion, "kind": "SparkApplication", "metadata": map[string]any{"name": name}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decodeApplication decodes what the schema accepts, which must be possible.
func decodeApplication(t *testing.T, object map[string]any) *sparkv1.SparkApplication {
	t.Helper()
	application := decodeObject(t, object)
	if application.Undecodable != "" {
		t.Errorf("accepted, but cannot be decoded: %s", application.Undecodable)
	}
	return application
}

func decodeObject(t *testing.T, object map[string]any) *sparkv1.SparkApplication {
	t.Helper()
	application := &sparkv1.SparkApplication{}
	decodeInto(t, object, application)
	return application
}

// decodeInto decodes an object as a client does.
func decodeInto(t *testing.T, object map[string]any, into any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
