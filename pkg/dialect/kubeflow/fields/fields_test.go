package fields_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

// podFields are fields of driver and executors, each with what a Pod and its Spark container have of it. What Spark adds
// may be there as well: want is part of what is.
var podFields = []struct {
	field, text string
	pod, main   string
}{
	{field: "env", text: `env: [{name: A, value: b}]`, main: `env: [{name: A, value: b}]`},
	{field: "envFrom", text: `envFrom: [{configMapRef: {name: m}}]`, main: `envFrom: [{configMapRef: {name: m}}]`},
	{field: "affinity", text: `affinity: {podAffinity: {}}`, pod: `affinity: {podAffinity: {}}`},
	{field: "tolerations", text: `tolerations: [{key: a, operator: Exists}]`, pod: `tolerations: [{key: a, operator: Exists}]`},
	{field: "nodeSelector", text: `nodeSelector: {disk: ssd}`, pod: `nodeSelector: {disk: ssd}`},
	{field: "podSecurityContext", text: `podSecurityContext: {runAsUser: 7}`, pod: `securityContext: {runAsUser: 7}`},
	{field: "securityContext", text: `securityContext: {runAsUser: 7}`, main: `securityContext: {runAsUser: 7}`},
	{field: "sidecars", text: `sidecars: [{name: s, image: i}]`, pod: `containers: [{name: s, image: i, resources: {}}]`},
	{field: "initContainers", text: `initContainers: [{name: s, image: i}]`, pod: `initContainers: [{name: s, image: i, resources: {}}]`},
	{field: "hostNetwork", text: `hostNetwork: true`, pod: `{hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}`},
	{field: "dnsConfig", text: `dnsConfig: {nameservers: [1.2.3.4]}`, pod: `dnsConfig: {nameservers: [1.2.3.4]}`},
	{field: "hostAliases", text: `hostAliases: [{ip: 1.2.3.4, hostnames: [h]}]`, pod: `hostAliases: [{ip: 1.2.3.4, hostnames: [h]}]`},
	{field: "shareProcessNamespace", text: `shareProcessNamespace: true`, pod: `shareProcessNamespace: true`},
	{field: "terminationGracePeriodSeconds", text: `terminationGracePeriodSeconds: 0`, pod: `terminationGracePeriodSeconds: 0`},
	{field: "lifecycle", text: `lifecycle: {preStop: {exec: {command: [a]}}}`, main: `lifecycle: {preStop: {exec: {command: [a]}}}`},
	{field: "priorityClassName", text: `priorityClassName: high`, pod: `priorityClassName: high`},
	{field: "runtimeClassName", text: `runtimeClassName: gvisor`, pod: `runtimeClassName: gvisor`},
	{
		field: "ports", text: `ports: [{name: debug, protocol: TCP, containerPort: 5005}]`,
		main: `ports: [{name: debug, protocol: TCP, containerPort: 5005}]`,
	},
	{field: "gpu", text: `gpu: {name: nvidia.com/gpu, quantity: 2}`, main: `resources: {limits: {nvidia.com/gpu: "2"}}`},
	{
		field: "configMaps", text: `configMaps: [{name: rules, path: /etc/rules}]`,
		pod:  `volumes: [{name: rules-vol, configMap: {name: rules}}]`,
		main: `volumeMounts: [{name: rules-vol, mountPath: /etc/rules, readOnly: true}]`,
	},
	{
		field: "configMaps", text: `configMaps: [{name: rules.of.mine, path: /etc/rules}]`,
		pod:  `volumes: [{name: rules-of-mine-106e28e6-vol, configMap: {name: rules.of.mine}}]`,
		main: `volumeMounts: [{name: rules-of-mine-106e28e6-vol, mountPath: /etc/rules, readOnly: true}]`,
	},
	{
		field: "secrets", text: `secrets: [{name: my.secret, path: /etc/secret}]`,
		pod:  `volumes: [{name: my-secret-6c09b660-volume, secret: {secretName: my.secret}}]`,
		main: `volumeMounts: [{name: my-secret-6c09b660-volume, mountPath: /etc/secret}]`,
	},
	{
		field: "volumeMounts", text: `volumeMounts: [{name: data, mountPath: /data, readOnly: true}]`,
		pod:  `volumes: [{name: data, emptyDir: {}}]`,
		main: `volumeMounts: [{name: data, mountPath: /data, readOnly: true}]`,
	},
	{
		field: "volumeMounts", text: `volumeMounts: [{name: spark-local-dir-csi, mountPath: /scratch}]`,
		pod:  `volumes: [{name: spark-local-dir-csi, csi: {driver: local}}]`,
		main: `volumeMounts: [{name: spark-local-dir-csi, mountPath: /scratch}]`,
	},
	{
		field: "volumeMounts", text: `sidecars: [{name: s, image: i, volumeMounts: [{name: data, mountPath: /data}]}]`,
		pod: `volumes: [{name: data, emptyDir: {}}]`,
	},
}

