package move

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func defaults(t *testing.T, c Chart) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", c.Name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTableHasEveryValueOfTheOtherCharts(t *testing.T) {
	for _, c := range Charts {
		values := Values{}
		if err := yaml.Unmarshal(defaults(t, c), &values); err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for _, path := range leaves("", values) {
			if r := c.rowOf(path); r == nil {
				t.Errorf("%s: no row has %s", c.Name, path)
			} else {
				used[r.theirs] = true
			}
		}
		for _, r := range c.rows {
			if !used[r.theirs] {
				t.Errorf("%s: that chart has no value %s", c.Name, r.theirs)
			}
			if r.ours == "" && r.note == "" {
				t.Errorf("%s: the row %s says neither what there is nor why not", c.Name, r.theirs)
			}
			if r.ours == "" && r.convert == nil && !strings.HasPrefix(r.note, "none: ") {
				t.Errorf("%s: %s has no counterpart, and its note is %q", c.Name, r.theirs, r.note)
			}
		}
	}
}

func TestTableNamesValuesOfTheChart(t *testing.T) {
	text, err := os.ReadFile("../../../charts/firesteel/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema := Values{}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range Charts {
		for _, r := range c.rows {
			section := schema
			for key := range strings.SplitSeq(r.ours, "/") {
				if r.ours == "" {
					break
				}
				properties, _ := section["properties"].(Values)
				if section, _ = properties[key].(Values); section == nil {
					t.Errorf("%s: %s became %s, which the chart does not have", c.Name, r.theirs, r.ours)
					break
				}
			}
		}
	}
}

