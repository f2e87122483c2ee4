package crd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

const sparkOperatorApplications = "300-sparkoperator-sparkapplication.yaml"

func newSparkOperator(t *testing.T) resource {
	t.Helper()
	return newResource(t, sparkOperatorApplications, "v1beta2")
}

// sparkOperatorApplication is an object with some fields of a spec, which may override what it runs.
func sparkOperatorApplication(t *testing.T, name, spec string) []byte {
	t.Helper()
	fields := map[string]any{"mainClass": "Main", "mainApplicationFile": "local:///main.jar"}
	maps.Copy(fields, decode(t, []byte(spec)))
	return manifest(t, "sparkoperator.k8s.io/v1beta2", name, fields)
}

// Manifests of the kinds that there are of the Kubeflow operator, old spellings among them, are taken as they are:
// nothing of them is unknown, refused, changed or unreadable.
func TestSparkOperatorTakesManifestsOfAllKinds(t *testing.T) {
	documents := slices.Concat(
		bytes.Split(read(t, "testdata/sparkoperator-manifests.yaml"), []byte("\n---\n")),
		[][]byte{read(t, "testdata/sparkoperator-everything.yaml")},
	)
	if len(documents) < 3 {
		t.Fatal("there is hardly a manifest")
	}
	inTemplates := map[string][]string{
		"pod-templates": {
			"spec.driver.template.spec.securityContext.allowPrivilegeEscalation",
			"spec.driver.template.spec.securityContext.capabilities",
		},
		"everything": {
			"spec.driver.affinity.nodeAffinity.aTermOfTomorrow",
			"spec.driver.securityContext.aFieldOfTomorrow",
			"spec.driver.template.spec.aFieldOfTomorrow",
			"spec.volumes[1].aVolumeOfTomorrow",
		},
	}
	for _, text := range documents {
		name := decode(t, text)["metadata"].(map[string]any)["name"].(string)
		t.Run(name, func(t *testing.T) {
			app := takes(t, text)
			var unknown []string
			for _, message := range app.UnknownFields {
				unknown = append(unknown, strings.Trim(strings.TrimPrefix(message, "unknown field "), `"`))
			}
			slices.Sort(unknown)
			if diff := cmp.Diff(inTemplates[name], unknown); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSparkOperatorTakesFragmentsOfGuides(t *testing.T) {
	fragments := bytes.Split(read(t, "testdata/sparkoperator-fragments.yaml"), []byte("\n---\n"))
	if len(fragments) < 2 {
		t.Fatal("there is hardly a fragment")
	}
	for _, fragment := range fragments {
		given := decode(t, fragment)
		t.Run(given["name"].(string), func(t *testing.T) {
			spec := map[string]any{"mainClass": "Main", "mainApplicationFile": "local:///main.jar"}
			maps.Copy(spec, given["spec"].(map[string]any))
			if app := takes(t, manifest(t, "sparkoperator.k8s.io/v1beta2", "fragment", spec)); len(app.UnknownFields) > 0 {
				t.Errorf("dropped: %q", app.UnknownFields)
			}
		})
	}
}

// takes admits, decodes and encodes a manifest, and checks that no field is lost.
func takes(t *testing.T, text []byte) *v1beta2.SparkApplication {
	t.Helper()
	resource := newSparkOperator(t)
	if unknown := resource.unknown(t, text); len(unknown) > 0 {
		t.Errorf("the schema does not know %q", unknown)
	}
	admitted, refusal := resource.admit(t, text)
	if refusal != nil {
		t.Errorf("refused: %v", refusal)
	}
	if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
		t.Errorf("changed (-given +admitted):\n%s", diff)
	}
	app := decodeSparkOperator(t, admitted)
	encoded, err := json.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	lost := lost("", admitted, decode(t, encoded))
	lost = slices.DeleteFunc(lost, func(path string) bool {
		return strings.HasSuffix(path, ".creationTimestamp") || // null, in templates
			slices.ContainsFunc(unreadable(app), func(field string) bool { return strings.HasPrefix(path, field) })
	})
	if len(lost) > 0 {
		t.Errorf("the Go type loses %q", lost)
	}
	return app
}

// unreadable returns the fields that a decoded application does not have, though its type has them.
func unreadable(app *v1beta2.SparkApplication) []string {
	fields := []string{}
	for _, template := range []string{"spec.driver.template.", "spec.executor.template."} {
		fields = append(fields, template+"apiVersion", template+"kind")
	}
	for _, message := range app.UnknownFields {
		fields = append(fields, strings.Trim(strings.TrimPrefix(message, "unknown field "), `"`))
	}
	return fields
}

// lost returns the paths of the fields of an object that the resulting object does not have, in any form.
func lost(path string, given, kept any) []string {
	switch given := given.(type) {
	case map[string]any:
		kept, _ := kept.(map[string]any)
		var paths []string
		for _, field := range slices.Sorted(maps.Keys(given)) {
			paths = append(paths, lost(strings.TrimPrefix(path+"."+field, "."), given[field], kept[field])...)
		}
		return paths
	case []any:
		kept, _ := kept.([]any)
		var paths []string
		for i := range given {
			if at := fmt.Sprintf("%s[%d]", path, i); i < len(kept) {
				paths = append(paths, lost(at, given[i], kept[i])...)
			} else {
				paths = append(paths, at)
			}
		}
		return paths
	default:
		if fmt.Sprint(given) != fmt.Sprint(kept) {
			return []string{path}
		}
		return nil
	}
}

// What the controller writes must survive: a field that the schema lacks would be dropped silently.
func TestSparkOperatorSchemaCoversItsGoType(t *testing.T) {
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).MaxDepth(30).Funcs(ofRecords()...).Funcs(
		func(at *metav1.Time, _ randfill.Continue) { *at = metav1.Unix(1, 0) },
		func(at *metav1.MicroTime, _ randfill.Continue) { *at = metav1.NewMicroTime(metav1.Unix(1, 0).Time) },
		func(_ *metav1.ObjectMeta, _ randfill.Continue) {},
		func(_ *corev1.PodTemplateSpec, _ randfill.Continue) {},
	)
	application := &v1beta2.SparkApplication{}
	filler.Fill(application)
	text, err := json.Marshal(application)
	if err != nil {
		t.Fatal(err)
	}
	if lacking := newSparkOperator(t).unknown(t, text); len(lacking) > 0 {
		t.Errorf("lacks %q", lacking)
	}
}

func TestSparkOperatorRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		name, spec string
		want       string // part of the message; empty where it is accepted
	}{
		"a name as long as can be":                   {name: strings.Repeat("a", 63)},
		"a longer name":                              {name: strings.Repeat("a", 64), want: "at most 63 lower case letters"},
		"a name that begins with a digit":            {name: "7pi", want: `invalid SparkApplication name "7pi": write at most 63`},
		"a name with a dot":                          {name: "spark.pi", want: `"spark.pi"`},
		"a name that ends with a dash":               {name: "pi-", want: `"pi-"`},
		"an unknown language":                        {spec: `{type: Go}`, want: "spec.type"},
		"an unknown mode":                            {spec: `{mode: in-cluster-client}`, want: "spec.mode"},
		"an unknown mode in the old spelling":        {spec: `{deployMode: local}`, want: "spec.deployMode"},
		"client mode, which fails later":             {spec: `{mode: client}`},
		"Python 4":                                   {spec: `{pythonVersion: 4}`, want: "spec.pythonVersion"},
		"Python 3.11":                                {spec: `{pythonVersion: "3.11"}`, want: "spec.pythonVersion"},
		"Python 3 as a number":                       {spec: `{pythonVersion: 3}`},
		"a version of Spark as a number":             {spec: `{sparkVersion: 3.5}`, want: "spec.sparkVersion"},
		"a number as a Spark property":               {spec: `{sparkConf: {spark.executor.instances: 5}}`, want: "spec.sparkConf.spark.executor.instances"},
		"numbers and truths as Hadoop properties":    {spec: `{hadoopConf: {a: 1, b: true, c: 0.5, d: ""}}`},
		"an object as a Hadoop property":             {spec: `{hadoopConf: {fs: {s3a: a}}}`, want: "spec.hadoopConf.fs"},
		"a list as a Hadoop property":                {spec: `{hadoopConf: {fs: [a]}}`, want: "spec.hadoopConf.fs"},
		"a number as an argument":                    {spec: `{arguments: [1000]}`, want: "spec.arguments[0]"},
		"image pull secrets as objects":              {spec: `{imagePullSecrets: [{name: a}]}`, want: "spec.imagePullSecrets[0]"},
		"no core":                                    {spec: `{driver: {cores: 0}}`, want: "spec.driver.cores"},
		"fewer cores than none":                      {spec: `{executor: {cores: -1}}`, want: "spec.executor.cores"},
		"cores as a text":                            {spec: `{executor: {cores: "1"}}`},
		"cores as another text":                      {spec: `{executor: {cores: "one"}}`, want: "spec.executor.cores"},
		"a tenth of a core":                          {spec: `{executor: {cores: 0.1}}`},
		"no executor":                                {spec: `{executor: {instances: 0}}`, want: "spec.executor.instances"},
		"more executors than 32 bits hold":           {spec: `{executor: {instances: 2147483648}}`, want: "spec.executor.instances"},
		"a name of a driver that no pod can have":    {spec: `{driver: {podName: "_"}}`, want: "spec.driver.podName"},
		"memory as a number":                         {spec: `{driver: {memory: 512}}`, want: "spec.driver.memory"},
		"secrets as a map":                           {spec: `{driver: {secrets: {a: b}}}`, want: "spec.driver.secrets"},
		"a secret without a path":                    {spec: `{driver: {secrets: [{name: a}]}}`, want: "path"},
		"a config map without a path":                {spec: `{driver: {configMaps: [{name: a}]}}`, want: "path"},
		"a GPU that is many":                         {spec: `{driver: {gpu: {name: a, quantity: many}}}`, want: "spec.driver.gpu.quantity"},
		"a variable without a name":                  {spec: `{driver: {env: [{value: a}]}}`, want: "spec.driver.env[0].name"},
		"a mount without a path":                     {spec: `{driver: {volumeMounts: [{name: a}]}}`, want: "mountPath"},
		"a volume without a name":                    {spec: `{volumes: [{emptyDir: {}}]}`, want: "spec.volumes[0].name"},
		"a sidecar without a name":                   {spec: `{driver: {sidecars: [{image: a}]}}`, want: "spec.driver.sidecars[0].name"},
		"a template that is no object":               {spec: `{driver: {template: []}}`, want: "spec.driver.template"},
		"a template for Spark 2":                     {spec: `{sparkVersion: 2.4.5, driver: {template: {}}}`, want: `pod template feature requires Spark version 3.0.0 or higher: sparkVersion is "2.4.5". Correct it, or leave driver.template out`},
		"a template for executors of Spark 2":        {spec: `{sparkVersion: v2.4.5, executor: {template: {}}}`, want: `sparkVersion is "v2.4.5". Correct it, or leave executor.template out`},
		"a template for Spark 3":                     {spec: `{sparkVersion: 3.0.0, driver: {template: {}}, executor: {template: {}}}`},
		"a template for whatever the image has":      {spec: `{driver: {template: {}}}`},
		"Spark 2 without templates":                  {spec: `{sparkVersion: 2.4.5}`},
		"a node selector":                            {spec: `{nodeSelector: {a: b}, driver: {cores: 1}, executor: {}}`},
		"two node selectors":                         {spec: `{nodeSelector: {a: b}, driver: {nodeSelector: {a: b}}}`, want: "spec.nodeSelector"},
		"two node selectors, one of executors":       {spec: `{nodeSelector: {a: b}, executor: {nodeSelector: {}}}`, want: "spec.nodeSelector"},
		"an unknown restart policy":                  {spec: `{restartPolicy: {type: Sometimes}}`, want: "spec.restartPolicy.type"},
		"a restart policy as a text":                 {spec: `{restartPolicy: Never}`},
		"a restart policy as another text":           {spec: `{restartPolicy: Sometimes}`, want: "spec.restartPolicy"},
		"fewer retries than none":                    {spec: `{restartPolicy: {onFailureRetries: -1}}`, want: "spec.restartPolicy.onFailureRetries"},
		"fewer retries of the submission than none":  {spec: `{restartPolicy: {onSubmissionFailureRetries: -1}}`, want: "spec.restartPolicy.onSubmissionFailureRetries"},
		"no interval":                                {spec: `{restartPolicy: {onFailureRetryInterval: 0}}`, want: "spec.restartPolicy.onFailureRetryInterval"},
		"no interval of submissions":                 {spec: `{restartPolicy: {onSubmissionFailureRetryInterval: 0}}`, want: "spec.restartPolicy.onSubmissionFailureRetryInterval"},
		"a time to live that is over at once":        {spec: `{timeToLiveSeconds: -1}`},
		"more than 64 bits":                          {spec: `{timeToLiveSeconds: 9223372036854775808}`, want: "spec.timeToLiveSeconds"},
		"monitoring that exposes nothing":            {spec: `{monitoring: {}}`},
		"an exporter without a jar":                  {spec: `{monitoring: {prometheus: {}}}`, want: "spec.monitoring.prometheus.jmxExporterJar"},
		"an exporter at a privileged port":           {spec: `{monitoring: {prometheus: {jmxExporterJar: a, port: 80}}}`, want: "spec.monitoring.prometheus.port"},
		"an exporter at a port that clients have":    {spec: `{monitoring: {prometheus: {jmxExporterJar: a, port: 49152}}}`, want: "spec.monitoring.prometheus.port"},
		"resources of a gang that are no quantities": {spec: `{batchSchedulerOptions: {resources: {cpu: many}}}`, want: "spec.batchSchedulerOptions.resources.cpu"},
		"a port of the driver without a URL":         {spec: `{driverIngressOptions: [{servicePort: 80}]}`, want: "spec.driverIngressOptions[0].ingressURLFormat"},
		"a port of the driver with an empty URL":     {spec: `{driverIngressOptions: [{servicePort: 80, ingressURLFormat: ""}]}`, want: "spec.driverIngressOptions[0].ingressURLFormat"},
		"a URL without a port of the driver":         {spec: `{driverIngressOptions: [{ingressURLFormat: a}]}`, want: "spec.driverIngressOptions[0].servicePort"},
		"a port of the driver twice": {
			spec: `{driverIngressOptions: [{servicePort: 80, ingressURLFormat: a}, {servicePort: 80, ingressURLFormat: b}]}`,
			want: "spec.driverIngressOptions[1]",
		},
		"two ports of the driver": {
			spec: `{driverIngressOptions: [{servicePort: 80, ingressURLFormat: a}, {servicePort: 81, ingressURLFormat: b}]}`,
		},
		"null is absent": {spec: `{suspend: null, arguments: null, driver: {cores: null, template: null}, pythonVersion: null}`},
	} {
		t.Run(name, func(t *testing.T) {
			if test.name == "" {
				test.name = "pi"
			}
			if test.spec == "" {
				test.spec = "{}"
			}
			admitted, refusal := newSparkOperator(t).admit(t, sparkOperatorApplication(t, test.name, test.spec))
			switch {
			case test.want == "" && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case test.want == "":
				decodeSparkOperator(t, admitted)
			case refusal == nil || !strings.Contains(refusal.Error(), test.want):
				t.Errorf("refused with %v, want a message with %q", refusal, test.want)
			}
		})
	}
}