// withVolumes is an application whose Pods may mount two volumes.
func withVolumes() *application {
	return pi().Spec(`volumes: [{name: data, emptyDir: {}}, {name: spark-local-dir-csi, csi: {driver: local}}]`)
}

func TestFieldsOfDriver(t *testing.T) {
	for _, test := range podFields {
		t.Run(test.text, func(t *testing.T) {
			pod := built(t, withVolumes().Driver(test.text).Obj(), settings.NewDefaults()).Driver.Spec
			if pod.Containers[0].Name != "spark-kubernetes-driver" {
				t.Errorf("the first container is %s", pod.Containers[0].Name)
			}
			wantPart(t, pod, test.pod)
			wantPart(t, pod.Containers[0], test.main)
			wantRoute(t, test.field, func(r fields.Route) fields.Way { return r.Driver }, fields.AfterBuild, fields.ByProperty)
		})
	}
}

func TestFieldsOfExecutors(t *testing.T) {
	for _, test := range podFields {
		t.Run(test.text, func(t *testing.T) {
			pod, main := executorOf(t, withVolumes().Executor(test.text).Obj())
			wantPart(t, pod, test.pod)
			wantPart(t, main, test.main)
			wantRoute(t, test.field, func(r fields.Route) fields.Way { return r.Executor },
				fields.ByTemplate, fields.ByTemplateAndProperty, fields.ByProperty)
		})
	}
}

