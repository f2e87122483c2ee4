package install

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// digest is that of an image.
var digest = "sha256:" + strings.Repeat("1", 64)

// expect fails the test if an object does not contain what is wanted, written as YAML. Lists must be equal.
func expect(t *testing.T, o *object, want string) {
	t.Helper()
	wanted := map[string]any{}
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, part(got, wanted)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", key(o), diff)
	}
}

// part returns what got has of the keys of want.
func part(got, want any) any {
	object, isObject := got.(map[string]any)
	wanted, wantsObject := want.(map[string]any)
	if !isObject || !wantsObject {
		return got
	}
	found := map[string]any{}
	for key := range wanted {
		if value, ok := object[key]; ok {
			found[key] = part(value, wanted[key])
		}
	}
	return found
}

func TestValuesThatContradictAreRefusedWithTheRemedy(t *testing.T) {
	for values, want := range map[string]string{
		"settings: {config-handlers: {ttl: external}}": "settings.config-handlers.ttl is external, and no event reaches a handler without a sink: " +
			"set controller.sink.uri or eventing.enable=true",
		"eventing: {enable: true}\ncontroller: {sink: {uri: http://sink}}": "controller.sink.uri is set, and so is eventing.enable, whose SinkBinding " +
			"sets the same: remove one of them",
		"eventing: {oidc: true}": "eventing.oidc is true, and there is no handler behind a Broker: set eventing.enable=true",
		"controller: {sink: {uri: http://sink, audience: sink}}": "controller.sink.audience is set, and tokens are sent over https only: " +
			"write an https URL into controller.sink.uri",
		"controller: {rbac: {scope: Namespaces}}": "controller.rbac.scope is Namespaces, and spark.jobNamespaces stands for all namespaces: " +
			`list the namespaces there, without "", or write Cluster`,
		"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: []}": "controller.rbac.scope is Namespaces, and spark.jobNamespaces",
		"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [a], jobNamespaceSelector: a=b}": "controller.rbac.scope is Namespaces, and " +
			"spark.jobNamespaceSelector selects others: remove the selector, or write Cluster",
		"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [a]}\nsettings: {config-scope: {access: cluster}}":         "settings.config-scope.access is cluster, and controller.rbac.scope is Namespaces: remove",
		"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [a]}\nsettings: {config-scope: {namespace-selector: a=b}}": "settings.config-scope.namespace-selector is set, and controller.rbac.scope is Namespaces: remove",
		"spark: {jobNamespaces: [a]}\nsettings: {config-scope: {access: namespaces}}":                                               "settings.config-scope.access is namespaces, and controller.rbac.scope is Cluster: write Namespaces",
		"otherOperators: {notice: true}\ncontroller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [a]}": "otherOperators.notice is true, and " +
			"controller.rbac.scope is Namespaces: other operators are in other namespaces; remove one of them",
		"spark: {jobNamespaces: [a]}\nsettings: {config-scope: {watched-namespaces: b}}": "settings.config-scope.watched-namespaces is set, and so is " +
			`spark.jobNamespaces: add "" to spark.jobNamespaces, or remove the setting`,
		"spark: {jobNamespaces: [a], jobNamespaceSelector: a=b}\nsettings: {config-scope: {namespace-selector: b}}": "settings.config-scope.namespace-selector " +
			"is set, and so is spark.jobNamespaceSelector: remove one of them",
		"spark: {jobNamespaceSelector: a=b}": `spark.jobNamespaceSelector is set, and spark.jobNamespaces has "", which stands for all namespaces: ` +
			`remove "" from the list`,
		"settings: {config-kubeflow: {driver-log-lines: 20}}": "settings.config-kubeflow.driver-log-lines is 20, and the controller may not read logs: " +
			"set controller.driverLogs=true",
		"prometheus: {podMonitor: {create: true}}\nsettings: {config-observability: {metrics-protocol: none}}": "prometheus.podMonitor.create is true, and no " +
			"metrics are served: set settings.config-observability.metrics-protocol=prometheus",
		"prometheus: {service: {create: false}, serviceMonitor: {create: true}}": "prometheus.serviceMonitor.create is " +
			"true, and there is no Service to monitor: set prometheus.service.create=true",
		"settings: {config-observability: {metrics-protocol: grpc}}": "settings.config-observability.metrics-protocol is grpc, and no address is given: set " +
			"settings.config-observability.metrics-endpoint",
		"settings: {config-observability: {metrics-protocol: none, metrics-endpoint: ':9090'}}": "settings.config-observability.metrics-endpoint is set, and " +
			"metrics-protocol is none: remove one of them",
		"settings: {config-observability: {metrics-endpoint: '9090'}}": "settings.config-observability.metrics-endpoint is 9090, and has no port for " +
			"Prometheus: write an address such as :9090",
		"settings: {config-observability: {metrics-endpoint: ':8080'}}": "settings.config-observability.metrics-endpoint is :8080, and the controller's " +
			"probes have the port 8080: write another port, such as :9090",
		"commonLabels: {app.kubernetes.io/part-of: platform}": "commonLabels has app.kubernetes.io/part-of, which the chart sets itself: remove this label",
		"hook: {labels: {app.kubernetes.io/name: job}}":       "hook.labels has app.kubernetes.io/name, which the chart sets itself: remove this label",
		"eventing: {enable: true, broker: {class: Kafka}}": "eventing.broker.class is Kafka, and networkPolicy.enable lets in no Pods of such a Broker: list them " +
			"in networkPolicy.eventsIngress",
		"eventing: {enable: true, broker: {channelTemplateSpec: 'kind: KafkaChannel'}}": "eventing.broker.channelTemplateSpec is of another channel than InMemoryChannel, " +
			"and networkPolicy.enable",
		"image: {tag: v2, digest: " + digest + "}\nhook: {image: {digest: " + digest + "}}": "image.tag is v2, and a digest wins over it: remove image.tag, " +
			`or set to "": image.digest, hook.image.digest`,
		"controller: {podDisruptionBudget: {minAvailable: 1}}": "controller.podDisruptionBudget.minAvailable is 1 of 1 replicas, so that no node could be " +
			"drained: write less, more controller.replicas",
		"controller: {replicas: 3, podDisruptionBudget: {minAvailable: 67%}}": "controller.podDisruptionBudget.minAvailable is 67% of 3 replicas",
		"controller: {env: [{name: SYSTEM_NAMESPACE, value: a}]}":             "controller.env has SYSTEM_NAMESPACE, which the chart sets itself: remove it",
		"chartVersion: 1.2.2":                    "chartVersion is 1.2.2, and the chart is 0.0.0: remove chartVersion",
		"fullnameOverride: Team_B":               "'Team_B' does not match pattern",
		"image: {repository: ''}":                "at '/image/repository': minLength",
		"spark: {jobNamespaces: null}":           "spark.jobNamespaces is null: remove the key to have the default, or give it a value",
		"networkPolicy: {enable: null}":          "networkPolicy.enable is null: remove the key",
		"controller: null":                       "controller is null: remove the key",
		"controller: {replica: 2}":               "'replicas'",
		"settings: {config-handlers: {ttl: on}}": "value must be one of 'in-process', 'external'",
	} {
		if _, _, err := (release{"firesteel", systemNamespace, values}).render(t); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s in it", values, err, want)
		}
	}
}

