package fields_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/batch"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// object is the one of a kind and a name; nil where there is none.
func object(objects *submission.Objects, kind, name string) submission.Object {
	for _, list := range [][]submission.Object{objects.Before, objects.Owned} {
		for _, object := range list {
			if object.GetObjectKind().GroupVersionKind().Kind == kind && object.GetName() == name {
				return object
			}
		}
	}
	return nil
}

func TestUIService(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"of an application that says nothing": {pi(), `
metadata: {name: pi-ui-svc, namespace: team-a, labels: {sparkoperator.k8s.io/app-name: pi, sparkoperator.k8s.io/created-by-spark-operator: "true"}}
spec: {type: ClusterIP, ports: [{name: spark-driver-ui-port, port: 4040, targetPort: 4040}],
  selector: {sparkoperator.k8s.io/app-name: pi, spark-role: driver}}`},
		"on the UI's own port": {pi().Conf("spark.ui.port", "4041"), `spec: {ports: [{port: 4041, targetPort: 4041}]}`},
		"as it is asked for": {
			pi().Conf("spark.ui.port", "4041").Spec("sparkUIOptions: {servicePort: 80, servicePortName: ui, serviceType: NodePort, " +
				"serviceAnnotations: {a: b}, serviceLabels: {c: d}}"),
			`{metadata: {labels: {c: d}, annotations: {a: b}}, spec: {type: NodePort, ports: [{name: ui, port: 80, targetPort: 4041}]}}`,
		},
		"on the usual port where only something else is asked for": {
			pi().Conf("spark.ui.port", "4041").Spec("sparkUIOptions: {serviceType: LoadBalancer}"), `spec: {ports: [{port: 4040, targetPort: 4041}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := object(built(t, test.app.Obj(), settings.NewDefaults()), "Service", "pi-ui-svc")
			wantPart(t, service, test.want)
			if _, has := service.GetLabels()[submission.LabelApplicationID]; has {
				t.Error("the driver would delete the Service in the end")
			}
		})
	}
}

func TestNoUIServiceIfTheSettingsSwitchItOff(t *testing.T) {
	if service := object(built(t, pi().Obj(), settings.Defaults{}), "Service", "pi-ui-svc"); service != nil {
		t.Errorf("there is %v", service)
	}
}

func TestUIServiceTypeOfTheSetting(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.UIServiceType = corev1.ServiceTypeNodePort
	for name, test := range map[string]struct {
		options  string
		want     corev1.ServiceType
		obsolete int
	}{
		"of an application that says nothing":   {"{}", corev1.ServiceTypeNodePort, 1},
		"of one with other options":             {"sparkUIOptions: {servicePort: 80}", corev1.ServiceTypeNodePort, 1},
		"of one that asks for a type":           {"sparkUIOptions: {serviceType: ClusterIP}", corev1.ServiceTypeClusterIP, 0},
		"of one that asks for a node port, too": {"sparkUIOptions: {serviceType: NodePort}", corev1.ServiceTypeNodePort, 0},
	} {
		t.Run(name, func(t *testing.T) {
			app := pi().Spec(test.options).Obj()
			objects := built(t, app, defaults)
			service := object(objects, "Service", "pi-ui-svc").(*corev1.Service)
			if service.Spec.Type != test.want || len(objects.Optional) != test.obsolete {
				t.Errorf("the type is %s; optional are %v", service.Spec.Type, objects.Optional)
			}
			if objects.UI.Service != service || objects.UI.NodePort != (test.obsolete > 0) || objects.UI.URL != "" {
				t.Errorf("the UI is reached by %+v", objects.UI)
			}
			if obsolete := fields.ObsoleteObjects(app, defaults); len(obsolete) != test.obsolete || test.obsolete > 0 && obsolete[0].GetName() != "pi-ui-svc" {
				t.Errorf("deleted at the end are %v", obsolete)
			}
		})
	}
}

func TestRoutesInPlaceOfIngresses(t *testing.T) {
	const options = "driverIngressOptions: [{servicePort: 5005, ingressURLFormat: 'debug.{{$appName}}', ingressAnnotations: {c: d}}]"
	for name, test := range map[string]struct {
		ingress      settings.Ingress
		object, want string
	}{
		"a host": {
			settings.Ingress{URLFormat: "https://{{$appName}}.example.com", Gateway: &dialect.Gateway{Namespace: "infra", Name: "public", Listener: "https"}},
			"pi-ui-ingress",
			"apiVersion: gateway.networking.k8s.io/v1\nspec: {parentRefs: [{namespace: infra, name: public, sectionName: https}], hostnames: [pi.example.com], " +
				"rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{name: pi-ui-svc, port: 4040}]}]}",
		},
		"a path": {
			settings.Ingress{URLFormat: "example.com/{{$appNamespace}}/{{$appName}}", Annotations: map[string]string{"a": "b"}, Gateway: &dialect.Gateway{Name: "public"}},
			"pi-ui-ingress",
			"spec: {parentRefs: [{namespace: team-a, name: public}], hostnames: [example.com], rules: [{matches: [{path: {type: PathPrefix, value: /team-a/pi}}], " +
				"filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}], backendRefs: [{name: pi-ui-svc, port: 4040}]}]}",
		},
		"another port": {
			settings.Ingress{Gateway: &dialect.Gateway{Namespace: "infra", Name: "public"}}, "pi-ing-5005",
			"spec: {hostnames: [debug.pi], rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{name: pi-driver-5005, port: 5005}]}]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			defaults := settings.NewDefaults()
			defaults.Ingress = test.ingress
			objects := built(t, pi().Spec(options).Obj(), defaults)
			wantPart(t, object(objects, "HTTPRoute", test.object), test.want)
			for _, owned := range objects.Owned {
				if kind := owned.GetObjectKind().GroupVersionKind().Kind; kind == "Ingress" {
					t.Errorf("there is the Ingress %s, too", owned.GetName())
				} else if kind == "HTTPRoute" && len(owned.GetAnnotations()) > 0 {
					t.Errorf("the route %s has the annotations %v", owned.GetName(), owned.GetAnnotations())
				}
			}
		})
	}
}

func TestIngressesAndTheirServicesFollowTheSpec(t *testing.T) {
	for name, test := range map[string]struct {
		app     *application
		ingress settings.Ingress
		object  string
		want    string
	}{
		"of a host": {
			pi(), settings.Ingress{URLFormat: "{{$appName}}.example.com"}, "pi-ui-ingress",
			`spec: {rules: [{host: pi.example.com, http: {paths: [{pathType: ImplementationSpecific, backend: {service: {name: pi-ui-svc, port: {number: 4040}}}}]}}]}`,
		},
		"of a path": {
			pi(), settings.Ingress{URLFormat: "https://example.com/{{$appNamespace}}/{{ $appName }}", ClassName: "nginx", Annotations: map[string]string{"a": "b"}}, "pi-ui-ingress",
			`{metadata: {annotations: {a: b, nginx.ingress.kubernetes.io/rewrite-target: /$2}},
			  spec: {ingressClassName: nginx, rules: [{host: example.com, http: {paths: [{path: "/team-a/pi(/|$)(.*)"}]}}]}}`,
		},
		"with what the application says in the place of the settings": {
			pi().Spec("sparkUIOptions: {ingressAnnotations: {c: d}, ingressTLS: [{secretName: mine}]}"),
			settings.Ingress{URLFormat: "a", TLS: []networkingv1.IngressTLS{{SecretName: "theirs"}}, Annotations: map[string]string{"a": "b"}}, "pi-ui-ingress",
			`{metadata: {annotations: {c: d}}, spec: {tls: [{secretName: mine}]}}`,
		},
		"of another port of the driver": {
			pi().Spec("driverIngressOptions: [{servicePort: 5005, ingressURLFormat: 'debug.{{$appName}}', ingressAnnotations: {c: d}}]"),
			settings.Ingress{}, "pi-ing-5005",
			`{metadata: {annotations: {c: d}}, spec: {rules: [{host: debug.pi, http: {paths: [{backend: {service: {name: pi-driver-5005, port: {number: 5005}}}}]}}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			defaults := settings.NewDefaults()
			defaults.Ingress = test.ingress
			wantPart(t, object(built(t, test.app.Obj(), defaults), "Ingress", test.object), test.want)
		})
	}
}

func TestServiceOfAnotherPort(t *testing.T) {
	app := pi().Spec("driverIngressOptions: [{servicePort: 5005, ingressURLFormat: a, serviceType: NodePort, serviceLabels: {a: b}}]").Obj()
	wantPart(t, object(built(t, app, settings.NewDefaults()), "Service", "pi-driver-5005"),
		`{metadata: {labels: {a: b}}, spec: {type: NodePort, ports: [{name: driver-ing-5005, port: 5005, targetPort: 5005}]}}`)
}

func TestUIHasItsPath(t *testing.T) {
	defaults := settings.NewDefaults()
	for format, want := range map[string]string{"{{$appName}}.example.com": "", "example.com/{{$appName}}": "/pi"} {
		defaults.Ingress.URLFormat = format
		if got := planned(t, pi().Obj(), defaults).Properties["spark.ui.proxyBase"]; got != want {
			t.Errorf("behind %s the UI takes %q for its path", format, got)
		}
	}
	given := planned(t, pi().Conf("spark.ui.proxyBase", "/mine").Obj(), defaults).Properties
	if given["spark.ui.proxyBase"] != "/mine" {
		t.Error("the application's own path is gone")
	}
}

// onSchedulers are settings that know batch schedulers.
func onSchedulers() settings.Defaults {
	defaults := settings.NewDefaults()
	defaults.BatchSchedulers = []string{batch.Volcano, batch.YuniKorn, "plugins"}
	return defaults
}

func TestBatchSchedulerPodGroups(t *testing.T) {
	asked := func() *application {
		return pi().Driver("{cores: 1, memory: 512m}").Executor("{cores: 2, coreRequest: 500m, memory: 1g, instances: 3}")
	}
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"Volcano's": {asked().Spec("batchScheduler: volcano"), `
apiVersion: scheduling.volcano.sh/v1beta1
metadata: {name: spark-pi-pg, namespace: team-a}
spec: {minMember: 1, minResources: {cpu: 2500m, memory: 5120Mi}}`},
		"Volcano's with options": {
			asked().Spec("{batchScheduler: volcano, batchSchedulerOptions: {queue: q, priorityClassName: p, resources: {cpu: '9'}}}"),
			`{metadata: {name: spark-pi-pg}, spec: {queue: q, priorityClassName: p, minResources: {cpu: "9"}}}`,
		},
		"the coscheduling plugin's": {asked().Spec("batchScheduler: plugins"), `
apiVersion: scheduling.x-k8s.io/v1alpha1
metadata: {name: pi-pg, namespace: team-a}
spec: {minMember: 1, minResources: {cpu: 2500m}}`},
	} {
		t.Run(name, func(t *testing.T) {
			objects := built(t, test.app.Obj(), onSchedulers())
			if len(objects.Before) != 1 {
				t.Fatalf("before the driver there are %v", objects.Before)
			}
			group := strings.ReplaceAll(test.want, "5120Mi", "5Gi")
			wantPart(t, objects.Before[0], group)
		})
	}
}