func TestValuesOfOtherChartsAreConverted(t *testing.T) {
	for name, test := range map[string]struct {
		chart Chart
		given string
		want  string
		notes []string
	}{
		"of what is the same": {
			Charts[0], "controller: {replicas: 1, tolerations: [{key: a}], labels: {a: b}}\nspark: {jobNamespaces: [team-a]}",
			"controller: {replicas: 1, tolerations: [{key: a}], labels: {a: b}}\nspark: {jobNamespaces: [team-a]}", nil,
		},
		"of a name that is the other operator's": {
			Charts[0], "fullnameOverride: spark-operator", "{}", []string{"fullnameOverride: none"},
		},
		"of replicas": {
			Charts[0], "controller: {replicas: 3}", "controller: {replicas: 3}\nsettings: {config-leader-election: {buckets: 6}}", nil,
		},
		"of many replicas": {
			Charts[1], "operatorDeployment: {replicas: 7}",
			"controller: {replicas: 7}\nsettings: {config-leader-election: {buckets: 10}}\nspark: {jobNamespaces: [spark-operator]}", nil,
		},
		"of a time to live behind its gate": {
			Charts[0], "controller: {defaultTimeToLiveSeconds: 60, featureGates: [{name: DefaultTimeToLive, enabled: true}]}",
			"settings: {config-kubeflow: {default-time-to-live: 60s}}", nil,
		},
		"of a time to live whose gate is closed": {Charts[0], "controller: {defaultTimeToLiveSeconds: 60}", "{}", nil},
		"of a gate without counterpart": {
			Charts[0], "controller: {featureGates: [{name: PartialRestart, enabled: true}]}", "{}",
			[]string{"controller.featureGates: the gate PartialRestart has no counterpart"},
		},
		"of batch schedulers": {
			Charts[0], "controller: {batchScheduler: {enable: true, kubeSchedulerNames: [a], default: volcano}}",
			"settings: {config-kubeflow: {batch-schedulers: 'volcano, yunikorn, a', default-batch-scheduler: volcano}}", nil,
		},
		"of batch schedulers that are off": {Charts[0], "controller: {batchScheduler: {kubeSchedulerNames: [a], default: volcano}}", "{}", nil},
		"of an Ingress": {
			Charts[0], "controller: {uiIngress: {enable: true, urlFormat: a.b, tls: [{hosts: [a]}], annotations: {a: b}}}",
			"settings: {config-kubeflow: {ingress-url-format: a.b, ingress-tls: [{hosts: [a]}], ingress-annotations: {a: b}}}", nil,
		},
		"of more executors than there is room for": {
			Charts[0], "controller: {maxTrackedExecutorPerApp: 9000}", "settings: {config-kubeflow: {max-tracked-executors: 5000}}",
			[]string{"controller.maxTrackedExecutorPerApp: 9000 is more"},
		},
		"of metrics at the port of the probes": {
			Charts[0], "prometheus: {metrics: {enable: true, port: 8080}, podMonitor: {create: true}}",
			"settings: {config-observability: {metrics-protocol: prometheus}}\nprometheus: {podMonitor: {create: true}}",
			[]string{"prometheus.metrics.port: 8080 is the port of the probes here"},
		},
		"of metrics at another port": {
			Charts[0], "prometheus: {metrics: {enable: true, port: 7000}}",
			"settings: {config-observability: {metrics-protocol: prometheus, metrics-endpoint: ':7000'}}", nil,
		},
		"of no metrics": {
			Charts[0], "prometheus: {metrics: {enable: false}, podMonitor: {create: true}}",
			"settings: {config-observability: {metrics-protocol: none}}", nil,
		},
		"of a selector beside all namespaces": {
			Charts[0], "spark: {jobNamespaces: [''], jobNamespaceSelector: a=b}", "spark: {jobNamespaces: ['']}",
			[]string{"spark.jobNamespaceSelector: left out"},
		},
		"of a selector alone": {
			Charts[0], "spark: {jobNamespaces: [], jobNamespaceSelector: a=b}", "spark: {jobNamespaces: [], jobNamespaceSelector: a=b}", nil,
		},
		"of a selector beside the default namespace": {
			Charts[0], "spark: {jobNamespaceSelector: a=b}", "spark: {jobNamespaces: [default], jobNamespaceSelector: a=b}", nil,
		},
		"of an empty file":               {Charts[0], "", "{}", nil},
		"of what helm get values prints": {Charts[0], "null", "{}", nil},
		"of numbers and switches that are strings": {
			Charts[0], "controller: {replicas: '1', maxTrackedExecutorPerApp: '2000', uiService: {enable: 'true'}}\nprometheus: {metrics: {enable: 'true', port: '7000'}}",
			"controller: {replicas: 1}\nsettings: {config-kubeflow: {max-tracked-executors: 2000, ui-service: enabled}, " +
				"config-observability: {metrics-protocol: prometheus, metrics-endpoint: ':7000'}}", nil,
		},
		"of a webhook": {
			Charts[0], "webhook: {enable: true, resourceQuotaEnforcement: {enable: false}}", "{}",
			[]string{"webhook: none"},
		},
		"of a webhook that enforces quotas": {
			Charts[0], "webhook: {enable: true, resourceQuotaEnforcement: {enable: true}}", "settings: {config-admission: {quota: fail}}",
			[]string{"webhook: none"},
		},
		"of what that chart does not have": {
			Charts[0], "controller: {replica: 2}", "{}", []string{"controller.replica: that chart has no such value"},
		},
		"of volumes": {
			Charts[0], "controller: {volumes: [{name: tmp, emptyDir: {}}, {name: a, emptyDir: {}}]}",
			"controller: {volumes: [{name: a, emptyDir: {}}]}", nil,
		},
		"of watched namespaces": {
			Charts[1], "workloadResources: {namespaces: {create: true, overrideWatchedNamespaces: true, data: [a, b]}}",
			"spark: {jobNamespaces: [a, b]}", []string{"workloadResources.namespaces.create: create the namespaces first"},
		},
		"of namespaces that are not all that is watched": {
			Charts[1], "workloadResources: {namespaces: {overrideWatchedNamespaces: false, data: [a]}}",
			"spark: {jobNamespaces: ['', a]}\nsettings: {config-scope: {watched-namespaces: default}}", nil,
		},
		"of no namespaces": {Charts[1], "", "spark: {jobNamespaces: [spark-operator]}", nil},
		"of no namespaces, which are not watched": {
			Charts[1], "workloadResources: {namespaces: {overrideWatchedNamespaces: false}}",
			"spark: {jobNamespaces: ['', spark-operator]}\nsettings: {config-scope: {watched-namespaces: default}}", nil,
		},
		"of a property that wins over the namespaces": {
			Charts[1], `{workloadResources: {namespaces: {data: [a]}}, operatorConfiguration: {"spark-operator.properties": "spark.kubernetes.operator.watchedNamespaces=*"}}`,
			"spark: {jobNamespaces: ['', a]}\nsettings: {config-scope: {watched-namespaces: '*'}}", nil,
		},
		"of a dynamic property that wins over the file's": {
			Charts[1], `{workloadResources: {namespaces: {data: [a]}}, operatorConfiguration: {"spark-operator.properties": "spark.kubernetes.operator.watchedNamespaces=*", ` +
				`dynamicConfig: {create: true, data: {spark.kubernetes.operator.watchedNamespaces: b}}}}`,
			"spark: {jobNamespaces: ['', a]}\nsettings: {config-scope: {watched-namespaces: b}}",
			[]string{"operatorConfiguration.dynamicConfig: none"},
		},
		"of a property beside roles in namespaces": {
			Charts[1], `{operatorRbac: {clusterRoleBinding: {create: false}, roleBinding: {create: true}}, workloadResources: {namespaces: {data: [a]}}, ` +
				`operatorConfiguration: {"spark-operator.properties": "spark.kubernetes.operator.watchedNamespaces=b"}}`,
			"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [a]}",
			[]string{"operatorConfiguration.spark-operator.properties: spark.kubernetes.operator.watchedNamespaces is left out"},
		},
		"of roles in namespaces": {
			Charts[1], "operatorRbac: {clusterRole: {create: false}, clusterRoleBinding: {create: false}, role: {create: true}, roleBinding: {create: true}}",
			"controller: {rbac: {scope: Namespaces}}\nspark: {jobNamespaces: [spark-operator]}", nil,
		},
		"of properties": {
			Charts[1], `operatorConfiguration: {"spark-operator.properties": "# ours\nspark.kubernetes.operator.watchedNamespaces=a,b\n` +
				`spark.kubernetes.operator.leaderElection.leaseDurationSeconds=20\nspark.kubernetes.operator.reconciler.parallelism=5\n"}`,
			"settings: {config-scope: {watched-namespaces: 'a,b'}, config-leader-election: {lease-duration: 20s}}\nspark: {jobNamespaces: ['', spark-operator]}",
			[]string{"operatorConfiguration.spark-operator.properties: spark.kubernetes.operator.reconciler.parallelism has no counterpart"},
		},
		"of metrics that are always served": {
			Charts[1], "operatorDeployment: {operatorPod: {operatorContainer: {metrics: {port: 19090}}}}",
			"settings: {config-observability: {metrics-protocol: prometheus, metrics-endpoint: ':19090'}}\nspark: {jobNamespaces: [spark-operator]}", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := test.chart.Convert([]byte(test.given), "spark-operator")
			if err != nil {
				t.Fatal(err)
			}
			want := Values{}
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			for path, value := range test.chart.implied {
				if at(want, path) == nil {
					assign(want, path, value)
				}
			}
			text, err := Text(got, nil)
			if err != nil {
				t.Fatal(err)
			}
			again := Values{}
			if err := yaml.Unmarshal(text, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if !slices.EqualFunc(notes, test.notes, strings.HasPrefix) {
				t.Errorf("notes are %q, want %q", notes, test.notes)
			}
		})
	}
}

func TestConversionNeedsTheNamespaceThatTheFileMeans(t *testing.T) {
	const listed = "workloadResources: {namespaces: {data: [a]}}"
	if _, _, err := Charts[1].Convert(nil, ""); err == nil || !strings.Contains(err.Error(), "-namespace") {
		t.Errorf("the error is %v", err)
	}
	if _, _, err := Charts[1].Convert([]byte(listed), ""); err != nil {
		t.Error(err)
	}
}
