package install

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"go.uber.org/zap"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// validated returns why the chart refuses values. It renders nothing else.
func validated(t *testing.T, loaded *chart.Chart, values map[string]any) error {
	t.Helper()
	only := *loaded
	only.Templates = []*chart.File{{Name: "templates/validate.yaml", Data: []byte(`{{ include "firesteel.validate" . }}`)}}
	for _, file := range loaded.Templates {
		if filepath.Ext(file.Name) == ".tpl" {
			only.Templates = append(only.Templates, file)
		}
	}
	options := chartutil.ReleaseOptions{Name: "firesteel", Namespace: systemNamespace, Revision: 1, IsInstall: true}
	complete, err := chartutil.ToRenderValues(&only, values, options, nil)
	if err == nil {
		_, err = engine.Render(&only, complete)
	}
	return err
}

// settings returns the problems of the chart and of the controller with some keys of a ConfigMap.
func settings(t *testing.T, loaded *chart.Chart, name, keys string) (ofChart, ofController error) {
	t.Helper()
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(keys), &given); err != nil {
		t.Fatal(err)
	}
	ofChart = validated(t, loaded, map[string]any{"settings": map[string]any{name: given}, "controller": map[string]any{"driverLogs": true}})
	data := map[string]string{}
	for key, value := range given {
		text, ok := value.(string)
		if !ok {
			encoded, err := yaml.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			text = strings.TrimSpace(string(encoded))
		}
		data[key] = text
	}
	return ofChart, refusal(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: name}, Data: data})
}

// refusal returns why the controller refuses a ConfigMap.
func refusal(t *testing.T, configMap *corev1.ConfigMap) (refused error) {
	t.Helper()
	if !slices.Contains(config.Names(), configMap.Name) {
		return knative.Check(t.Context(), fake.NewClientset(configMap).CoreV1().ConfigMaps(systemNamespace))
	}
	store := config.NewStore(zap.NewNop().Sugar(), func(_, _ *config.Config) {}, func(_ *corev1.ConfigMap, err error) { refused = err })
	empty := configMap.DeepCopy()
	empty.Data = nil
	store.OnConfigChanged(empty)
	store.OnConfigChanged(configMap)
	return refused
}

// The chart computes with times, and Helm runs in the time zone of its user.
func TestDurationsAreTheSameInEachTimeZone(t *testing.T) {
	loaded, local := load(t), time.Local
	defer func() { time.Local = local }()
	for _, hours := range []time.Duration{-12, 0, 14} {
		time.Local = time.FixedZone("user's", int((hours * time.Hour).Seconds()))
		for keys, refused := range map[string]bool{
			"{lease-duration: 15s, renew-deadline: 10s, retry-period: 9s}": true, "{lease-duration: 15s, renew-deadline: 10s, retry-period: 2s}": false,
		} {
			if ofChart, _ := settings(t, loaded, "config-leader-election", keys); (ofChart != nil) != refused {
				t.Errorf("%d hours from UTC, the chart's error about %s is %v", hours, keys, ofChart)
			}
		}
	}
}