func TestBatchSchedulerWithoutPodGroup(t *testing.T) {
	for name, app := range map[string]*application{
		"without a batch scheduler":         pi(),
		"of one that the settings know not": pi().Spec("batchScheduler: other"),
		"of YuniKorn":                       pi().Spec("batchScheduler: yunikorn"),
		"where the user has one":            pi().Spec("batchScheduler: volcano").Driver("annotations: {scheduling.k8s.io/group-name: mine}"),
	} {
		if before := built(t, app.Obj(), onSchedulers()).Before; len(before) > 0 {
			t.Errorf("%s there are %v", name, before)
		}
	}
}

func TestBatchSchedulerSelectsPods(t *testing.T) {
	defaulted := onSchedulers()
	defaulted.DefaultBatchScheduler = batch.Volcano
	for name, test := range map[string]struct {
		app      *application
		defaults settings.Defaults
		want     map[string]string
	}{
		"Volcano": {pi().Spec("batchScheduler: volcano"), onSchedulers(), map[string]string{
			"spark.kubernetes.driver.scheduler.name": "volcano", "spark.kubernetes.executor.scheduler.name": "volcano",
			"spark.kubernetes.driver.annotation.scheduling.k8s.io/group-name":   "spark-pi-pg",
			"spark.kubernetes.executor.annotation.scheduling.k8s.io/group-name": "spark-pi-pg",
		}},
		"the coscheduling plugin": {pi().Spec("batchScheduler: plugins"), onSchedulers(), map[string]string{
			"spark.kubernetes.driver.label.scheduling.x-k8s.io/pod-group":   "pi-pg",
			"spark.kubernetes.executor.label.scheduling.x-k8s.io/pod-group": "pi-pg",
		}},
		"YuniKorn": {pi().Spec("{batchScheduler: yunikorn, batchSchedulerOptions: {queue: root.q}}"), onSchedulers(), map[string]string{
			"spark.kubernetes.driver.annotation.yunikorn.apache.org/task-group-name":   "spark-driver",
			"spark.kubernetes.executor.annotation.yunikorn.apache.org/task-group-name": "spark-executor",
			"spark.kubernetes.driver.label.queue":                                      "root.q",
		}},
		"one that the settings know not": {pi().Spec("batchScheduler: other"), onSchedulers(), map[string]string{
			"spark.kubernetes.driver.scheduler.name": "other",
		}},
		"the default": {pi(), defaulted, map[string]string{
			"spark.kubernetes.driver.scheduler.name": "volcano", "spark.kubernetes.driver.annotation.scheduling.k8s.io/group-name": "spark-pi-pg",
		}},
		"a role's own in the place of the default": {pi().Driver("schedulerName: mine"), defaulted, map[string]string{
			"spark.kubernetes.driver.scheduler.name": "mine", "spark.kubernetes.driver.annotation.scheduling.k8s.io/group-name": "",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := planned(t, test.app.Obj(), test.defaults).Properties
			for key, want := range test.want {
				if got[key] != want {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
			}
		})
	}
}

func TestBatchSchedulerTaskGroupsOfYuniKorn(t *testing.T) {
	app := pi().Spec("{batchScheduler: yunikorn, nodeSelector: {a: b}}").Driver("memory: 512m").
		Executor("{memory: 1g, instances: 2, tolerations: [{key: k, operator: Exists}]}").Obj()
	const want = `[{"name":"spark-driver","minMember":1,"minResource":{"cpu":"1","memory":"896Mi"},"nodeSelector":{"a":"b"}},` +
		`{"name":"spark-executor","minMember":2,"minResource":{"cpu":"1","memory":"1408Mi"},"nodeSelector":{"a":"b"},` +
		`"tolerations":[{"key":"k","operator":"Exists"}]}]`
	got := built(t, app, onSchedulers()).Driver.Annotations["yunikorn.apache.org/task-groups"]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	alone := pi().Spec("{batchScheduler: yunikorn, dynamicAllocation: {enabled: true}}").Obj()
	if got := built(t, alone, onSchedulers()).Driver.Annotations["yunikorn.apache.org/task-groups"]; strings.Contains(got, "spark-executor") {
		t.Errorf("there is a group of no executors: %s", got)
	}
}

func TestMonitoringConfiguresTheJavaAgent(t *testing.T) {
	const exposed = "exposeDriverMetrics: true, exposeExecutorMetrics: true"
	for name, test := range map[string]struct {
		app             *application
		conf            map[string]string
		data            []string // keys of the config map; none for no config map
		mounted, driver string   // the template's and the driver's parts
	}{
		"by the exporter": {
			pi().Driver("javaOptions: -Da=b").Conf("spark.executor.extraJavaOptions", "-Dc=d").
				Spec("monitoring: {" + exposed + ", prometheus: {jmxExporterJar: /j.jar}}"),
			map[string]string{
				"spark.metrics.namespace": "team-a.pi", "spark.metrics.conf": "/etc/metrics/conf/metrics.properties",
				"spark.driver.extraJavaOptions":                           "-Da=b -javaagent:/j.jar=8090:/etc/metrics/conf/prometheus.yaml",
				"spark.executor.extraJavaOptions":                         "-Dc=d -javaagent:/j.jar=8090:/etc/metrics/conf/prometheus.yaml",
				"spark.kubernetes.driver.annotation.prometheus.io/scrape": "true",
				"spark.kubernetes.executor.annotation.prometheus.io/port": "8090",
				"spark.kubernetes.executor.annotation.prometheus.io/path": "/metrics",
			},
			[]string{"metrics.properties", "prometheus.yaml"},
			`{volumes: [{name: pi-prom-conf-vol, configMap: {name: pi-prom-conf}}]}`,
			`{ports: [{name: jmx-exporter, containerPort: 8090, protocol: TCP}], volumeMounts: [{name: pi-prom-conf-vol, mountPath: /etc/metrics/conf, readOnly: true}]}`,
		},
		"by files of the image": {
			pi().Spec("monitoring: {" + exposed + ", metricsPropertiesFile: /m, prometheus: {jmxExporterJar: /j.jar, configFile: /c, port: 9000, portName: p}}"),
			map[string]string{
				"spark.metrics.conf": "/m", "spark.driver.extraJavaOptions": "-javaagent:/j.jar=9000:/c",
			},
			nil, ``, `{ports: [{name: p, containerPort: 9000}]}`,
		},
		"of the driver alone": {
			pi().Spec("monitoring: {exposeDriverMetrics: true, prometheus: {jmxExporterJar: /j.jar}}"),
			map[string]string{"spark.executor.extraJavaOptions": ""},
			[]string{"metrics.properties", "prometheus.yaml"}, `null`, ``,
		},
		"of Spark alone": {
			pi().Spec("monitoring: {" + exposed + ", metricsProperties: mine}"),
			map[string]string{"spark.metrics.conf": "/etc/metrics/conf/metrics.properties", "spark.driver.extraJavaOptions": "",
				"spark.kubernetes.driver.annotation.prometheus.io/scrape": ""},
			[]string{"metrics.properties"}, `{volumes: [{name: pi-prom-conf-vol}]}`, `{volumeMounts: [{name: pi-prom-conf-vol}]}`,
		},
		"of nothing": {pi().Spec("monitoring: {" + exposed + "}"), map[string]string{"spark.metrics.conf": ""}, nil, ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			properties := propertiesOf(t, app)
			for key, want := range test.conf {
				if properties[key] != want {
					t.Errorf("%s is %q, want %q", key, properties[key], want)
				}
			}
			objects := built(t, app, settings.NewDefaults())
			var keys []string
			if configMap, ok := object(objects, "ConfigMap", "pi-prom-conf").(*corev1.ConfigMap); ok {
				for _, key := range []string{"metrics.properties", "prometheus.yaml"} {
					if configMap.Data[key] != "" {
						keys = append(keys, key)
					}
				}
			}
			if diff := cmp.Diff(test.data, keys); diff != "" {
				t.Errorf("the config map has (-want +got):\n%s", diff)
			}
			pod, _ := executorOf(t, app)
			wantPart(t, pod, test.mounted)
			wantPart(t, objects.Driver.Spec.Containers[0], test.driver)
		})
	}
}

