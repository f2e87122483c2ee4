package config_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	logtesting "knative.dev/pkg/logging/testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

// data returns a config map with the key _example, which each of them has.
func data(pairs ...string) *corev1.ConfigMap {
	configMap := &corev1.ConfigMap{Data: map[string]string{"_example": "restart: nowhere"}}
	for i := 0; i < len(pairs); i += 2 {
		configMap.Data[pairs[i]] = pairs[i+1]
	}
	return configMap
}

func named(name string, configMap *corev1.ConfigMap) *corev1.ConfigMap {
	configMap.ObjectMeta = metav1.ObjectMeta{Namespace: "firesteel-system", Name: name}
	return configMap
}

func TestTheScopeServesNamespacesAndLabels(t *testing.T) {
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  string // of team-a/red team-a/blue team-b/red team-b/blue
		text  string
	}{
		"everything by default": {data(), "team-a/red team-a/blue team-b/red team-b/blue", "[*]"},
		"everything with empty values": {
			data("watched-namespaces", " ", "label-selector", ""), "team-a/red team-a/blue team-b/red team-b/blue", "[*]",
		},
		"everything with *, as in the Apache operator": {
			data("watched-namespaces", "*"), "team-a/red team-a/blue team-b/red team-b/blue", "[*]",
		},
		"one namespace": {data("watched-namespaces", "team-b"), "team-b/red team-b/blue", "[team-b]"},
		"several, in whatever form": {
			data("watched-namespaces", "team-b, team-a,team-b"), "team-a/red team-a/blue team-b/red team-b/blue", "[team-a, team-b]",
		},
		"a namespace without any": {data("watched-namespaces", "team-c"), "", "[team-c]"},
		"a selector":              {data("label-selector", "color=red"), "team-a/red team-b/red", "[*]"},
		"both":                    {data("label-selector", "color!=red", "watched-namespaces", "team-a"), "team-a/blue", "[team-a]"},
	} {
		t.Run(name, func(t *testing.T) {
			scope, err := config.NewScope(test.given)
			if err != nil {
				t.Fatal(err)
			}
			var served []string
			for _, namespace := range []string{"team-a", "team-b"} {
				for _, color := range []string{"red", "blue"} {
					object := &metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{"color": color}}
					if scope.Serves(object, noNamespaceLabels(t)) {
						served = append(served, namespace+"/"+color)
					}
				}
			}
			if got := strings.Join(served, " "); got != test.want || scope.Namespaces() != test.text {
				t.Errorf("the scope serves %q of %s, want %q of %s", got, scope.Namespaces(), test.want, test.text)
			}
		})
	}
}