func TestSettingsThatTheControllerRefusesAreRefusedByTheChart(t *testing.T) {
	loaded := load(t)
	for _, test := range []struct{ configMap, keys, want string }{
		{"config-scope", "namespace-selector: spark in enabled", `settings.config-scope.namespace-selector is "spark in enabled": write a label selector such as`},
		{"config-scope", "label-selector: 'team=a,'", `settings.config-scope.label-selector is "team=a,": write a label selector such as`},
		{"config-scope", "watched-namespaces: " + strings.Repeat("a", 64), "/settings/config-scope/watched-namespaces"},
		{"config-leader-election", "{lease-duration: 15s, renew-deadline: 20s, retry-period: 2s}", "lease-duration, renew-deadline, retry-period 15s, 20s, 2s: write each longer than the next"},
		{"config-leader-election", "{lease-duration: 15s, renew-deadline: 10s, retry-period: 9s}", "15s, 10s, 9s: write each longer than the next"},
		{"config-leader-election", "retry-period: 0s", "/settings/config-leader-election/retry-period"},
		{"config-defaults", "active-deadline: 87601h", "settings.config-defaults.active-deadline is 87601h: write a time with its unit, such as 10m, up to 87600h"},
		{"config-kubeflow", "driver-start-timeout: 99999999h", "settings.config-kubeflow.driver-start-timeout is 99999999h: write a time"},
		{"config-kubeflow", "executors-start-timeout: 90000h", "settings.config-kubeflow.executors-start-timeout is 90000h: write a time"},
		{"config-defaults", "driver-log-lines: '101'", "/settings/config-defaults/driver-log-lines"},
		{"config-archive", "open-streams: 0", "/settings/config-archive/open-streams"},
		{"config-archive", "open-streams: '000'", "/settings/config-archive/open-streams"},
		{"config-kubeflow", "max-tracked-executors: '5001'", "/settings/config-kubeflow/max-tracked-executors"},
		{"config-defaults", "spark-defaults.conf: |\n  spark.a b\n  hadoop.x 1", `settings.config-defaults.spark-defaults.conf has the key "hadoop.x": Spark reads only keys`},
		{"config-kubeflow", "spark-defaults.conf: spark.app.name=x", `settings.config-kubeflow.spark-defaults.conf has the key "spark.app.name": each application needs its own`},
		{"config-defaults", "applicationTolerations: {restartConfig: {restartPolcy: Never}}", "'restartPolicy'"},
		{"config-defaults", "applicationTolerations: {restartConfig: {restartPolicy: never}}", "'Always', 'Never'"},
		{"config-defaults", "applicationTolerations: {instanceConfig: {minExecutors: -1}}", "/instanceConfig/minExecutors"},
		{"config-defaults", "applicationTolerations: 'restart: {}'", `settings.config-defaults.applicationTolerations has the key "restart": write applicationTimeoutConfig, instanceConfig`},
		{"config-defaults", "applicationTolerations: '{'", "settings.config-defaults.applicationTolerations is not readable: write it in YAML"},
		{"config-defaults", "pod-template-urls: https://a/b file:///etc/", "/settings/config-defaults/pod-template-urls"},
		{"config-defaults", "pod-template-urls: abfss://j.dfs.core.windows.net/k/", "/settings/config-defaults/pod-template-urls"},
		{"config-defaults", "pod-security: baseline", "/settings/config-defaults/pod-security"},
		{"config-defaults", "pod-security-user: 0", "/settings/config-defaults/pod-security-user"},
		{"config-kubeflow", "pod-security-user: '2147483648'", "/settings/config-kubeflow/pod-security-user"},
		{"config-kubeflow", "denied-spark-properties: spark.*.a", "/settings/config-kubeflow/denied-spark-properties"},
		{"config-kubeflow", "default-batch-scheduler: volcano", "settings.config-kubeflow.default-batch-scheduler is \"volcano\": write it into settings.config-kubeflow.batch-schedulers, too"},
		{"config-kubeflow", "ingress-url-format: example.com:80/a", "/settings/config-kubeflow/ingress-url-format"},
		{"config-kubeflow", "ingress-url-format: '{{$name}}.example.com'", "/settings/config-kubeflow/ingress-url-format"},
		{"config-kubeflow", "ui-gateway: {name: public}", "/settings/config-kubeflow/ui-gateway"},
		{"config-early", "ui-gateway: {urlFormat: a}", "/settings/config-early/ui-gateway"},
		{"config-kubeflow", "ui-gateway: 'nam: public'", `settings.config-kubeflow.ui-gateway has the key "nam": write listener, name, namespace, urlFormat`},
		{"config-kubeflow", "ingress-tls: [{host: a}]", "/settings/config-kubeflow/ingress-tls/0"},
		{"config-kubeflow", "ingress-annotations: {a b: c}", "/settings/config-kubeflow/ingress-annotations"},
		{"config-kubeflow", "ingress-annotations: a", "settings.config-kubeflow.ingress-annotations is not readable: write it in YAML"},
		{"config-kubeflow", "metrics-labels: 'a-b, a_b'", `settings.config-kubeflow.metrics-labels has "a_b" twice: remove one`},
		{"config-kubeflow", "metrics-labels: le", `settings.config-kubeflow.metrics-labels has "le", a label of Prometheus's own: remove it`},
		{"config-kubeflow", "metrics-start-latency-buckets: '10, 5'", `settings.config-kubeflow.metrics-start-latency-buckets is "10, 5": write increasing numbers`},
		{"config-namespaces", "labels: {team: a b}", "/settings/config-namespaces/labels/team"},
		{"config-namespaces", "service-accounts: " + strings.Repeat("spark,", 33), "/settings/config-namespaces/service-accounts"},
		{"config-namespaces", "resource-quota: {soft: {}}", "'hard', 'scopeSelector', 'scopes'"},
		{"config-namespaces", "resource-quota: {hard: {pods: ten}}", "/settings/config-namespaces/resource-quota/hard/pods"},
		{"config-namespaces", "resource-quota: 'soft: {}'", `settings.config-namespaces.resource-quota has the key "soft": write hard, scopeSelector, scopes`},
		{"config-namespaces", "limit-range: {limits: [{typ: Pod}]}", "/settings/config-namespaces/limit-range/limits/0"},
		{"config-namespaces", "network-policy: {ingress: [{port: 1}]}", "/settings/config-namespaces/network-policy/ingress/0"},
		{"config-early", "spark-version: '2.2'", "/settings/config-early/spark-version"},
		{"config-early", "image-replacements: " + strings.Repeat("a=b ", 65), "/settings/config-early/image-replacements"},
		{"config-logging", "zap-logger-config: '{'", "settings.config-logging.zap-logger-config is not readable: write zap's configuration in JSON"},
		{"config-observability", "tracing-protocol: grpc", "settings.config-observability.tracing-protocol is grpc, and no address is given: set settings.config-observability.tracing-endpoint"},
		{"config-observability", "tracing-endpoint: 'http://a:4318'", "settings.config-observability.tracing-endpoint is set, and tracing-protocol is none: remove one"},
		{"config-observability", "tracing-sampling-rate: '2'", "settings.config-observability.tracing-sampling-rate is 2: write a number from 0 to 1"},
		{"config-observability", "metrics-export-interval: 0s", "/settings/config-observability/metrics-export-interval"},
	} {
		ofChart, ofController := settings(t, loaded, test.configMap, test.keys)
		if ofController == nil {
			t.Errorf("the controller takes %s of %s", test.keys, test.configMap)
		}
		if ofChart == nil || !strings.Contains(ofChart.Error(), test.want) {
			t.Errorf("%s of %s: the chart's error is %v, want %s in it", test.keys, test.configMap, ofChart, test.want)
		}
	}
	values := map[string]any{"spark": map[string]any{"jobNamespaces": []any{"a"}, "jobNamespaceSelector": "a in b"}}
	if err := validated(t, loaded, values); err == nil || !strings.Contains(err.Error(), `spark.jobNamespaceSelector is "a in b": write a label selector`) {
		t.Errorf("the error is %v", err)
	}
}