func TestDisruptionBudget(t *testing.T) {
	app, defaults := pi().Spec("driverPodDisruptionBudget: true").Obj(), settings.NewDefaults()
	if budget := object(built(t, app, defaults), "PodDisruptionBudget", "pi-driver"); budget != nil {
		t.Errorf("the settings don't allow %v", budget)
	}
	defaults.DriverPodDisruptionBudget = true
	wantPart(t, object(built(t, app, defaults), "PodDisruptionBudget", "pi-driver"),
		`spec: {minAvailable: 1, selector: {matchLabels: {sparkoperator.k8s.io/app-name: pi, spark-role: driver}}}`)
}

func TestADriverWithoutServiceHasTheUIsService(t *testing.T) {
	none := settings.NewDefaults()
	none.WithoutDriverService = true
	for name, test := range map[string]struct {
		app      *application
		settings settings.Defaults
	}{
		"by the annotation": {pi().Annotated(dialect.AnnotationDriverService, "none"), settings.NewDefaults()},
		"by the setting":    {pi(), none},
	} {
		t.Run(name, func(t *testing.T) {
			objects, services := built(t, test.app.Obj(), test.settings), 0
			for _, object := range objects.Owned {
				if _, ok := object.(*corev1.Service); ok {
					services++
				}
			}
			if object(objects, "Service", "pi-ui-svc") == nil || services != 1 {
				t.Errorf("the driver owns %d Services", services)
			}
		})
	}
}