// helm upgrade --reuse-values keeps the values of the other chart, which may have no version, and may lack values of this one.
func TestValuesOfAnotherChartAreRefusedForThatAlone(t *testing.T) {
	for version, found := range map[string]string{"null": "not set", "1.2.2": "1.2.2"} {
		_, _, err := release{"firesteel", systemNamespace, "apis: null\neventing: {oidc: true}\nchartVersion: " + version}.render(t)
		want := "chartVersion is " + found + ", and the chart is 0.0.0: remove chartVersion from your values. For helm upgrade, write --reset-then-reuse-values"
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "apis") || strings.Contains(err.Error(), "oidc") {
			t.Errorf("%s: error is %v, want %s in it alone", version, err, want)
		}
	}
}

// Each value may be null, or is refused by its name: no template fails. All handlers run behind a Broker, so that all templates are used.
func TestNullsAreRefusedByNameOrStandForNothing(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string]any{}
	if err := yaml.Unmarshal(text, &defaults); err != nil {
		t.Fatal(err)
	}
	delete(defaults, "chartVersion") // it is refused alone
	const refusal = " is null: remove the key to have the default, or give it a value"
	null := func(keys ...[]string) error {
		values := map[string]any{"eventing": map[string]any{"enable": true}, "webhook": map[string]any{"enable": true}, "history": map[string]any{"enable": true}}
		for _, key := range keys {
			if err := unstructured.SetNestedField(values, nil, key...); err != nil {
				t.Fatal(err)
			}
		}
		text, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = release{"firesteel", systemNamespace, string(text)}.render(t)
		return err
	}
	sections, leaves := paths(nil, defaults)
	for _, section := range sections {
		if err := null(section); err != nil && !strings.Contains(err.Error(), "\n"+strings.Join(section, ".")+refusal) {
			t.Errorf("%v: null fails with %v", section, err)
		}
	}
	err = null(leaves...)
	if err == nil {
		t.Fatal("all values may be null")
	}
	allowed := slices.DeleteFunc(leaves, func(leaf []string) bool { return strings.Contains(err.Error(), "\n"+strings.Join(leaf, ".")+refusal) })
	if len(allowed) < 60 {
		t.Errorf("only %d values may be null", len(allowed))
	}
	if err := null(allowed...); err != nil {
		t.Errorf("null for %v fails with %v", allowed, err)
	}
}

// paths returns the paths of the sections and of the other values.
func paths(path []string, values map[string]any) (sections, leaves [][]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		below := append(slices.Clone(path), key)
		if section, ok := values[key].(map[string]any); ok && len(section) > 0 {
			inner, innerLeaves := paths(below, section)
			sections, leaves = append(append(sections, below), inner...), append(leaves, innerLeaves...)
		} else {
			leaves = append(leaves, below)
		}
	}
	return sections, leaves
}

func TestSettingsAreTheDataOfConfigMaps(t *testing.T) {
	all := with(t, `
spark: {jobNamespaces: [team-a, team-b], jobNamespaceSelector: spark=enabled}
controller: {driverLogs: true}
settings:
  config-defaults:
    active-deadline: 24h
    driver-log-lines: 20
    applicationTolerations: {restartConfig: {restartPolicy: Never, maxRestartAttempts: 1000000}}
    spark-defaults.conf: |
      spark.eventLog.enabled true
  config-kubeflow:
    ingress-tls: [{hosts: [a.example.com]}]
    driver-pod-disruption-budget: enabled
  config-leader-election: {buckets: 4, map-lease-prefix.a: short}
  config-observability: {tracing-sampling-rate: 0.25}
  config-events: {failure-messages: true}`)
	for name, want := range map[string]string{
		"config-scope": "{watched-namespaces: 'team-a, team-b', namespace-selector: spark=enabled}",
		"config-defaults": `{active-deadline: 24h, driver-log-lines: '20', spark-defaults.conf: "spark.eventLog.enabled true\n",` +
			` applicationTolerations: "restartConfig:\n  maxRestartAttempts: 1000000\n  restartPolicy: Never"}`,
		"config-kubeflow":        `{driver-pod-disruption-budget: enabled, ingress-tls: "- hosts:\n  - a.example.com"}`,
		"config-leader-election": "{buckets: '4', lease-duration: 15s, map-lease-prefix.a: short}",
		"config-observability":   "{tracing-sampling-rate: '0.25'}",
		"config-events":          "{failure-messages: 'true'}",
	} {
		expect(t, all.get(t, "ConfigMap", name), "data: "+want)
	}
}