// If a part that Kubernetes defines is invalid and no schema can say so, that one object is blocked, and the message names the field.
func TestSparkOperatorUndecodable(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"a list for an object in a template": {`{driver: {template: {spec: []}}}`, "template.spec"},
		"a number for the name of a volume":  {`{volumes: [{name: a, emptyDir: {medium: 7}}]}`, "medium"},
		"a quantity that is none":            {`{driver: {sidecars: [{name: a, resources: {limits: {cpu: many}}}]}}`, "quantities must match"},
		"a text for a number":                {`{executor: {podSecurityContext: {runAsUser: root}}}`, "runAsUser"},
		"an empty list as a Hadoop property": {`{hadoopConf: {fs.defaultFS: []}}`, "fs.defaultFS: write a text in the place of []"},
	} {
		t.Run(name, func(t *testing.T) {
			admitted, refusal := newSparkOperator(t).admit(t, sparkOperatorApplication(t, "pi", test.spec))
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			app := &v1beta2.SparkApplication{}
			decodeInto(t, admitted, app)
			if app.Name != "pi" || !strings.Contains(app.Undecodable, test.want) {
				t.Errorf("%s is undecodable: %q, want %q", app.Name, app.Undecodable, test.want)
			}
		})
	}
}

// If an operator without webhook admitted an invalid object, the object still works: its status, its finalizers and its other fields
// can be written, as long as the invalid part does not change.
func TestSparkOperatorObjectThatBreaksARuleCanBeUpdated(t *testing.T) {
	const ports = `{driverIngressOptions: [{servicePort: 80}]}`
	status := func(object map[string]any) {
		object["status"] = map[string]any{"driverInfo": map[string]any{}, "applicationState": map[string]any{"state": "FAILED"}}
	}
	finalizer := func(object map[string]any) { object["metadata"].(map[string]any)["finalizers"] = []any{} }
	suspend := func(object map[string]any) { object["spec"].(map[string]any)["suspend"] = true }
	const selectors = `{nodeSelector: {a: b}, driver: {nodeSelector: {a: b}}}`
	for name, test := range map[string]struct {
		name, stored string
		change       func(map[string]any)
		want         string // part of the message; empty where it is accepted
	}{
		"the status of a name":               {name: "7pi", stored: `{}`, change: status},
		"a finalizer of a name":              {name: "7pi", stored: `{}`, change: finalizer},
		"another field beside a name":        {name: "7pi", stored: `{}`, change: suspend},
		"the status of two node selectors":   {name: "pi", stored: selectors, change: status},
		"a finalizer of two node selectors":  {name: "pi", stored: selectors, change: finalizer},
		"another field beside two selectors": {name: "pi", stored: selectors, change: suspend, want: "spec.nodeSelector"},
		"the status of a port without URL":   {name: "pi", stored: ports, change: status},
		"another field beside such a port":   {name: "pi", stored: ports, change: suspend},
	} {
		t.Run(name, func(t *testing.T) {
			resource := newSparkOperator(t)
			stored, refusal := resource.admit(t, sparkOperatorApplication(t, test.name, test.stored))
			if refusal == nil {
				t.Fatal("a new object like the stored one is not refused")
			}
			changed := runtime.DeepCopyJSON(stored)
			test.change(changed)
			switch refusal := resource.refuseUpdate(t, changed, stored); {
			case test.want == "" && refusal != nil:
				t.Errorf("refused: %v", refusal)
			case test.want != "" && (refusal == nil || !strings.Contains(refusal.Error(), test.want)):
				t.Errorf("refused with %v, want a message with %s", refusal, test.want)
			}
		})
	}
}