func TestSettingsThatTheControllerTakesAreTakenByTheChart(t *testing.T) {
	loaded := load(t)
	for configMap, keys := range map[string]string{
		"config-scope":           "{namespace-selector: '!a,b in (c, d) ,e', label-selector: 'example.com/a notin (,b),c>5,d==', watched-namespaces: 'a, b'}",
		"config-leader-election": "{lease-duration: 1m0.5s, renew-deadline: 12s, retry-period: 9.9s}",
		"config-defaults": `{active-deadline: " 87600h ", driver-log-lines: "+0100", "spark-defaults.conf": "# a b\n! c\n\n spark.a b\nspark.c=d\nspark.e:f\nspark.g h\\\n  i", ` +
			`applicationTolerations: {restartConfig: {restartPolicy: OnFailure, restartCounterResetMillis: -1}, resourceRetainPolicy: Always}, ` +
			`pod-template-urls: "https://a.example.com:8443/b/ s3://c?region=d gs://e/f.yaml azblob://g/?storage_account=h00 abfss://i00@j.dfs.core.windows.net/k/ configmap://l/m.yaml", pod-security: restricted, pod-security-user: 2147483647}`,
		"config-kubeflow": `{denied-spark-properties: "spark.a, spark.b.*", batch-schedulers: volcano yunikorn, default-batch-scheduler: yunikorn, driver-start-timeout: 0s, ` +
			`ingress-url-format: "https://{{ $appName }}.example.com/a/{{$appNamespace}}", ui-gateway: {name: public, urlFormat: "{{$appName}}.example.com"}, ` +
			`ingress-tls: [{hosts: [a], secretName: b}], ingress-annotations: {example.com/a: b}, metrics-labels: "a-b, c", metrics-start-latency-buckets: "1e-3, 5,+Inf", max-tracked-executors: 5000, pod-security: "off", pod-security-user: image}`,
		"config-namespaces": `{labels: "a: b", service-accounts: "spark, other", resource-quota: {hard: {cpu: 1.5, pods: " 1e2 ", memory: 10Gi}, scopes: [BestEffort]}, ` +
			`limit-range: {limits: [{type: Container, default: {cpu: 100m}}]}, network-policy: {podSelector: {matchLabels: {a: b}}, policyTypes: [Ingress], ingress: [{ports: [{port: 80}, {port: http, protocol: TCP}]}]}}`,
		"config-early":         "{spark-version: v4_2_0, image-replacements: 'a/*=b:1, c=d'}",
		"config-logging":       `{zap-logger-config: '{"level": "info"}'}`,
		"config-observability": "{tracing-protocol: grpc, tracing-endpoint: 'http://a:4317', tracing-sampling-rate: '1e-2', metrics-export-interval: 30s}",
	} {
		if ofChart, ofController := settings(t, loaded, configMap, keys); ofChart != nil || ofController != nil {
			t.Errorf("%s of %s: the chart says %v, the controller %v", keys, configMap, ofChart, ofController)
		}
	}
}