func TestDeploymentHasTheValuesOfItsPods(t *testing.T) {
	controller := with(t, `
commonLabels: {team: data}
image: {pullPolicy: Always, pullSecrets: [{name: registry}]}
controller:
  replicas: 2
  revisionHistoryLimit: 0
  labels: {a: b}
  annotations: {c: d}
  deploymentAnnotations: {e: f}
  nodeSelector: {disk: ssd}
  affinity: {nodeAffinity: {}}
  tolerations: [{key: spark}]
  priorityClassName: system-cluster-critical
  hostUsers: false
  topologySpreadConstraints: [{maxSkew: 1}]
  env: [{name: PROFILING_PORT, value: "8009"}]
  envFrom: [{configMapRef: {name: more}}]
  volumes: [{name: ca, emptyDir: {}}]
  volumeMounts: [{name: ca, mountPath: /ca}]
  resources: {limits: {memory: 1Gi}}
  podSecurityContext: {fsGroup: 1}
  sidecars: [{name: proxy, image: proxy}]
  serviceAccount: {name: operator, annotations: {role: arn}}
settings: {config-observability: {metrics-protocol: prometheus, metrics-endpoint: ":9091"}}`)
	deployment := controller.get(t, "Deployment", "controller")
	expect(t, deployment, `
metadata: {labels: {team: data}, annotations: {e: f}}
spec:
  replicas: 2
  revisionHistoryLimit: 0
  selector: {matchLabels: {app.kubernetes.io/name: controller, app.kubernetes.io/part-of: firesteel}}
  template:
    metadata: {labels: {a: b, team: data, app.kubernetes.io/name: controller, app.kubernetes.io/part-of: firesteel}, annotations: {c: d}}
    spec:
      serviceAccountName: operator
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: ssd}
      affinity: {nodeAffinity: {}}
      tolerations: [{key: spark}]
      priorityClassName: system-cluster-critical
      hostUsers: false
      topologySpreadConstraints:
        - {maxSkew: 1, labelSelector: {matchLabels: {app.kubernetes.io/name: controller, app.kubernetes.io/part-of: firesteel}}}
      volumes: [{name: ca, emptyDir: {}}]
      securityContext: {fsGroup: 1, runAsNonRoot: true}`)
	all := containers(t, deployment)
	if len(all) != 2 || all[1].(map[string]any)["name"] != "proxy" {
		t.Fatalf("the containers are %v", all)
	}
	container := &object{Object: all[0].(map[string]any)}
	expect(t, container, `
imagePullPolicy: Always
envFrom: [{configMapRef: {name: more}}]
volumeMounts: [{name: ca, mountPath: /ca}]
resources: {limits: {memory: 1Gi}, requests: {memory: 64Mi}}
ports: [{name: metrics, containerPort: 9091}, {name: health, containerPort: 8080}]`)
	if text := fmt.Sprint(container.Object["env"]); !strings.Contains(text, "PROFILING_PORT") || !strings.Contains(text, "SYSTEM_NAMESPACE") {
		t.Errorf("the environment is %s", text)
	}
	expect(t, controller.get(t, "ServiceAccount", "operator"), "metadata: {annotations: {role: arn}}")
	expect(t, controller.get(t, "ClusterRoleBinding", "firesteel-controller"),
		"subjects: [{kind: ServiceAccount, name: operator, namespace: firesteel-system}]")
}

func TestImagesAreNamedByTagOrDigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for values, want := range map[string]string{
		"image: {repository: controller, tag: v1}":                                          "controller:v1",
		"image: {registry: example.com/firesteel, repository: controller}":                  "example.com/firesteel/controller:0.0.0",
		"image: {registry: example.com/, repository: controller, digest: '" + digest + "'}": "example.com/controller@" + digest,
		"image: {repository: 'example.com/controller@" + digest + "', tag: v1}":             "example.com/controller@" + digest,
		"": "ko://github.com/firesteel-dev/firesteel/cmd/controller",
	} {
		container := containers(t, with(t, values).get(t, "Deployment", "controller"))[0].(map[string]any)
		if container["image"] != want {
			t.Errorf("%s: the image is %s, want %s", values, container["image"], want)
		}
	}
	all := with(t, "image: {registry: r, tag: v2}\neventing: {enable: true}\nhandlers: {image: {repository: h}}\n"+
		"deadLetter: {image: {repository: d}}\nhook: {image: {repository: s}}\nhistory: {enable: true, image: {repository: a}, server: {image: spark:4.3.0}}\n"+
		"archiveService: {enable: true, image: {repository: a}}")
	for _, image := range []struct{ kind, name, want string }{
		{"Deployment", "handler-ttl", "r/h:v2"}, {"Deployment", "dead-letter", "r/d:v2"}, {"Job", "firesteel-setup", "r/s:v2"},
		{"Deployment", "history", "r/a:v2"}, {"Deployment", "archive", "r/a:v2"},
	} {
		if container := containers(t, all.get(t, image.kind, image.name))[0].(map[string]any); container["image"] != image.want {
			t.Errorf("the image of %s is %s, want %s", image.name, container["image"], image.want)
		}
	}
	if data := all.get(t, "ConfigMap", "config-archive").Object["data"].(map[string]any); data["event-logs-image"] != "r/a:v2" {
		t.Errorf("the image of the sidecars is %s", data["event-logs-image"])
	}
	if server := containers(t, all.get(t, "Deployment", "history"))[1].(map[string]any); server["image"] != "spark:4.3.0" {
		t.Errorf("the image of the History Server is %s", server["image"])
	}
}