// TestFieldsOfTheOtherRole makes sure that nothing of the driver's comes to executors, and the other way round.
func TestFieldsOfTheOtherRole(t *testing.T) {
	plain := built(t, withVolumes().Obj(), settings.NewDefaults()).Driver.Spec
	for _, test := range podFields {
		t.Run(test.text, func(t *testing.T) {
			if template := planned(t, withVolumes().Driver(test.text).Obj(), settings.NewDefaults()).ExecutorTemplate; template != nil {
				t.Errorf("executors are made from %+v", template)
			}
			pod := built(t, withVolumes().Executor(test.text).Obj(), settings.NewDefaults()).Driver.Spec
			pod.Volumes, plain.Volumes = nil, nil // the template's own
			pod.Containers[0].VolumeMounts, plain.Containers[0].VolumeMounts = nil, nil
			if diff := cmp.Diff(plain, pod); diff != "" {
				t.Errorf("the driver has of it (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryWayToAPodIsTested(t *testing.T) {
	ways := []fields.Way{fields.AfterBuild, fields.ByTemplate, fields.ByTemplateAndProperty}
	for _, route := range fields.PodRoutes {
		tested := slices.ContainsFunc(podFields, func(test struct{ field, text, pod, main string }) bool { return test.field == route.Field })
		if !tested && slices.Contains(ways, route.Executor) && route.Field != "template" {
			t.Errorf("no test has %s", route.Field)
		}
	}
}

func wantRoute(t *testing.T, field string, way func(fields.Route) fields.Way, ways ...fields.Way) {
	t.Helper()
	for _, route := range fields.PodRoutes {
		if route.Field == field && slices.Contains(ways, way(route)) {
			return
		}
	}
	t.Errorf("the table has another way for %s", field)
}

// wantPart wants an object to have all that a text has: its maps may have more keys, and its lists more entries.
func wantPart(t *testing.T, object any, text string) {
	t.Helper()
	var want, got any
	encoded, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(encoded, &got)
	}
	if err == nil {
		err = yaml.Unmarshal([]byte(text), &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !hasPart(got, want) {
		t.Errorf("want %s\nin %s", text, encoded)
	}
}

func hasPart(got, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		got, ok := got.(map[string]any)
		for key, part := range want {
			if _, has := got[key]; !ok || !has || !hasPart(got[key], part) {
				return false
			}
		}
		return ok
	case []any:
		got, ok := got.([]any)
		for _, part := range want {
			if !slices.ContainsFunc(got, func(entry any) bool { return hasPart(entry, part) }) {
				return false
			}
		}
		return ok
	default:
		return reflect.DeepEqual(got, want)
	}
}

// propertiesOf are the Spark properties of an application.
func propertiesOf(t *testing.T, app *v1beta2.SparkApplication) map[string]string {
	t.Helper()
	return planned(t, app, settings.NewDefaults()).Properties
}

func TestFieldsBecomeSparkProperties(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want map[string]string // empty for none
	}{
		"the application's own": {pi(), map[string]string{
			"spark.app.name": "pi", "spark.kubernetes.namespace": "team-a", "spark.submit.deployMode": "cluster",
			"spark.kubernetes.submission.waitAppCompletion": "false", "spark.executor.instances": "1",
			"spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name":                    "pi",
			"spark.kubernetes.executor.label.sparkoperator.k8s.io/app-name":                  "pi",
			"spark.kubernetes.driver.label.sparkoperator.k8s.io/launched-by-spark-operator":  "true",
			"spark.kubernetes.executor.label.sparkoperator.k8s.io/mutated-by-spark-operator": "true",
			"spark.kubernetes.container.image":                                               "apache/spark:4.1.1",
			"spark.kubernetes.driver.container.image":                                        "apache/spark:4.1.1",
			"spark.kubernetes.executor.container.image":                                      "apache/spark:4.1.1",
		}},
		"images of the roles": {pi().Driver("image: d").Executor("image: e"), map[string]string{
			"spark.kubernetes.container.image": "apache/spark:4.1.1", "spark.kubernetes.driver.container.image": "d",
			"spark.kubernetes.executor.container.image": "e",
		}},
		"fields over properties": {
			pi().Conf("spark.driver.memory", "9g").Conf("spark.executor.extraJavaOptions", "-a").Conf("spark.executor.cores", "9").
				Driver("memory: 1g").Executor("{javaOptions: -b, cores: 2}"),
			map[string]string{"spark.driver.memory": "1g", "spark.executor.extraJavaOptions": "-b", "spark.executor.cores": "2"},
		},
		"properties where no field says": {
			pi().Conf("spark.executor.instances", "7").Conf("spark.driver.memory", "9g"),
			map[string]string{"spark.executor.instances": "7", "spark.driver.memory": "9g"},
		},
		"a fraction of a core": {pi().Driver("cores: 0.1").Executor("cores: 1.5"), map[string]string{
			"spark.driver.cores": "1", "spark.kubernetes.driver.request.cores": "0.1",
			"spark.executor.cores": "2", "spark.kubernetes.executor.request.cores": "1.5",
		}},
		"a request beside a fraction": {pi().Driver("{cores: 0.1, coreRequest: 250m}"), map[string]string{
			"spark.driver.cores": "1", "spark.kubernetes.driver.request.cores": "250m",
		}},
		"whole cores": {pi().Driver("cores: 2"), map[string]string{
			"spark.driver.cores": "2", "spark.kubernetes.driver.request.cores": "",
		}},
		"limits, memory and accounts": {
			pi().Driver("{coreLimit: 1200m, memory: 512m, memoryOverhead: 1g, serviceAccount: d}").Executor("{coreLimit: '2', serviceAccount: e}"),
			map[string]string{
				"spark.kubernetes.driver.limit.cores": "1200m", "spark.driver.memory": "512m", "spark.driver.memoryOverhead": "1g",
				"spark.kubernetes.authenticate.driver.serviceAccountName": "d", "spark.kubernetes.executor.limit.cores": "2",
				"spark.kubernetes.authenticate.executor.serviceAccountName": "e",
			},
		},
		"labels": {
			pi().Labelled("team", "data").Driver("labels: {team: drivers}"),
			map[string]string{"spark.kubernetes.driver.label.team": "drivers", "spark.kubernetes.executor.label.team": "data"},
		},
		"no label of Kueue's": {pi().Labelled("kueue.x-k8s.io/queue-name", "q"), map[string]string{
			"spark.kubernetes.driver.label.kueue.x-k8s.io/queue-name": "",
		}},
		"a label that is the operator's": {pi().Driver("labels: {sparkoperator.k8s.io/app-name: other}"), map[string]string{
			"spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name": "pi",
		}},
		"annotations": {pi().Driver("annotations: {a: b}").Executor("annotations: {c: d}"), map[string]string{
			"spark.kubernetes.driver.annotation.a": "b", "spark.kubernetes.executor.annotation.c": "d",
		}},
		"the driver's Service": {pi().Driver("{serviceLabels: {a: b}, serviceAnnotations: {c: d}, kubernetesMaster: 'https://m'}"), map[string]string{
			"spark.kubernetes.driver.service.label.a": "b", "spark.kubernetes.driver.service.annotation.c": "d",
			"spark.kubernetes.driver.master": "https://m",
		}},
		"the driver Pod's name": {pi().Driver("podName: mine").Conf("spark.kubernetes.driver.pod.name", "other"), map[string]string{
			"spark.kubernetes.driver.pod.name": "mine",
		}},
		"environments of old": {
			pi().Driver("{envVars: {A: b}, envSecretKeyRefs: {S: {name: some, key: k}}}").Executor("envVars: {C: d}"),
			map[string]string{
				"spark.kubernetes.driverEnv.A": "b", "spark.executorEnv.C": "d", "spark.kubernetes.driver.secretKeyRef.S": "some:k",
			},
		},
		"secrets": {
			pi().Driver("secrets: [{name: g, path: /g, secretType: GCPServiceAccount}]").
				Executor("secrets: [{name: h, path: /h/, secretType: HadoopDelegationToken}, {name: i, path: /i}]"),
			map[string]string{
				"spark.kubernetes.driver.secrets.g": "/g", "spark.kubernetes.driverEnv.GOOGLE_APPLICATION_CREDENTIALS": "/g/key.json",
				"spark.kubernetes.executor.secrets.h": "/h/", "spark.executorEnv.HADOOP_TOKEN_FILE_LOCATION": "/h/hadoop.token",
				"spark.kubernetes.executor.secrets.i": "/i",
			},
		},
		"scratch directories": {
			pi().Spark("4.0.1").Spec("volumes: [{name: spark-local-dir-a, hostPath: {path: /mnt, type: Directory}}, " +
				"{name: spark-local-dir-b, persistentVolumeClaim: {claimName: OnDemand, readOnly: true}}]").
				Executor("volumeMounts: [{name: spark-local-dir-a, mountPath: /a, subPath: s}, {name: spark-local-dir-b, mountPath: /b}]"),
			map[string]string{
				"spark.kubernetes.executor.volumes.hostPath.spark-local-dir-a.mount.path":                     "/a",
				"spark.kubernetes.executor.volumes.hostPath.spark-local-dir-a.mount.subPath":                  "s",
				"spark.kubernetes.executor.volumes.hostPath.spark-local-dir-a.options.path":                   "/mnt",
				"spark.kubernetes.executor.volumes.hostPath.spark-local-dir-a.options.type":                   "Directory",
				"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-b.options.claimName": "OnDemand",
				"spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-b.mount.readOnly":    "true",
				"spark.kubernetes.driver.volumes.hostPath.spark-local-dir-a.mount.path":                       "",
			},
		},
		"dependencies": {
			pi().Spec("deps: {jars: [a, b], files: [f], pyFiles: [p], packages: [g:a:1], excludePackages: [g:b], repositories: [r], archives: [z]}"),
			map[string]string{
				"spark.jars": "a,b", "spark.files": "f", "spark.submit.pyFiles": "p", "spark.jars.packages": "g:a:1",
				"spark.jars.excludes": "g:b", "spark.jars.repositories": "r", "spark.archives": "z",
			},
		},
		"Hadoop's": {pi().Spec("hadoopConf: {fs.defaultFS: 'hdfs://n', a: true}"), map[string]string{
			"spark.hadoop.fs.defaultFS": "hdfs://n", "spark.hadoop.a": "true",
		}},
		"no property of Python 2, which Spark refuses": {pi().Spec("pythonVersion: 2"), map[string]string{"spark.kubernetes.pyspark.pythonVersion": ""}},
		"what is of both": {
			pi().Spec("{imagePullPolicy: Always, imagePullSecrets: [a, b], nodeSelector: {disk: ssd}, memoryOverheadFactor: '0.2', pythonVersion: 3}"),
			map[string]string{
				"spark.kubernetes.container.image.pullPolicy": "Always", "spark.kubernetes.container.image.pullSecrets": "a,b",
				"spark.kubernetes.node.selector.disk": "ssd", "spark.kubernetes.memoryOverheadFactor": "0.2",
				"spark.kubernetes.pyspark.pythonVersion": "3",
			},
		},
		"dynamic allocation": {
			pi().Spec("dynamicAllocation: {enabled: true, initialExecutors: 2, minExecutors: 1, maxExecutors: 5, shuffleTrackingTimeout: 60}"),
			map[string]string{
				"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.initialExecutors": "2",
				"spark.dynamicAllocation.minExecutors": "1", "spark.dynamicAllocation.maxExecutors": "5",
				"spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.dynamicAllocation.shuffleTracking.timeout": "60",
				"spark.executor.instances": "",
			},
		},
		"dynamic allocation without shuffle tracking": {
			pi().Spec("dynamicAllocation: {enabled: true, shuffleTrackingEnabled: false}"),
			map[string]string{"spark.dynamicAllocation.shuffleTracking.enabled": "false"},
		},
		"dynamic allocation that is off":        {pi().Spec("dynamicAllocation: {minExecutors: 1}"), map[string]string{"spark.dynamicAllocation.minExecutors": ""}},
		"dynamic allocation by a property":      {pi().Conf("spark.dynamicAllocation.enabled", "true"), map[string]string{"spark.executor.instances": ""}},
		"a grace period of executors":           {pi().Executor("terminationGracePeriodSeconds: 7"), map[string]string{"spark.kubernetes.executor.terminationGracePeriodSeconds": "7s"}},
		"executors that are kept":               {pi().Executor("deleteOnTermination: false"), map[string]string{"spark.kubernetes.executor.deleteOnTermination": "false"}},
		"privileges of an executor":             {pi().Executor("securityContext: {allowPrivilegeEscalation: true}"), map[string]string{"spark.kubernetes.executor.securityContext.allowPrivilegeEscalation": "true"}},
		"a privileged driver":                   {pi().Driver("securityContext: {privileged: true}"), map[string]string{"spark.kubernetes.driver.securityContext.allowPrivilegeEscalation": "true"}},
		"executors' variable that Spark sets":   {pi().Executor("env: [{name: SPARK_USER, value: me}, {name: A, value: b}]"), map[string]string{"spark.executorEnv.SPARK_USER": "me", "spark.executorEnv.A": ""}},
		"one that refers to Spark's":            {pi().Executor("env: [{name: ID, value: 'n-$(SPARK_EXECUTOR_ID)'}]"), map[string]string{"spark.executorEnv.ID": "n-$(SPARK_EXECUTOR_ID)"}},
		"one that a property has, too":          {pi().Conf("spark.executorEnv.A", "b").Executor("env: [{name: A, value: c}]"), map[string]string{"spark.executorEnv.A": "c"}},
		"one that comes from elsewhere instead": {pi().Conf("spark.executorEnv.A", "b").Executor("env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]"), map[string]string{"spark.executorEnv.A": ""}},
		"Spark's configuration files": {pi().Spec("sparkConfigMap: files"), map[string]string{
			"spark.executorEnv.SPARK_CONF_DIR": "/etc/spark/conf",
		}},
		"a template": {pi().Executor("template: {spec: {}}"), map[string]string{
			"spark.kubernetes.executor.podTemplateContainerName":                             "spark-kubernetes-executor",
			"spark.kubernetes.executor.label.sparkoperator.k8s.io/mutated-by-spark-operator": "",
			"spark.kubernetes.driver.label.sparkoperator.k8s.io/mutated-by-spark-operator":   "true",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := propertiesOf(t, test.app.Obj())
			for key, want := range test.want {
				if got[key] != want {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
			}
		})
	}
}

// The API server warns of a variable that a container has twice.
func TestConfigurationOfTheDriverIsMountedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want map[string]string
	}{
		"Spark's own":       {pi(), map[string]string{"SPARK_CONF_DIR": "/opt/spark/conf"}},
		"the config map's":  {pi().Spec("sparkConfigMap: files"), map[string]string{"SPARK_CONF_DIR": "/etc/spark/conf"}},
		"and not a field's": {pi().Spec("sparkConfigMap: files").Driver("env: [{name: SPARK_CONF_DIR, value: /mine}]"), map[string]string{"SPARK_CONF_DIR": "/etc/spark/conf"}},
		"Hadoop's": {
			pi().Spec("hadoopConfigMap: files").Conf("spark.kubernetes.hadoop.configMapName", "others"),
			map[string]string{"HADOOP_CONF_DIR": "/etc/hadoop/conf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string][]string{}
			for _, variable := range built(t, test.app.Obj(), settings.NewDefaults()).Driver.Spec.Containers[0].Env {
				got[variable.Name] = append(got[variable.Name], variable.Value)
			}
			for key, want := range test.want {
				if diff := cmp.Diff([]string{want}, got[key]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
		})
	}
}

func TestFieldsOfExecutorsBecomeATemplate(t *testing.T) {
	const sidecarFirst = `template: {spec: {containers: [{name: logs, image: l}, {name: spark-kubernetes-executor, workingDir: /w}]}}`
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"none where properties say it all": {pi().Executor("{cores: 2, memory: 1g, labels: {a: b}}"), `null`},
		"the user's":                       {pi().Executor("template: {spec: {schedulerName: s}}"), `{metadata: {}, spec: {containers: null, schedulerName: s}}`},
		"the user's with fields in Spark's container of it": {
			pi().Executor(sidecarFirst).Executor("env: [{name: A, value: b}]"),
			`{metadata: {}, spec: {containers: [{name: logs, image: l, resources: {}},
			  {name: spark-kubernetes-executor, workingDir: /w, resources: {}, env: [{name: A, value: b}]}]}}`,
		},
		"the first container where none has Spark's name": {
			pi().Executor("{template: {spec: {containers: [{name: mine}]}}, env: [{name: A, value: b}]}"),
			`{metadata: {}, spec: {containers: [{name: mine, resources: {}, env: [{name: A, value: b}]}]}}`,
		},
		"no sidecar in the place of Spark's container": {
			pi().Executor("{template: {spec: {}}, sidecars: [{name: logs, image: l}]}"),
			`{metadata: {}, spec: {containers: [{name: spark-kubernetes-executor, resources: {}}, {name: logs, image: l, resources: {}}]}}`,
		},
		"a sidecar that is there once": {
			pi().Executor(sidecarFirst).Executor("sidecars: [{name: logs, image: l}]"),
			`{metadata: {}, spec: {containers: [{name: logs, image: l, resources: {}}, {name: spark-kubernetes-executor, workingDir: /w, resources: {}}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			before := app.DeepCopy()
			got, err := yaml.Marshal(planned(t, app, settings.NewDefaults()).ExecutorTemplate)
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			wanted, err := yaml.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(wanted), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, app); diff != "" {
				t.Errorf("the application was changed:\n%s", diff)
			}
		})
	}
}

func TestTheDriversContainerComesBeforeThoseOfATemplate(t *testing.T) {
	app := pi().Driver("{template: {spec: {containers: [{name: logs, image: l}, {name: spark-kubernetes-driver, workingDir: /w}]}}, sidecars: [{name: s, image: i}]}")
	var names []string
	for _, container := range built(t, app.Obj(), settings.NewDefaults()).Driver.Spec.Containers {
		names = append(names, container.Name)
	}
	if diff := cmp.Diff([]string{"spark-kubernetes-driver", "logs", "s"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMemoryLimitOfDriver(t *testing.T) {
	for given, want := range map[string]string{"2g": "2Gi", "2G": "2Gi", "2048mb": "2Gi", "2Gi": "2Gi", "3000M": "3000Mi", "4294967296": "4294967296"} {
		t.Run(given, func(t *testing.T) {
			pod := built(t, pi().Driver("memoryLimit: '"+given+"'").Obj(), settings.NewDefaults()).Driver.Spec
			limit := pod.Containers[0].Resources.Limits[corev1.ResourceMemory]
			if limit.String() != want {
				t.Errorf("got %s, want %s", limit.String(), want)
			}
		})
	}
}

func TestSecurityContextOfDriverKeepsSparksRestrictions(t *testing.T) {
	for text, want := range map[string]string{
		"{runAsUser: 7}":                                     `{runAsUser: 7, allowPrivilegeEscalation: false}`,
		"{allowPrivilegeEscalation: true}":                   `{allowPrivilegeEscalation: true}`,
		"{capabilities: {add: [CAP_SYS_ADMIN]}}":             `{capabilities: {add: [CAP_SYS_ADMIN]}}`,
		"{privileged: true, allowPrivilegeEscalation: true}": `{privileged: true, allowPrivilegeEscalation: true}`,
	} {
		t.Run(text, func(t *testing.T) {
			main := built(t, pi().Spark("4.3.0").Driver("securityContext: "+text).Obj(), settings.NewDefaults()).Driver.Spec.Containers[0]
			wantPart(t, main.SecurityContext, want)
			if context := main.SecurityContext; isTrue(context.Privileged) && !isTrue(context.AllowPrivilegeEscalation) {
				t.Error("Kubernetes does not take that")
			}
		})
	}
}

func isTrue(value *bool) bool { return value != nil && *value }