// What the Kubeflow operator and its predecessors wrote does not change. Nulls stay, too.
func TestSparkOperatorAcceptsTheStatusOfTheOtherOperator(t *testing.T) {
	for name, status := range map[string]string{
		"of an application that runs": `{
			sparkApplicationId: spark-1, submissionID: 8a5c1f9e-0000-4000-8000-000000000000, executionAttempts: 2, submissionAttempts: 3,
			lastSubmissionAttemptTime: "2026-01-02T03:04:05Z", terminationTime: null,
			applicationState: {state: RUNNING}, executorState: {pi-exec-1: RUNNING, pi-exec-2: COMPLETED},
			driverInfo: {podName: pi-driver, webUIServiceName: pi-ui-svc, webUIPort: 4040, webUIAddress: "10.0.0.7:4040",
				webUIIngressName: pi-ui-ingress, webUIIngressAddress: pi.example.com}}`,
		"of one that failed": `{
			lastSubmissionAttemptTime: null, terminationTime: "2026-01-02T03:04:05Z", driverInfo: {},
			applicationState: {state: FAILED, errorMessage: driver pod not found}}`,
		"of one that is new": `{lastSubmissionAttemptTime: null, terminationTime: null, driverInfo: {}, applicationState: {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			object := decode(t, sparkOperatorApplication(t, "pi", `{}`))
			object["status"] = decode(t, []byte(status))
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			takes(t, text)
		})
	}
}

// decodeSparkOperator decodes what the schema accepts, which must be possible.
func decodeSparkOperator(t *testing.T, object map[string]any) *v1beta2.SparkApplication {
	t.Helper()
	application := &v1beta2.SparkApplication{}
	decodeInto(t, object, application)
	if application.Undecodable != "" {
		t.Errorf("accepted, but cannot be decoded: %s", application.Undecodable)
	}
	return application
}