func TestEnvironmentOfTheHistoryServerIsReplacedByName(t *testing.T) {
	server := containers(t, with(t, "history: {enable: true, server: {env: [{name: SPARK_DAEMON_MEMORY, value: 3g}]}}").get(t, "Deployment", "history"))[1].(map[string]any)
	var memory []any
	for _, variable := range server["env"].([]any) {
		if v := variable.(map[string]any); v["name"] == "SPARK_DAEMON_MEMORY" {
			memory = append(memory, v["value"])
		}
	}
	if fmt.Sprint(memory) != "[3g]" || len(server["env"].([]any)) < 3 {
		t.Errorf("the environment is %v", server["env"])
	}
}

func TestSinkIsTheControllersEnvironment(t *testing.T) {
	all := with(t, "controller: {sink: {uri: 'https://sink', caCerts: PEM, audience: sink, extensions: {cluster: prod}}}\n"+
		"settings: {config-handlers: {ttl: external}}")
	deployment := all.get(t, "Deployment", "controller")
	environment := map[string]any{}
	for _, variable := range containers(t, deployment)[0].(map[string]any)["env"].([]any) {
		v := variable.(map[string]any)
		environment[v["name"].(string)] = v["value"]
	}
	for name, want := range map[string]string{
		"K_SINK": "https://sink", "K_CA_CERTS": "PEM", "K_AUDIENCE": "sink", "K_CE_OVERRIDES": `{"extensions":{"cluster":"prod"}}`,
	} {
		if environment[name] != want {
			t.Errorf("%s is %v, want %s", name, environment[name], want)
		}
	}
	expect(t, &object{Object: podSpec(t, deployment)}, `
volumes: [{name: sink-token, projected: {sources: [{serviceAccountToken: {path: token, audience: sink, expirationSeconds: 3600}}]}}]`)
	expect(t, &object{Object: containers(t, deployment)[0].(map[string]any)}, `
volumeMounts: [{name: sink-token, mountPath: /oidc, readOnly: true}]`)
}

// The webhook finds its configuration by the name, and may change no other.
func TestWebhookOfAnInstallationHasItsOwnConfiguration(t *testing.T) {
	all, _, err := release{"team-b", "firesteel-team-b", `
webhook: {enable: true, replicas: 3, priorityClassName: high, resources: {limits: {memory: 64Mi}}}
controller: {replicas: 2, rbac: {scope: Namespaces}, podDisruptionBudget: {minAvailable: 1}}
prometheus: {podMonitor: {create: true}}
networkPolicy: {metricsIngress: [{podSelector: {}}]}
spark: {jobNamespaces: [team-b]}`}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	const name = "team-b-firesteel-pods"
	configuration := all.get(t, "MutatingWebhookConfiguration", name)
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || len(webhooks) != 1 {
		t.Fatalf("the webhooks are %v: %v", webhooks, err)
	}
	expect(t, &object{Object: webhooks[0].(map[string]any)}, `
clientConfig: {service: {name: webhook, namespace: firesteel-team-b, path: /pods, port: 443}}
namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, firesteel-team-b]},
  {key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}`)
	expect(t, all.get(t, "PodMonitor", "webhook"), "spec: {selector: {matchLabels: {app.kubernetes.io/name: webhook, app.kubernetes.io/part-of: firesteel}}}")
	deployment := all.get(t, "Deployment", "webhook")
	expect(t, deployment, "spec: {replicas: 3, template: {spec: {priorityClassName: high, serviceAccountName: webhook}}}")
	container := containers(t, deployment)[0].(map[string]any)
	expect(t, &object{Object: container}, "resources: {limits: {memory: 64Mi}}")
	if env := fmt.Sprint(container["env"]); !strings.Contains(env, "name:PODS_WEBHOOK_CONFIGURATION value:"+name+"]") {
		t.Errorf("the environment is %s", env)
	}
	const validation = "team-b-firesteel-validation"
	if env := fmt.Sprint(container["env"]); !strings.Contains(env, "name:VALIDATION_WEBHOOK_CONFIGURATION value:"+validation+"]") {
		t.Errorf("the environment is %s", env)
	}
	rules := all.get(t, "ClusterRole", "team-b-firesteel-webhook").Object["rules"]
	for _, names := range []string{name, validation, "firesteel-defaults firesteel-kubeflow"} {
		if text := fmt.Sprint(rules); !strings.Contains(text, "resourceNames:["+names+"]") {
			t.Errorf("it may not change or read %s: %s", names, text)
		}
	}
	expect(t, all.get(t, "ClusterRoleBinding", "team-b-firesteel-webhook"), "{roleRef: {name: team-b-firesteel-webhook}, subjects: [{kind: ServiceAccount, name: webhook, namespace: firesteel-team-b}]}")
	expect(t, all.get(t, "PodDisruptionBudget", "webhook"), "spec: {maxUnavailable: 1}")
	expect(t, all.get(t, "NetworkPolicy", "webhook-metrics"), "spec: {ingress: [{from: [{podSelector: {}}], ports: [{port: metrics, protocol: TCP}]}]}")
}