// Selectors of random pieces are refused by the chart if Kubernetes cannot parse them, and only then.
func TestSelectorsAreThoseThatKubernetesParses(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chartFolder, "templates/_check_settings.tpl"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(&chart.Chart{
		Metadata: &chart.Metadata{Name: "pattern"},
		Templates: []*chart.File{
			{Name: "templates/_check_settings.tpl", Data: text},
			{Name: "templates/pattern.txt", Data: []byte(`{{ include "firesteel.selectorPattern" . }}`)},
		},
	}, chartutil.Values{"Values": map[string]any{}, "Chart": nil})
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(files["pattern/templates/pattern.txt"])
	pieces := []string{"a", "b.c/d", "B_", "-", "1", "5", "=", "==", "!=", "!", ">", "<", " in ", " notin ", "in", "(", ")", "(a)", "(a, b)", "(,", ",", ",", " ", "\n", "/"}
	const seed = 20260301
	rng, parsed := rand.New(rand.NewPCG(seed, seed)), 0
	for range 30_000 {
		var selector strings.Builder
		for range rng.IntN(9) {
			selector.WriteString(pieces[rng.IntN(len(pieces))])
		}
		_, err := labels.Parse(selector.String())
		if matches := pattern.MatchString(selector.String()); matches != (err == nil) {
			t.Fatalf("the selector %q: the chart takes it: %t; Kubernetes says %v", selector.String(), matches, err)
		}
		if err == nil {
			parsed++
		}
	}
	if parsed < 1000 {
		t.Errorf("only %d of the selectors are valid", parsed)
	}
}