func TestOneConfigMapHasTheExecutorsTemplate(t *testing.T) {
	one := settings.NewDefaults()
	one.OneDriverConfigMap = true
	tolerant := func() *application { return pi().Executor("tolerations: [{key: spot}]") }
	for name, test := range map[string]struct {
		app      *application
		settings settings.Defaults
		maps     int
	}{
		"by the annotation":     {tolerant().Annotated(dialect.AnnotationDriverConfigMaps, "one"), settings.NewDefaults(), 1},
		"by the setting":        {tolerant(), one, 1},
		"not without them":      {tolerant(), settings.NewDefaults(), 2},
		"not if it is separate": {tolerant().Annotated(dialect.AnnotationDriverConfigMaps, "separate"), one, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var configMaps []*corev1.ConfigMap
			for _, object := range built(t, test.app.Obj(), test.settings).Owned {
				if configMap, ok := object.(*corev1.ConfigMap); ok {
					configMaps = append(configMaps, configMap)
				}
			}
			if len(configMaps) != test.maps {
				t.Fatalf("the driver owns %d ConfigMaps", len(configMaps))
			}
			if template := configMaps[0].Data[submission.PodTemplateKey]; !strings.Contains(template, "key: spot") {
				t.Errorf("executors are made from %q", template)
			}
		})
	}
}

func TestAnotherHostnameOfADriverWithoutServiceIsRefused(t *testing.T) {
	app := pi().Driver("env: [{name: A, value: b}, {name: SPARK_LOCAL_HOSTNAME, value: laptop}]")
	built(t, app.Obj(), settings.NewDefaults())
	app.Annotated(dialect.AnnotationDriverService, "none")
	_, err := build(app.Obj(), settings.NewDefaults())
	if err == nil {
		t.Fatal("it was accepted")
	}
	const want = `spec.driver.env[1] "laptop" is not the address of the driver's Pod, by which executors find a driver without a Service: leave it out`
	if got := fields.Refusals(err, app.Obj(), settings.NewDefaults()).String(); got != want {
		t.Errorf("the refusal is %q, not %q", got, want)
	}
}