func TestValidationOfAnInstallationIsItsOwn(t *testing.T) {
	const values = "webhook: {enable: true, validation: {failurePolicy: Fail, namespaceSelector: {matchLabels: {team: b}}}}\nspark: {jobNamespaces: [team-b]}"
	all, _, err := release{"team-b", "firesteel-team-b", values}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	webhooks := all.get(t, "ValidatingWebhookConfiguration", "team-b-firesteel-validation").Object["webhooks"].([]any)
	for i, want := range []string{
		`{failurePolicy: Fail, namespaceSelector: {matchLabels: {team: b}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}}`,
		`{failurePolicy: Ignore, namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [firesteel-team-b]}]}}`,
		`{failurePolicy: Ignore, namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}}`,
	} {
		o := &object{Object: webhooks[i].(map[string]any)}
		expect(t, o, want)
		expect(t, o, "clientConfig: {service: {name: webhook, namespace: firesteel-team-b, path: /validate, port: 443}}")
	}
	if conditions := fmt.Sprint(webhooks[0].(map[string]any)["matchConditions"]); !strings.Contains(conditions, "'system:serviceaccount:firesteel-team-b:'") {
		t.Errorf("Firesteel itself may need its webhook: %s", conditions)
	}
	// It may read applications and quotas only if it compares them.
	for values, want := range map[string]int{
		"webhook: {enable: true}": 0, "webhook: {enable: true, validation: {enable: false}}\nsettings: {config-admission: {quota: fail}}": 0,
		"webhook: {enable: true}\nsettings: {config-admission: {quota: hold}}": 1, "webhook: {enable: true}\nsettings: {config-admission: {quota: fail}}": 1,
	} {
		all, _, err := release{"team-b", "firesteel-team-b", values + "\nspark: {jobNamespaces: [team-b]}"}.render(t)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
			for _, o := range all.kind(kind) {
				if o.GetName() == "team-b-firesteel-webhook-quota" {
					found++
				}
			}
		}
		if found != 2*want {
			t.Errorf("%s: there are %d of role and binding", values, found)
		}
	}
	without, _, err := release{"team-b", "firesteel-team-b", "webhook: {enable: true, validation: {enable: false}}\nspark: {jobNamespaces: [team-b]}"}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	if found := without.kind("ValidatingWebhookConfiguration"); len(found) > 0 {
		t.Errorf("there is %v", found)
	}
}

func TestEventingPutsHandlersBehindABroker(t *testing.T) {
	all := with(t, "eventing: {enable: true, oidc: true, broker: {class: Kafka}}\nhandlers: {replicas: 2}\n"+
		"networkPolicy: {eventsIngress: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: '2024'}}}]}\n"+
		"controller: {sink: {extensions: {cluster: prod}}}\nsettings: {config-handlers: {schedule: in-process}}")
	expect(t, all.get(t, "ConfigMap", "config-handlers"), "data: {restart: external, ttl: external, schedule: in-process}")
	expect(t, all.get(t, "SinkBinding", "controller"), "spec: {ceOverrides: {extensions: {cluster: prod}}}")
	expect(t, all.get(t, "NetworkPolicy", "events"), "spec: {ingress: [{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: '2024'}}}], "+
		"ports: [{protocol: TCP, port: http}]}]}")
	broker := all.get(t, "Broker", "firesteel")
	expect(t, broker, "metadata: {annotations: {eventing.knative.dev/broker.class: Kafka}}")
	if _, has, _ := unstructured.NestedMap(broker.Object, "spec", "config"); has {
		t.Error("a Broker of another class has the channels of MTChannelBasedBroker")
	}
	handler := all.get(t, "Deployment", "handler-ttl")
	expect(t, handler, "spec: {replicas: 2}")
	if text := fmt.Sprint(containers(t, handler)[0].(map[string]any)["env"]); !strings.Contains(text, "firesteel-handler-ttl") {
		t.Errorf("the handler accepts events without a token: %s", text)
	}
	if text := fmt.Sprint(containers(t, all.get(t, "Deployment", "controller"))[0].(map[string]any)["env"]); strings.Contains(text, "K_CE_OVERRIDES") {
		t.Errorf("the SinkBinding and the Deployment both set the attributes: %s", text)
	}
}