func TestScopeOfListedNamespacesIsAllThatMayBeRead(t *testing.T) {
	listed := data("access", "namespaces", "watched-namespaces", "team-b, team-a", "label-selector", "color=red", "namespace-selector", " ")
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  []string
	}{
		"listed":               {listed, []string{"team-a", "team-b"}},
		"all may be read":      {data("access", "cluster", "watched-namespaces", "team-a"), nil},
		"nothing is set of it": {data("watched-namespaces", "team-a"), nil},
	} {
		scope, err := config.NewScope(test.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := scope.OnlyNamespaces(); !cmp.Equal(got, test.want) {
			t.Errorf("%s: only %v may be read, want %v", name, got, test.want)
		}
	}
	for want, given := range map[string]*corev1.ConfigMap{
		`namespace-selector is "spark=enabled": remove it`: data("access", "namespaces", "watched-namespaces", "a", "namespace-selector", "spark=enabled"),
		`watched-namespaces is "*": list the namespaces`:   data("access", "namespaces", "watched-namespaces", "*"),
	} {
		if _, err := config.NewScope(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// noNamespaceLabels fails the test if the scope needs the labels of a namespace.
func noNamespaceLabels(t *testing.T) config.NamespaceLabels {
	return func(namespace string) (labels.Set, bool) {
		t.Errorf("the scope needs the labels of %s", namespace)
		return nil, false
	}
}

func TestScopeWithNamespaceSelector(t *testing.T) {
	namespaces := map[string]labels.Set{"plain": nil, "enabled": {"spark": "enabled"}, "disabled": {"spark": "disabled"}}
	for name, test := range map[string]struct {
		given  *corev1.ConfigMap
		served string // of disabled enabled plain unknown, in each of which is one that is red
		text   string
		asks   bool
	}{
		"the selector alone":         {data("namespace-selector", "spark=enabled"), "enabled", "[]", true},
		"one that selects by a lack": {data("namespace-selector", "!spark"), "plain", "[]", true},
		"the list, and what is selected besides": {
			data("namespace-selector", "spark=enabled", "watched-namespaces", "plain,unknown"), "enabled plain unknown",
			"[plain, unknown]", true,
		},
		"what is listed and selected": {
			data("namespace-selector", "spark=enabled", "watched-namespaces", "enabled"), "enabled", "[enabled]", true,
		},
		"all, and what is selected besides": {
			data("namespace-selector", "spark=enabled", "watched-namespaces", "*"), "disabled enabled plain unknown", "[*]", false,
		},
		"no selector":         {data("namespace-selector", " "), "disabled enabled plain unknown", "[*]", false},
		"no selector, a list": {data("namespace-selector", "", "watched-namespaces", "plain"), "plain", "[plain]", false},
		"of what is selected, those applications that are": {
			data("namespace-selector", "spark", "label-selector", "color=red"), "disabled enabled", "[]", true,
		},
		"none of those that are not": {data("namespace-selector", "spark", "label-selector", "color=blue"), "", "[]", true},
	} {
		t.Run(name, func(t *testing.T) {
			scope, err := config.NewScope(test.given)
			if err != nil {
				t.Fatal(err)
			}
			known := func(namespace string) (labels.Set, bool) {
				its, known := namespaces[namespace]
				return its, known
			}
			if !test.asks {
				known = noNamespaceLabels(t)
			}
			var served []string
			for _, namespace := range []string{"disabled", "enabled", "plain", "unknown"} {
				object := &metav1.ObjectMeta{Namespace: namespace, Labels: map[string]string{"color": "red"}}
				if scope.Serves(object, known) {
					served = append(served, namespace)
				}
			}
			if got := strings.Join(served, " "); got != test.served || scope.Namespaces() != test.text {
				t.Errorf("the scope serves %q of %s, want %q of %s", got, scope.Namespaces(), test.served, test.text)
			}
			if scope.UsesNamespaceLabels() != test.asks {
				t.Errorf("UsesNamespaceLabels is %t", scope.UsesNamespaceLabels())
			}
		})
	}
}

func TestSettingsOfConfigDefaultsAreRead(t *testing.T) {
	hour, none := int64(3_600_000), int64(0)
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  apache.Defaults
	}{
		"none by default":   {data(), apache.Defaults{}},
		"none without data": {&corev1.ConfigMap{}, apache.Defaults{}},
		"an image": {
			data("image", "example.org/spark:{{SPARK_VERSION}}\n"), apache.Defaults{Image: "example.org/spark:{{SPARK_VERSION}}"},
		},
		"Spark properties, as in Spark's own file": {
			data("spark-defaults.conf", "# ours\nspark.eventLog.enabled   true\nspark.eventLog.dir=s3a://logs/${HOME}\n"+
				"spark.driver.extraJavaOptions -Da=b \\\n  -Dc=d\t \nspark.empty\n"),
			apache.Defaults{Properties: map[string]string{
				"spark.eventLog.enabled": "true", "spark.eventLog.dir": "s3a://logs/${HOME}",
				"spark.driver.extraJavaOptions": "-Da=b -Dc=d", "spark.empty": "",
			}},
		},
		"UIs at node ports": {
			data("ui-service-type", "NodePort", "ui-node-host", "nodes.example.com"),
			apache.Defaults{UIServiceType: corev1.ServiceTypeNodePort, Settings: dialect.Settings{UINodeHost: "nodes.example.com"}},
		},
		"UIs without a Service":     {data("ui-service-type", "none", "ui-node-host", ""), apache.Defaults{}},
		"UIs at an IP of the nodes": {data("ui-node-host", "2001:db8::7"), apache.Defaults{Settings: dialect.Settings{UINodeHost: "2001:db8::7"}}},
		"drivers without a Service": {data("driver-service", "none\n"), apache.Defaults{Settings: dialect.Settings{WithoutDriverService: true}}},
		"drivers with one":          {data("driver-service", "headless"), apache.Defaults{}},
		"one ConfigMap":             {data("driver-config-maps", "one\n"), apache.Defaults{Settings: dialect.Settings{OneDriverConfigMap: true}}},
		"separate ConfigMaps":       {data("driver-config-maps", "separate"), apache.Defaults{}},
		"a bound of all attempts":   {data("active-deadline", "24h"), apache.Defaults{ActiveDeadline: 24 * time.Hour}},
		"tolerations, as in an application": {
			data("applicationTolerations", "restartConfig:\n  restartPolicy: OnFailure\n  maxRestartAttempts: 0\nttlAfterStopMillis: 3600000\n"),
			apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{
				RestartConfig:      &sparkv1.RestartConfig{RestartPolicy: sparkv1.RestartOnFailure, MaxRestartAttempts: &none},
				TTLAfterStopMillis: &hour,
			}},
		},
		"an older spelling of a toleration": {
			data("applicationTolerations", "resourceRetentionPolicy: Always"),
			apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{
				ResourceRetainPolicy: sparkv1.RetainAlways, ResourceRetentionPolicy: sparkv1.RetainAlways,
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewDefaults(test.given)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Properties) == 0 {
				got.Properties = nil
			}
			test.want.PodSecurity.User = podsecurity.SparkUser
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDriverLogLines(t *testing.T) {
	for name, test := range map[string]struct {
		given   *corev1.ConfigMap
		want    int
		refusal string
	}{
		"none by default":             {data(), 0, ""},
		"as many as are said":         {data("driver-log-lines", " 20\n"), 20, ""},
		"fewer than none":             {data("driver-log-lines", "-1"), 0, `driver-log-lines is "-1": write a number from 0 to 100`},
		"more than there is room for": {data("driver-log-lines", "101"), 0, `driver-log-lines is "101": write a number from 0 to 100`},
		"what is no number":           {data("driver-log-lines", "all"), 0, `driver-log-lines is "all": write a number from 0 to 100`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewDefaults(test.given)
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Errorf("error is %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil || got.DriverLogLines != test.want {
				t.Errorf("%d lines, %v; want %d", got.DriverLogLines, err, test.want)
			}
		})
	}
}

func TestPodTemplateURLs(t *testing.T) {
	got, err := config.NewDefaults(data("pod-template-urls", "https://example.com/\n  s3://bucket/spark/?region=eu-west-1\n"))
	if err != nil || len(got.PodTemplates) != 2 {
		t.Errorf("templates may be at %v, %v", got, err)
	}
	if got, err := config.NewDefaults(data()); err != nil || len(got.PodTemplates) > 0 {
		t.Errorf("by default, templates may be at %v, %v", got, err)
	}
	const want = `config-defaults: pod-template-urls: "file:///etc/" is not read: Firesteel reads templates by https, s3, gs, azblob, abfss and configmap: put the template at such a URL`
	if _, err := config.NewDefaults(data("pod-template-urls", "file:///etc/")); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestPodSecurity(t *testing.T) {
	for name, test := range map[string]struct {
		given *corev1.ConfigMap
		want  podsecurity.Profile
	}{
		"off by default":         {data(), podsecurity.Profile{User: 185}},
		"off":                    {data("pod-security", "off"), podsecurity.Profile{User: 185}},
		"restricted":             {data("pod-security", " restricted "), podsecurity.Profile{Restricted: true, User: 185}},
		"another user":           {data("pod-security", "restricted", "pod-security-user", "1001"), podsecurity.Profile{Restricted: true, User: 1001}},
		"the user of the image":  {data("pod-security", "restricted", "pod-security-user", "image"), podsecurity.Profile{Restricted: true}},
		"a user, and no profile": {data("pod-security-user", "1001"), podsecurity.Profile{User: 1001}},
	} {
		t.Run(name, func(t *testing.T) {
			defaults, err := config.NewDefaults(test.given)
			if err != nil || defaults.PodSecurity != test.want {
				t.Errorf("%s has %+v, %v; want %+v", config.DefaultsName, defaults.PodSecurity, err, test.want)
			}
			kubeflow, err := config.NewKubeflow(test.given)
			if err != nil || kubeflow.PodSecurity != test.want {
				t.Errorf("%s has %+v, %v; want %+v", config.KubeflowName, kubeflow.PodSecurity, err, test.want)
			}
		})
	}
}

func TestHandlersRunWhereConfigHandlersSays(t *testing.T) {
	for name, test := range map[string]struct {
		given     *corev1.ConfigMap
		inProcess bool
	}{
		"in-process by default":                {data(), true},
		"in-process if another handler is set": {data("ttl", "external"), true},
		"in-process":                           {data("restart", "in-process"), true},
		"external":                             {data("restart", "external"), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewHandlers(test.given)
			if err != nil || got.InProcess("restart") != test.inProcess {
				t.Errorf("restart runs in-process: %t, %v; want %t", got.InProcess("restart"), err, test.inProcess)
			}
		})
	}
}

func TestSettingsOfConfigEventsAreRead(t *testing.T) {
	for name, test := range map[string]struct {
		given    *corev1.ConfigMap
		grace    time.Duration
		messages bool
	}{
		"five minutes by default":          {data(), 5 * time.Minute, false},
		"a grace":                          {data("deletion-grace", "90s"), 90 * time.Second, false},
		"none":                             {data("deletion-grace", "0s"), 0, false},
		"failure messages":                 {data("failure-messages", "enabled"), 5 * time.Minute, true},
		"failure messages by another word": {data("failure-messages", "true"), 5 * time.Minute, true},
		"no failure messages":              {data("failure-messages", "disabled"), 5 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.NewEvents(test.given)
			if err != nil || got.DeletionGrace != test.grace || got.FailureMessages != test.messages {
				t.Errorf("settings are %v, %v; want %s, %t", got, err, test.grace, test.messages)
			}
		})
	}
}

// Each error names the config map, the key, the value, and what to write instead.
func TestInvalidSettings(t *testing.T) {
	const tolerations, conf = "applicationTolerations", "spark-defaults.conf"
	for name, test := range map[string]struct {
		configMap, key, value string
		want                  string
	}{
		"an archive of another kind": {
			config.ArchiveName, "url", "http://host/archive", `config-archive: url is "http://host/archive": begin it with s3://, gs://, azblob:// or file:///`,
		},
		"an archive with credentials": {
			config.ArchiveName, "url", "s3://key:hunter2@bucket",
			`config-archive: url is "s3://*********(redacted)@bucket": write no credentials into the URL`,
		},
		"a folder of an archive that is no path": {
			config.ArchiveName, "url", "file://archive", `config-archive: url is "file://archive": write three slashes and an absolute path`,
		},
		"an archive of no namespace": {
			config.ArchiveName, "namespaces", "Team_A: s3://bucket", `config-archive: namespaces: Team_A is "s3://bucket": write the name of a namespace before the colon`,
		},
		"an archive of a namespace that is none": {
			config.ArchiveName, "namespaces", "team-a: bucket", `config-archive: namespaces: team-a is "bucket": begin it with s3://`,
		},
		"archives in another form": {
			config.ArchiveName, "namespaces", "[team-a]", `config-archive: namespaces is "[team-a]": write a namespace: url on each line`,
		},
		"a retention of less than nothing": {
			config.ArchiveName, "retention-bytes", "-1", `config-archive: retention-bytes is "-1": write a size with its unit, such as 100Gi`,
		},
		"a retention of too many digits": {
			config.ArchiveName, "retention-bytes", strings.Repeat("9", 40), `config-archive: retention-bytes is "9999999999999999999999999999999999999999": write a size with its unit, such as 100Gi`,
		},
		"a log of no bytes": {
			config.ArchiveName, "max-log-bytes", "0", `config-archive: max-log-bytes is "0": write a size with its unit, such as 100Gi`,
		},
		"a time for logs that is none": {
			config.ArchiveName, "driver-logs", "always", `config-archive: driver-logs is "always": write one of none, end, follow`,
		},
		"more logs at once than there may be": {
			config.ArchiveName, "open-streams", "1001", `config-archive: open-streams is "1001": write a number from 1 to 1000`,
		},
		"logs that are stored too often": {
			config.ArchiveName, "flush-interval", "10ms", `config-archive: flush-interval is "10ms": write a time from 1s to 10m, such as 10s`,
		},
		"a wait that is too long": {
			config.ArchiveName, "wait", "2h", `config-archive: wait is "2h": write a time from 1s to 1h, such as 2m`,
		},
		"a console without TLS": {
			config.ConsoleName, "url", "http://console.example.com", `config-console: url is "http://console.example.com": write an address such as https://firesteel.example.com`,
		},
		"a console with a password": {
			config.ConsoleName, "url", "https://user:hunter2@console.example.com", `config-console: url is "https://*********(redacted)@console.example.com": write an address`,
		},
		"users of a group of Kubernetes": {
			config.ConsoleName, "impersonation-groups", "data, System:masters", `config-console: impersonation-groups is "System:masters": leave it out`,
		},
		"users of too many groups": {
			config.ConsoleName, "impersonation-groups", strings.Repeat("g,", 65), `config-console: impersonation-groups is "` + strings.Repeat("g,", 65) + `": write up to 64 groups, separated by commas`,
		},
		"Spark UIs below a path": {
			config.ConsoleName, "spark-uis", "https://example.com/ui", `config-console: spark-uis is "https://example.com/ui": write an address such as https://*.spark-ui.example.com, without a path`,
		},
		"Spark UIs without TLS": {
			config.ConsoleName, "spark-uis", "http://*.spark-ui.example.com", `config-console: spark-uis is "http://*.spark-ui.example.com": write an address`,
		},
		"Spark UIs at one host": {
			config.ConsoleName, "spark-uis", "https://spark-ui.example.com", `config-console: spark-uis is "https://spark-ui.example.com": write an address such as https://*.spark-ui.example.com, without a path: each application's UI has a host of its own`,
		},
		"Spark UIs at one host of this machine": {
			config.ConsoleName, "spark-uis", "http://localhost:8082", `config-console: spark-uis is "http://localhost:8082": write an address`,
		},
		"a History Server below a path": {
			config.ConsoleName, "history-server", "http://history/ui", `config-console: history-server is "http://history/ui": write an address without a path`,
		},
		"a History Server without a scheme": {
			config.ConsoleName, "history-server", "history:80", `config-console: history-server is "history:80": write an address without a path`,
		},
		"actions that are neither allowed nor not": {
			config.ConsoleName, "actions", "true", `config-console: actions is "true": write one of none, allowed`,
		},
		"too many audiences": {
			config.ConsoleName, "audiences", "a,b,c,d,e,f,g,h,i", `config-console: audiences is "a,b,c,d,e,f,g,h,i": write up to 8 audiences, separated by commas`,
		},
		"a label with blanks": {
			config.ConsoleName, "team-label", "my team", `config-console: team-label is "my team": write the key of a label, such as example.com/team`,
		},
		"a price of less than nothing": {
			config.ConsoleName, "price-core-hour", "-1", `config-console: price-core-hour is "-1": write an amount from 0 to 1000000, such as 0.04`,
		},
		"a price with its currency": {
			config.ConsoleName, "price-gib-hour", "0.04 EUR", `config-console: price-gib-hour is "0.04 EUR": write an amount from 0 to 1000000, such as 0.04`,
		},
		"a price that is too high": {
			config.ConsoleName, "price-gpu-hour", "1000001", `config-console: price-gpu-hour is "1000001": write an amount from 0 to 1000000, such as 0.04`,
		},
		"a price of no currency": {
			config.ConsoleName, "price-gpu-hour", "1.2", `config-console: price-currency is "": write the currency of the prices, such as EUR`,
		},
		"a currency of two words": {
			config.ConsoleName, "price-currency", "US dollars", `config-console: price-currency is "US dollars": write a currency such as EUR, of up to 16 characters without blanks`,
		},
		"a replacement that is none": {
			config.EarlyName, "image-replacements", "kubespark/*=spark:3.5.7\nspark", `config-early: image-replacements is "kubespark/*=spark:3.5.7\nspark": write up to 64 pairs PATTERN=IMAGE`,
		},
		"a replacement by a pattern": {
			config.EarlyName, "image-replacements", "spark=spark*", `config-early: image-replacements is "spark=spark*": write up to 64 pairs PATTERN=IMAGE`,
		},
		"more replacements than there may be": {
			config.EarlyName, "image-replacements", strings.Repeat("a=b ", 65), `config-early: image-replacements is "a=b a=b `,
		},
		"a Spark that is not known": {
			config.EarlyName, "spark-version", "2.2", `config-early: spark-version is "2.2": write a version of Spark such as 3.5.7`,
		},
		"event logs in a way that is none": {
			config.ArchiveName, "event-logs", "yes", `config-archive: event-logs is "yes": write off, image or sidecar`,
		},
		"an archive of a protocol that is none": {
			config.ArchiveName, "namespaces", "a: http://logs", `config-archive: namespaces: a is "http://logs": begin it with s3://, gs://, azblob:// or file:///`,
		},
		"a treatment of quotas that is none": {
			config.AdmissionName, "quota", "wait", `config-admission: quota is "wait": write one of off, hold, fail`,
		},
		"a time to overtake without a unit": {
			config.AdmissionName, "quota-overtake", "10", `config-admission: quota-overtake is "10": write a time with its unit, such as 10m, up to `,
		},
		"a hold of less than no time": {
			config.AdmissionName, "quota-hold-timeout", "-1s", `config-admission: quota-hold-timeout is "-1s": write a time with its unit`,
		},
		"a type of Service that is none": {
			config.EarlyName, "ui-service-type", "LoadBalancer", `config-early: ui-service-type is "LoadBalancer": write one of NodePort, ClusterIP`,
		},
		"a type of Service that is none of the three": {
			config.DefaultsName, "ui-service-type", "LoadBalancer", `config-defaults: ui-service-type is "LoadBalancer": write one of none, ClusterIP, NodePort`,
		},
		"a host of the nodes with a port": {
			config.DefaultsName, "ui-node-host", "nodes.example.com:80",
			`config-defaults: ui-node-host is "nodes.example.com:80": write a name or an IP at which the nodes are reached, such as nodes.example.com, without a port`,
		},
		"a namespace that is none": {
			config.ScopeName, "watched-namespaces", "team-a,Team_B",
			`config-scope: watched-namespaces is "team-a,Team_B": ` +
				`write names of namespaces, separated by commas, or * for all ("Team_B" is not a valid name)`,
		},
		"all and one": {
			config.ScopeName, "watched-namespaces", "*,a",
			`config-scope: watched-namespaces is "*,a": ` +
				`write names of namespaces, separated by commas, or * for all ("*" is not a valid name)`,
		},
		"a selector that is none": {
			config.ScopeName, "label-selector", "team in a",
			`config-scope: label-selector is "team in a": write a label selector such as team=a,stage!=test (unable to parse requirement`,
		},
		"a selector of namespaces that is none": {
			config.ScopeName, "namespace-selector", "spark in enabled",
			`config-scope: namespace-selector is "spark in enabled": ` +
				`write a label selector such as spark=enabled,stage!=test (unable to parse requirement`,
		},
		"the Apache operator's key": {
			config.ScopeName, "watchedNamespaces", "team-a",
			`config-scope: there is no key "watchedNamespaces": write one of access, label-selector, namespace-selector, watched-namespaces`,
		},
		"an access that there is not": {
			config.ScopeName, "access", "listed", `config-scope: access is "listed": write one of cluster, namespaces`,
		},
		"access to namespaces, and none listed": {
			config.ScopeName, "access", "namespaces",
			`config-scope: watched-namespaces is "": list the namespaces, since access is namespaces; or write cluster into access`,
		},
		"a default that there is not": {
			config.DefaultsName, "color", "blue",
			`config-defaults: there is no key "color": ` +
				`write one of active-deadline, applicationTolerations, batch-schedulers, driver-config-maps, driver-log-lines, driver-service, driver-service-account, image, pod-security, pod-security-user, pod-template-urls, spark-defaults.conf`,
		},
		"accounts that are none": {
			config.NamespacesName, "service-accounts", "spark, Spark",
			`config-namespaces: service-accounts is "spark, Spark": write names of service accounts, separated by commas ("Spark" is not valid)`,
		},
		"no account": {
			config.NamespacesName, "service-accounts", " ,",
			`config-namespaces: service-accounts is " ,": write 1 to 32 names of service accounts, separated by commas`,
		},
		"a role that is none": {
			config.NamespacesName, "driver-role", "",
			`config-namespaces: driver-role is "": write the name of the ClusterRole of drivers, such as spark-driver`,
		},
		"a quota with an unknown field": {
			config.NamespacesName, "resource-quota", "soft: {}",
			`config-namespaces: resource-quota is "soft: {}": write it as spec of a ResourceQuota, or leave the key out for none (unknown field "soft"`,
		},
		"a quota that is too large to compute with": {
			config.NamespacesName, "resource-quota", "hard: {pods: 1e9999999}",
			`config-namespaces: resource-quota is "hard: {pods: 1e9999999}": write it as spec of a ResourceQuota, or leave the key out for none (hard.pods`,
		},
		"labels that are none": {
			config.NamespacesName, "labels", "a b: c",
			`config-namespaces: labels is "a b: c": write labels, a key: value on each line (`,
		},
		"a handler that there is not": {
			config.HandlersName, "restrat", "external", `config-handlers: there is no key "restrat": write one of archive, namespace, restart, schedule, ttl`,
		},
		"a place that there is not": {
			config.HandlersName, "restart", "External", `config-handlers: restart is "External": write in-process or external`,
		},
		"a handler that cannot be off": {
			config.HandlersName, "ttl", "off", `config-handlers: ttl is "off": write in-process or external`,
		},
		"a place of an opt-in handler that there is not": {
			config.HandlersName, "namespace", "on", `config-handlers: namespace is "on": write off, in-process or external`,
		},
		"no place": {config.HandlersName, "ttl", "", `config-handlers: ttl is "": write in-process or external`},
		"a grace below zero": {
			config.EventsName, "deletion-grace", "-1s",
			`config-events: deletion-grace is "-1s": write a time of zero or more with its unit, such as 90s or 5m`,
		},
		"failure messages that are neither on nor off": {
			config.EventsName, "failure-messages", "some",
			`config-events: failure-messages is "some": write enabled or disabled`,
		},
		"a usage label that no object can have": {
			config.EventsName, "usage-labels", "team, a b/c!",
			`config-events: usage-labels is "b/c!": write the names of labels, with commas between them, such as team, example.com/cost-center`,
		},
		"too many usage labels": {
			config.EventsName, "usage-labels", "a,b,c,d,e", `config-events: usage-labels is "a,b,c,d,e": name no more than 4 labels`,
		},
		"a grace without a unit": {
			config.EventsName, "deletion-grace", "5",
			`config-events: deletion-grace is "5": write a time of zero or more with its unit, such as 90s or 5m`,
		},
		"a property that is not Spark's": {
			config.DefaultsName, conf, "hadoop.x 1",
			`config-defaults: spark-defaults.conf: hadoop.x is "1": Spark reads only keys that begin with spark., so correct it or remove it`,
		},
		"a property that would be the same for all": {
			config.DefaultsName, conf, "spark.app.id=x",
			`config-defaults: spark-defaults.conf: spark.app.id is "x": each application needs its own value, so remove it`,
		},
		"several properties": {
			config.DefaultsName, conf, "spark.submit.deployMode client\nx y",
			"config-defaults: spark-defaults.conf: spark.submit.deployMode is \"client\": each application needs its own value, so remove it\n" +
				"spark-defaults.conf: x is \"y\": ",
		},
		"a file that cannot be read": {
			config.DefaultsName, conf, `spark.x \u12`,
			`config-defaults: spark-defaults.conf is "spark.x \\u12": write a key and a value on each line, as in Spark's file of this name (`,
		},
		"tolerations that are no YAML": {
			config.DefaultsName, tolerations, "{",
			`config-defaults: applicationTolerations is "{": write it as spec.applicationTolerations of an application (`,
		},
		"a toleration that there is not": {
			config.DefaultsName, tolerations, "restartConfig: {restartPolcy: Never}",
			`config-defaults: applicationTolerations is "restartConfig: {restartPolcy: Never}": ` +
				`write it as spec.applicationTolerations of an application (unknown field "restartConfig.restartPolcy")`,
		},
		"a toleration in the wrong case": {
			config.DefaultsName, tolerations, "ttlafterstopmillis: 1",
			`config-defaults: applicationTolerations is "ttlafterstopmillis: 1": ` +
				`write it as spec.applicationTolerations of an application (unknown field "ttlafterstopmillis")`,
		},
		"a toleration twice": {
			config.DefaultsName, tolerations, "ttlAfterStopMillis: 1\nttlAfterStopMillis: 2",
			`config-defaults: applicationTolerations is "ttlAfterStopMillis: 1\nttlAfterStopMillis: 2": `,
		},
		"a word for a number": {
			config.DefaultsName, tolerations, "ttlAfterStopMillis: 1h",
			`config-defaults: applicationTolerations is "ttlAfterStopMillis: 1h": write it as spec.applicationTolerations of an application (`,
		},
		"a driver's Service that there is not": {
			config.DefaultsName, "driver-service", "None", `config-defaults: driver-service is "None": write headless or none`,
		},
		"ConfigMaps of a driver that there are not": {
			config.DefaultsName, "driver-config-maps", "two", `config-defaults: driver-config-maps is "two": write separate or one`,
		},
		"a service account that there cannot be": {
			config.DefaultsName, "driver-service-account", "Spark!",
			`config-defaults: driver-service-account is "Spark!": write the name of a service account, such as spark`,
		},
		"a profile that there is not": {
			config.DefaultsName, "pod-security", "baseline", `config-defaults: pod-security is "baseline": write one of off, restricted`,
		},
		"root for restricted Pods": {
			config.KubeflowName, "pod-security-user", "0",
			`config-kubeflow: pod-security-user is "0": write the number of a user that is not root, such as 185, or image`,
		},
		"a restart policy that there is not": {
			config.DefaultsName, tolerations, "restartConfig: {restartPolicy: Sometimes}",
			`config-defaults: applicationTolerations: restartConfig.restartPolicy is "Sometimes": ` +
				`write one of [Always Never OnFailure OnInfrastructureFailure]`,
		},
		"a retain policy that there is not": {
			config.DefaultsName, tolerations, "resourceRetentionPolicy: Sometimes",
			`config-defaults: applicationTolerations: resourceRetainPolicy is "Sometimes": write one of [Always OnFailure Never]`,
		},
		"a long value": {
			config.DefaultsName, tolerations, "{" + strings.Repeat("x", 300),
			`config-defaults: applicationTolerations is "{` + strings.Repeat("x", 252) + `...": write it as`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := rejectionOf(t, named(test.configMap, data(test.key, test.value)))
			if !strings.HasPrefix(refusal, test.want) {
				t.Errorf("error is\n%s\nwant\n%s", refusal, test.want)
			}
		})
	}
	for _, field := range []string{
		"restartConfig.maxRestartAttempts", "restartConfig.restartBackoffMillis", "restartConfig.maxRestartOnFailure",
		"restartConfig.restartBackoffMillisForFailure", "restartConfig.maxRestartOnSchedulingFailure",
		"restartConfig.restartBackoffMillisForSchedulingFailure",
		"instanceConfig.initExecutors", "instanceConfig.minExecutors", "instanceConfig.maxExecutors",
	} {
		t.Run(field+" below zero", func(t *testing.T) {
			section, name, _ := strings.Cut(field, ".")
			refusal := rejectionOf(t, named(config.DefaultsName, data(tolerations, section+": {"+name+": -1}")))
			if want := `config-defaults: applicationTolerations: ` + field + ` is "-1": write zero or more`; refusal != want {
				t.Errorf("error is\n%s\nwant\n%s", refusal, want)
			}
		})
	}
}

// rejectionOf returns the error of a store for an invalid config map.
func rejectionOf(t *testing.T, configMap *corev1.ConfigMap) string {
	t.Helper()
	refusal := ""
	store := config.NewStore(zap.NewNop().Sugar(), ignoreChange, func(_ *corev1.ConfigMap, err error) { refusal = err.Error() })
	store.OnConfigChanged(named(configMap.Name, data()))
	before := store.Load()
	store.OnConfigChanged(configMap)
	if refusal == "" || store.Load() != before {
		t.Errorf("%v was accepted: %+v", configMap.Data, store.Load())
	}
	return refusal
}

func ignoreChange(*config.Config, *config.Config) {}

func TestStoreFollowsTheConfigMaps(t *testing.T) {
	var images []string
	store := config.NewStore(logtesting.TestLogger(t), func(before, after *config.Config) {
		images = append(images, before.Defaults.Image+" to "+after.Defaults.Image)
	}, func(_ *corev1.ConfigMap, err error) { t.Error(err) })
	before := store.Load()
	if before.Defaults.Image != "" || !before.Handlers.InProcess("restart") || before.Events.DeletionGrace != 5*time.Minute ||
		before.Scope.Namespaces() != "[*]" {
		t.Errorf("settings that were never read do not have their defaults: %+v", before)
	}
	store.OnConfigChanged(named(config.HandlersName, data("restart", "external")))
	store.OnConfigChanged(named(config.DefaultsName, data("image", "ours")))
	store.OnConfigChanged(named(config.EventsName, data("deletion-grace", "1m")))
	store.OnConfigChanged(named(config.ScopeName, data("watched-namespaces", "team-a")))
	after := config.FromContext(store.ToContext(context.Background()))
	if after.Defaults.Image != "ours" || after.Handlers.InProcess("restart") || after.Events.DeletionGrace != time.Minute ||
		after.Scope.Namespaces() != "[team-a]" {
		t.Errorf("the config maps are not followed: %+v", after)
	}
	if !before.Handlers.InProcess("restart") {
		t.Error("a snapshot changed")
	}
	if diff := cmp.Diff([]string{" to ", " to ours", "ours to ours", "ours to ours"}, images); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestStoreKeepsTheLastValidConfigMap(t *testing.T) {
	core, logs := observer.New(zapcore.ErrorLevel)
	refused := 0
	store := config.NewStore(zap.New(core).Sugar(), ignoreChange, func(*corev1.ConfigMap, error) { refused++ })
	store.OnConfigChanged(named(config.HandlersName, data("restart", "external")))
	store.OnConfigChanged(named(config.HandlersName, data("restart", "both")))
	if store.Load().Handlers.InProcess("restart") {
		t.Error("an invalid config map replaced a setting with its default")
	}
	if lines := logs.All(); refused != 1 || len(lines) != 1 || lines[0].ContextMap()["configMap"] != "firesteel-system/config-handlers" {
		t.Errorf("rejected %d times, and logged %v", refused, lines)
	}
	store.OnConfigChanged(named(config.HandlersName, data("restart", "in-process")))
	if !store.Load().Handlers.InProcess("restart") {
		t.Error("the correction is not followed")
	}
}

// With other settings than the intended ones, the controller might delete objects that should be retained.
func TestStoreEndsTheProcessForAnInvalidConfigMapAtItsStart(t *testing.T) {
	core, logs := observer.New(zapcore.FatalLevel)
	logger := zap.New(core, zap.WithFatalHook(zapcore.WriteThenPanic)).Sugar()
	store := config.NewStore(logger, ignoreChange, func(*corev1.ConfigMap, error) { t.Error("the process should have ended") })
	defer func() {
		if recover() == nil || len(logs.All()) != 1 {
			t.Errorf("the process continued, and logged %v", logs.All())
		}
	}()
	store.OnConfigChanged(named(config.EventsName, data("deletion-grace", "soon")))
}

func TestContextWithoutConfig(t *testing.T) {
	if got := config.FromContext(context.Background()); got != nil {
		t.Errorf("an empty context has the configuration %+v", got)
	}
}