// An installation for listed namespaces has no rights outside them, but in its own namespace and on CRDs, which the hook applies.
func TestNamespacesScopeHasRolesInThemOnly(t *testing.T) {
	// Its own namespace may be one of them.
	all := with(t, "controller: {rbac: {scope: Namespaces}, driverLogs: true, archive: true}\neventing: {enable: true}\n"+
		"spark: {jobNamespaces: [team-a, team-b, "+systemNamespace+"]}")
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
		if got := fmt.Sprint(slices.Sorted(maps.Keys(all.kind(kind)))); got != "["+kind+".rbac.authorization.k8s.io /firesteel-setup]" {
			t.Errorf("in the cluster are %v", got)
		}
	}
	expect(t, all.get(t, "ConfigMap", "config-scope"), "data: {access: namespaces, watched-namespaces: 'team-a, team-b, "+systemNamespace+"'}")
	for _, namespace := range []string{"team-a", "team-b", systemNamespace} {
		for _, role := range []string{
			"firesteel-controller", "firesteel-controller-watch", "firesteel-driver-logs", "firesteel-handler-archive", "firesteel-handler-restart", "firesteel-handler-schedule",
			"firesteel-handler-ttl", "firesteel-uninstall",
		} {
			role += "-namespaced"
			binding := all["RoleBinding.rbac.authorization.k8s.io "+namespace+"/"+role]
			if binding == nil || all["Role.rbac.authorization.k8s.io "+namespace+"/"+role] == nil {
				t.Fatalf("%s is not there, or not bound, in %s", role, namespace)
			}
			expect(t, binding, "roleRef: {kind: Role, name: "+role+"}")
		}
		expect(t, all["RoleBinding.rbac.authorization.k8s.io "+namespace+"/spark-driver-accounts-namespaced"],
			"{roleRef: {kind: Role, name: spark-driver-namespaced}, metadata: {annotations: {"+resourcePolicy+": keep}}}")
	}
	for _, o := range all {
		ofArchive := o.GetName() == "firesteel-handler-archive-namespaced" // it reads the uid of its own namespace
		if text := fmt.Sprint(o.Object["rules"]); o.GetKind() == "Role" && (strings.Contains(text, "customresourcedefinitions") || strings.Contains(text, "[namespaces]") != ofArchive || strings.Contains(text, "priorityclasses")) {
			t.Errorf("%s has a rule for objects of the cluster: %s", key(o), text)
		}
	}
}

// config/namespace-console is made by hand, and the chart makes the same of config/console.
func TestConsoleFollowsListedNamespacesOnly(t *testing.T) {
	all := with(t, "controller: {rbac: {scope: Namespaces}}\nconsole: {enable: true}\nspark: {jobNamespaces: [team-a]}")
	want := read(t, "namespace-console/rbac.yaml")
	for kind, field := range map[string]string{"Role": "rules", "RoleBinding": "subjects"} {
		const name = "firesteel-console-watch-namespaced"
		got := all[kind+".rbac.authorization.k8s.io team-a/"+name]
		if got == nil || fmt.Sprint(got.Object[field]) != fmt.Sprint(want.get(t, kind, name).Object[field]) {
			t.Errorf("%s of the %s are %v", field, kind, got)
		}
	}
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
		for name := range all.kind(kind) {
			if strings.Contains(name, "console-watch") {
				t.Errorf("there is %s", name)
			}
		}
	}
}

func TestNamespacesOfApplicationsHaveServiceAccounts(t *testing.T) {
	all := with(t, "spark: {jobNamespaces: ['', team-a, team-b], serviceAccount: {name: driver, annotations: {role: arn}}}")
	accounts := all.kind("ServiceAccount").without(func(o *object) bool { return o.GetNamespace() == systemNamespace })
	if got := fmt.Sprint(slices.Sorted(maps.Keys(accounts))); got != "[ServiceAccount team-a/driver ServiceAccount team-b/driver]" {
		t.Errorf("the accounts are %s", got)
	}
	expect(t, accounts["ServiceAccount team-a/driver"], "metadata: {annotations: {role: arn, "+resourcePolicy+": keep}}")
	expect(t, all["RoleBinding.rbac.authorization.k8s.io team-b/spark-driver-accounts"],
		"{roleRef: {name: spark-driver}, subjects: [{kind: ServiceAccount, name: driver, namespace: team-b}]}")
}

func TestInstallationsShareNothingButTheCluster(t *testing.T) {
	first := with(t, "eventing: {enable: true}\nwebhook: {enable: true}\nadmission: {enable: true}")
	// Helm takes names of up to 53 characters. These differ in the last one.
	long := strings.Repeat("a", 52)
	last, _, err := release{long + "c", "c", "spark: {jobNamespaces: [c]}"}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range last {
		if text := o.GetName(); o.GetKind() == "Job" && len(text) > 63 {
			t.Errorf("the name of %s has %d characters", name, len(text))
		}
		if text := o.GetName(); o.GetNamespace() == "" && !strings.HasPrefix(text, long+"c-") {
			t.Errorf("%s is shared with the release %sd", name, long)
		}
	}
	second, _, err := release{"team-b", "firesteel-team-b", "eventing: {enable: true}\nwebhook: {enable: true}\nadmission: {enable: true, serviceAccounts: true, warnings: true}\nspark: {jobNamespaces: [team-b]}"}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	const policy = "team-b-firesteel-sparkoperator-properties.firesteel.dev"
	expect(t, second["ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io /"+policy], "{spec: {policyName: "+policy+
		", paramRef: {namespace: firesteel-team-b}, matchResources: {namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}}}}")
	for name, o := range second {
		if first[name] != nil {
			t.Errorf("both installations have %s", name)
		}
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), systemNamespace) {
			t.Errorf("%s names the namespace of the other installation: %s", name, text)
		}
	}
	expect(t, second.get(t, "ClusterRoleBinding", "team-b-firesteel-controller"), "roleRef: {name: team-b-firesteel-controller}")
	expect(t, second.get(t, "RoleBinding", "spark-driver-accounts"), "roleRef: {name: team-b-firesteel-spark-driver}")
	third, _, err := release{"team-b", "firesteel-team-b", "workloadNamespaces: {enable: true}"}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	rules := third.get(t, "ClusterRole", "team-b-firesteel-handler-namespace").Object["rules"].([]any)
	if names := rules[len(rules)-2].(map[string]any)["resourceNames"].([]any); len(names) != 1 || names[0] != "team-b-firesteel-spark-driver" {
		t.Errorf("the handler may bind %v", names)
	}
	expect(t, second.get(t, "ConfigMap", "config-namespaces"), "data: {driver-role: team-b-firesteel-spark-driver}")
}

func TestObjectsThatValuesSwitch(t *testing.T) {
	for _, test := range []struct{ values, kind, name, want string }{
		{"controller: {replicas: 2, podDisruptionBudget: {minAvailable: 1}}", "PodDisruptionBudget", "controller", "spec: {minAvailable: 1}"},
		{"controller: {podDisruptionBudget: {minAvailable: 0}}", "PodDisruptionBudget", "controller", "spec: {minAvailable: 0}"},
		{
			"networkPolicy: {metricsIngress: [{podSelector: {}}]}", "NetworkPolicy", "controller-metrics",
			"spec: {ingress: [{from: [{podSelector: {}}], ports: [{protocol: TCP, port: metrics}]}]}",
		},
		{
			"prometheus: {podMonitor: {create: true, labels: {a: b}, jobLabel: app, podMetricsEndpoint: {interval: 5s}}}", "PodMonitor", "controller",
			"{metadata: {labels: {a: b}}, spec: {jobLabel: app, podMetricsEndpoints: [{port: metrics, interval: 5s}]}}",
		},
		{
			"prometheus: {serviceMonitor: {create: true}}", "ServiceMonitor", "controller",
			"{spec: {endpoints: [{port: metrics}], selector: {matchLabels: {app.kubernetes.io/name: controller, app.kubernetes.io/part-of: firesteel}}}}",
		},
		{
			"prometheus: {service: {annotations: {a: b}}}", "Service", "controller-metrics",
			"{metadata: {annotations: {a: b}, labels: {app.kubernetes.io/name: controller, app.kubernetes.io/instance: firesteel}}, " +
				"spec: {ports: [{name: metrics, port: 9090, targetPort: metrics}]}}",
		},
		{
			"prometheus: {rules: {create: true, labels: {release: monitoring}}}", "PrometheusRule", "firesteel",
			"{metadata: {labels: {release: monitoring, app.kubernetes.io/instance: firesteel}, namespace: firesteel-system}}",
		},
		{
			"grafana: {dashboards: {create: true, labels: {a: b}, annotations: {grafana_folder: Spark}}}", "ConfigMap", "firesteel-dashboard-overview",
			"{metadata: {labels: {grafana_dashboard: '1', a: b}, annotations: {grafana_folder: Spark}}}",
		},
		{"crds: {takeOver: true}", "Job", "firesteel-setup", "metadata: {annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}"},
	} {
		expect(t, with(t, test.values).get(t, test.kind, test.name), test.want)
	}
	for values, gone := range map[string]string{
		"controller: {podDisruptionBudget: {enable: false}}":         "PodDisruptionBudget",
		"networkPolicy: {enable: false}":                             "NetworkPolicy",
		"crds: {install: false}\nhook: {releaseFinalizers: false}":   "Job",
		"prometheus: {service: {create: false}}":                     "Service",
		"settings: {config-observability: {metrics-protocol: none}}": "Service",
	} {
		if all := with(t, values).kind(gone); len(all) > 0 {
			t.Errorf("%s: there is still %v", values, slices.Sorted(maps.Keys(all)))
		}
	}
	none := with(t, "webhook: {enable: true}\nworkloadNamespaces: {enable: true}\ncrds: {install: false}\nhook: {releaseFinalizers: false}\ncontroller: {rbac: {create: false}, serviceAccount: {create: false}}\n"+
		"spark: {rbac: {create: false}, serviceAccount: {create: false}}")
	for _, kind := range []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount"} {
		// The webhook and the handler namespace have rights of their own.
		all := none.kind(kind).without(func(o *object) bool {
			return strings.Contains(o.GetName(), "webhook") || o.GetName() == "firesteel-handler-namespace"
		})
		if len(all) > 0 {
			t.Errorf("without roles and accounts there is still %v", slices.Sorted(maps.Keys(all)))
		}
	}
	for _, kind := range []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} {
		none.get(t, kind, "firesteel-webhook")
	}
	takeOver := containers(t, with(t, "crds: {takeOver: true}").get(t, "Job", "firesteel-setup"))[0].(map[string]any)["args"]
	if got := fmt.Sprint(takeOver); got != "[crds -take-over spark.apache.org sparkoperator.k8s.io]" {
		t.Errorf("the hook runs %s", got)
	}
}

// A PodMonitor, a ServiceMonitor and a Pod of a hook may have labels that commonLabels have, too. YAML with a key twice is refused by some clients.
func TestLabelsOfAnObjectWinOverCommonLabels(t *testing.T) {
	all := with(t, `
commonLabels: {team: all}
hook: {labels: {team: hook}}
prometheus: {podMonitor: {create: true, labels: {team: pods}}, serviceMonitor: {create: true, labels: {team: services}}}`)
	expect(t, all.get(t, "PodMonitor", "controller"), "metadata: {labels: {team: pods}}")
	expect(t, all.get(t, "ServiceMonitor", "controller"), "metadata: {labels: {team: services}}")
	expect(t, all.get(t, "Job", "firesteel-setup"), "{metadata: {labels: {team: all}}, spec: {template: {metadata: {labels: {team: hook, app.kubernetes.io/name: setup}}}}}")
}

// YAML takes no, on and 2024 for other types than text.
func TestNamesMayLookLikeNumbersAndTruthValues(t *testing.T) {
	for name, scope := range map[string]string{"2024": "Cluster", "no": "Namespaces"} {
		values := strings.Replace(everything, "  driverLogs: true", "  driverLogs: true\n  rbac: {scope: "+scope+"}", 1) +
			"\nspark: {jobNamespaces: ['123', 'on']}\nwebhook: {enable: true}"
		all, _, err := release{name, name, values}.render(t)
		if err != nil {
			t.Fatal(err)
		}
		for key, o := range all {
			// A typed object has no number in place of a text.
			if typed, err := scheme.Scheme.New(o.GroupVersionKind()); err == nil {
				text, err := json.Marshal(o.Object)
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(text, typed); err != nil {
					t.Errorf("%s: %v", key, err)
				}
			}
			_, _, err := unstructured.NestedStringMap(o.Object, "metadata", "labels")
			if _, _, err2 := unstructured.NestedString(o.Object, "metadata", "namespace"); err != nil || err2 != nil {
				t.Errorf("%s: %v, %v", key, err, err2)
			}
		}
		for _, namespace := range []string{"123", "on"} {
			if all["ServiceAccount "+namespace+"/spark"] == nil {
				t.Errorf("there is no account of drivers in %s: %v", namespace, slices.Sorted(maps.Keys(all)))
			}
		}
	}
}

// The controller and the webhook read these settings at their start only.
func TestPodsAreReplacedWhenSettingsChangeThatTheyReadAtTheirStart(t *testing.T) {
	checksum := func(values, deployment string) string {
		annotations, _, err := unstructured.NestedStringMap(with(t, "webhook: {enable: true}\n"+values).get(t, "Deployment", deployment).Object,
			"spec", "template", "metadata", "annotations")
		if err != nil {
			t.Fatal(err)
		}
		return annotations["checksum/settings"]
	}
	none := map[string]string{"controller": checksum("", "controller"), "webhook": checksum("", "webhook")}
	for values, changes := range map[string]map[string]bool{
		"settings: {config-leader-election: {buckets: 2}}":           {"controller": true, "webhook": false},
		"settings: {config-observability: {metrics-protocol: none}}": {"controller": true, "webhook": true},
		"settings: {config-defaults: {active-deadline: 1h}}":         {"controller": false, "webhook": false},
	} {
		for deployment, want := range changes {
			if got := checksum(values, deployment) != none[deployment]; got != want {
				t.Errorf("%s: the Pods of %s are replaced: %t", values, deployment, got)
			}
		}
	}
	if checksum("settings: {config-leader-election: {buckets: 2}}", "controller") == checksum("settings: {config-leader-election: {buckets: 3}}", "controller") {
		t.Error("another number of buckets does not replace the controller")
	}
	expect(t, with(t, "controller: {annotations: {a: b}}\nsettings: {config-leader-election: {buckets: 2}}").get(t, "Deployment", "controller"),
		"spec: {template: {metadata: {annotations: {a: b}}}}")
}

func TestNotesNameTheNextSteps(t *testing.T) {
	for values, want := range map[string]string{
		"":                                 "ko resolve -f charts/firesteel/values.yaml",
		"controller: {replicas: 3}":        "settings.config-leader-election.buckets=6",
		"spark: {jobNamespaces: [team-a]}": "Drivers have service accounts in: team-a",
	} {
		if _, notes, err := (release{"firesteel", systemNamespace, values}).render(t); err != nil || !strings.Contains(notes, want) {
			t.Errorf("%s: the notes are %q (%v), want %q in them", values, notes, err, want)
		}
	}
}

// everything has each value that adds an object or a field.
const everything = `
commonLabels: {team: data}
image: {pullPolicy: Always, pullSecrets: [{name: registry}]}
hook: {labels: {a: b}, annotations: {a: b}, nodeSelector: {a: b}, affinity: {nodeAffinity: {}}, tolerations: [{key: a}]}
controller:
  driverLogs: true
  sink: {extensions: {cluster: prod}}
  revisionHistoryLimit: 1
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
  hostUsers: false
  volumes: [{name: ca, emptyDir: {}}]
  volumeMounts: [{name: ca, mountPath: /ca}]
  replicas: 3
  podDisruptionBudget: {minAvailable: 50%}
eventing: {enable: true, oidc: true}
handlers: {labels: {a: b}, annotations: {a: b}, tolerations: [{key: a}], serviceAccountAnnotations: {a: b}}
deadLetter: {nodeSelector: {a: b}}
archiveService: {enable: true, env: [{name: A, value: b}], volumes: [{name: v, emptyDir: {}}], serviceAccountAnnotations: {a: b}}
history: {enable: true, env: [{name: A, value: b}], server: {env: [{name: A, value: b}]}, tolerations: [{key: a}], serviceAccountAnnotations: {a: b}}
admission: {enable: true}
networkPolicy: {metricsIngress: [{podSelector: {}}]}
prometheus: {service: {annotations: {a: b}}, podMonitor: {create: true}, serviceMonitor: {create: true}, rules: {create: true}}
grafana: {dashboards: {create: true}}`

// The API server drops fields that it does not know, or refuses them.
func TestRenderedObjectsHaveOnlyFieldsOfTheirKinds(t *testing.T) {
	known := 0
	for name, o := range with(t, everything) {
		typed, err := scheme.Scheme.New(o.GroupVersionKind())
		if err != nil {
			continue // of Knative or the Prometheus Operator
		}
		known++
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, typed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if known < 40 {
		t.Errorf("only %d objects are of kinds that Kubernetes has", known)
	}
}
