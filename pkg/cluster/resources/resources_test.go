package resources_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

// cluster has two workers in the namespace spark, and a spec in YAML.
func cluster(t *testing.T, spec string) *sparkv1.SparkCluster {
	t.Helper()
	c := &sparkv1.SparkCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spark", Name: "c", UID: "uid"},
		Spec: sparkv1.ClusterSpec{
			RuntimeVersions:    sparkv1.RuntimeVersions{SparkVersion: "4.1.4"},
			ClusterTolerations: sparkv1.ClusterTolerations{InstanceConfig: sparkv1.WorkerInstanceConfig{InitWorkers: 2, MinWorkers: 2, MaxWorkers: 2}},
		},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &c.Spec); err != nil {
		t.Fatal(err)
	}
	return c
}

func workers(initially, least, most int) string {
	return fmt.Sprintf(`clusterTolerations: {instanceConfig: {initWorkers: %d, minWorkers: %d, maxWorkers: %d}}`, initially, least, most)
}

func build(t *testing.T, spec string) *Objects {
	t.Helper()
	objects, err := Build(cluster(t, spec), Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func containerOf(set *appsv1.StatefulSet, name string) corev1.Container {
	for _, c := range set.Spec.Template.Spec.Containers {
		if c.Name == name {
			return c
		}
	}
	return corev1.Container{}
}

func environment(c corev1.Container) map[string]string {
	values := map[string]string{}
	for _, v := range c.Env {
		values[v.Name] = v.Value
	}
	return values
}

func namesOf(objects *Objects) []string {
	var names []string
	for _, object := range objects.All() {
		names = append(names, fmt.Sprintf("%T %s", object, object.GetName()))
	}
	return names
}

func TestObjectsOfAClusterHaveTheApacheOperatorsNames(t *testing.T) {
	fixed := []string{"*v1.Service c-master-svc", "*v1.Service c-worker-svc", "*v1.NetworkPolicy c-worker", "*v1.StatefulSet c-master", "*v1.StatefulSet c-worker"}
	for name, test := range map[string]struct {
		spec string
		more []string
	}{
		"a number of workers":   {spec: workers(2, 2, 2), more: []string{"*v1.PodDisruptionBudget c-worker-pdb"}},
		"a range":               {spec: workers(2, 1, 3), more: []string{"*v2.HorizontalPodAutoscaler c-worker-hpa", "*v1.PodDisruptionBudget c-worker-pdb"}},
		"a range from none":     {spec: workers(0, 0, 3), more: []string{"*v2.HorizontalPodAutoscaler c-worker-hpa"}},
		"no worker needed":      {spec: workers(2, 0, 0)},
		"a minimum above a max": {spec: workers(2, 4, 1), more: []string{"*v1.PodDisruptionBudget c-worker-pdb"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(slices.Concat(fixed, test.more), namesOf(build(t, test.spec))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryObjectBelongsToTheCluster(t *testing.T) {
	template := `{labels: {mine: too, spark.operator/name: stolen}, annotations: {a: b}, name: other, namespace: other}`
	objects := build(t, workers(2, 1, 3)+`
masterSpec: {statefulSetMetadata: `+template+`, serviceMetadata: `+template+`}
workerSpec: {statefulSetMetadata: `+template+`, serviceMetadata: `+template+`}`)
	for _, object := range objects.All() {
		name := object.GetName()
		if owner := metav1.GetControllerOf(object); owner == nil || owner.UID != "uid" || owner.Kind != "SparkCluster" || owner.APIVersion != "spark.apache.org/v1" {
			t.Errorf("%s is owned by %v", name, owner)
		}
		want := map[string]string{LabelOperator: "spark-kubernetes-operator", LabelCluster: "c", LabelVersion: "4.1.4"}
		for key, value := range want {
			if got := object.GetLabels()[key]; got != value {
				t.Errorf("%s has %s=%q", name, key, got)
			}
		}
		if object.GetNamespace() != "spark" || !strings.HasPrefix(name, "c-") {
			t.Errorf("%s is in %s", name, object.GetNamespace())
		}
		_, templated := object.GetLabels()["mine"]
		if hasTemplate := strings.HasSuffix(name, "svc") || fmt.Sprintf("%T", object) == "*v1.StatefulSet"; hasTemplate != templated || hasTemplate != (object.GetAnnotations()["a"] == "b") {
			t.Errorf("%s has labels %v and annotations %v", name, object.GetLabels(), object.GetAnnotations())
		}
	}
}

func TestServicesSelectTheMasterAndTheWorkers(t *testing.T) {
	objects := build(t, "")
	want := corev1.ServiceSpec{
		ClusterIP: "None", Selector: map[string]string{"spark-role": "master", "spark.operator/spark-cluster-name": "c"},
		Ports: []corev1.ServicePort{
			{Name: "web", Protocol: "TCP", Port: 8080, TargetPort: intstr.FromString("web")},
			{Name: "spark", Protocol: "TCP", Port: 7077, TargetPort: intstr.FromString("spark")},
			{Name: "rest", Protocol: "TCP", Port: 6066, TargetPort: intstr.FromString("rest")},
		},
	}
	if diff := cmp.Diff(want, objects.MasterService.Spec); diff != "" {
		t.Error(diff)
	}
	want.Selector = map[string]string{"spark-role": "worker", "spark.operator/spark-cluster-name": "c"}
	want.Ports = []corev1.ServicePort{{Name: "web", Protocol: "TCP", Port: 8081, TargetPort: intstr.FromString("web")}}
	if diff := cmp.Diff(want, objects.WorkerService.Spec); diff != "" {
		t.Error(diff)
	}
}

func TestServiceTemplatesAreTheBase(t *testing.T) {
	service := build(t, `masterSpec: {serviceSpec: {type: NodePort, sessionAffinity: ClientIP, selector: {a: b},
		ports: [{name: web, port: 80, nodePort: 30080, targetPort: web}, {name: metrics, port: 9404}]}}`).MasterService.Spec
	var names []string
	for _, port := range service.Ports {
		names = append(names, port.Name)
	}
	if !slices.Equal(names, []string{"web", "metrics", "spark", "rest"}) || service.Ports[0].NodePort != 30080 {
		t.Errorf("ports %v", service.Ports)
	}
	if service.ClusterIP != "" || service.Type != "NodePort" || service.SessionAffinity != "ClientIP" {
		t.Errorf("a Service with an address of its own became %+v", service)
	}
	if service.Selector["a"] != "b" || service.Selector["spark-role"] != "master" {
		t.Errorf("selector %v", service.Selector)
	}
}

func TestStatefulSetsSelectTheirOwnClusterOnly(t *testing.T) {
	objects := build(t, `
masterSpec: {statefulSetSpec: {replicas: 5, podManagementPolicy: OrderedReady, serviceName: other, selector: {matchLabels: {a: b}}}}
workerSpec: {statefulSetSpec: {replicas: 5, template: {metadata: {labels: {mine: too, spark-role: driver}}}}}`)
	for role, set := range map[string]*appsv1.StatefulSet{"master": objects.Master, "worker": objects.Worker} {
		selector := map[string]string{"spark-role": role, "spark.operator/spark-cluster-name": "c"}
		if diff := cmp.Diff(&metav1.LabelSelector{MatchLabels: selector}, set.Spec.Selector); diff != "" {
			t.Errorf("%s: %s", role, diff)
		}
		for key, value := range selector {
			if set.Spec.Template.Labels[key] != value {
				t.Errorf("the %s's Pods are labelled %v", role, set.Spec.Template.Labels)
			}
		}
		if set.Spec.Template.Labels["spark-version"] != "4.1.4" || set.Spec.PodManagementPolicy != "Parallel" || set.Spec.ServiceName != "c-"+role+"-svc" {
			t.Errorf("%s: %+v", role, set.Spec)
		}
		if links := set.Spec.Template.Spec.EnableServiceLinks; links == nil || *links {
			t.Errorf("%s gets the variables of other Services", role)
		}
	}
	if *objects.Master.Spec.Replicas != 1 || *objects.Worker.Spec.Replicas != 2 || objects.Worker.Spec.Template.Labels["mine"] != "too" {
		t.Errorf("%d masters and %d workers", *objects.Master.Spec.Replicas, *objects.Worker.Spec.Replicas)
	}
}

func TestTheSparkContainerIsFoundOrAdded(t *testing.T) {
	for name, test := range map[string]struct {
		containers string
		want       []string
	}{
		"none":               {want: []string{"worker apache/spark:4.1.4"}},
		"the worker's":       {containers: `{name: a, image: a}, {name: worker}`, want: []string{"a a", "worker apache/spark:4.1.4"}},
		"one without a name": {containers: `{image: mine}`, want: []string{"worker mine"}},
		"only others":        {containers: `{name: a, image: a}`, want: []string{"worker apache/spark:4.1.4", "a a"}},
		"an image":           {containers: `{name: worker, image: mine}`, want: []string{"worker mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := build(t, `workerSpec: {statefulSetSpec: {template: {spec: {containers: [`+test.containers+`]}}}}`)
			var got []string
			for _, c := range objects.Worker.Spec.Template.Spec.Containers {
				got = append(got, c.Name+" "+c.Image)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheImageComesFromPropertiesSettingsOrTheVersion(t *testing.T) {
	named := cluster(t, `{sparkConf: {spark.kubernetes.container.image: "r/spark:{{SPARK_VERSION}}-x"},
		workerSpec: {statefulSetSpec: {template: {spec: {containers: [{name: worker, image: other}]}}}}}`)
	for name, test := range map[string]struct {
		cluster  *sparkv1.SparkCluster
		defaults Defaults
		want     string
	}{
		"named by the properties": {cluster: named, want: "r/spark:4.1.4-x"},
		"of the settings":         {cluster: cluster(t, ""), defaults: Defaults{Image: "s/spark:{{SPARK_VERSION}}"}, want: "s/spark:4.1.4"},
		"of neither":              {cluster: cluster(t, ""), want: "apache/spark:4.1.4"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := Build(test.cluster, test.defaults)
			if err != nil {
				t.Fatal(err)
			}
			if got := containerOf(objects.Worker, "worker").Image; got != test.want {
				t.Errorf("the worker's image is %q, want %q", got, test.want)
			}
			if got := containerOf(objects.Master, "master").Image; got != test.want {
				t.Errorf("the master's image is %q, want %q", got, test.want)
			}
		})
	}
}

func TestMasterAndWorkersGetTheirEnvironmentAndCommands(t *testing.T) {
	objects := build(t, `sparkConf: {spark.b: "2", spark.a: "1"}`)
	master, worker := containerOf(objects.Master, "master"), containerOf(objects.Worker, "worker")
	const conf = `-Dspark.a="1" -Dspark.b="2" -Dspark.kubernetes.namespace="spark" -Dspark.shuffle.service.enabled="true" ` +
		`-Dspark.worker.preferConfiguredMasterAddress="true"`
	if diff := cmp.Diff(map[string]string{"SPARK_MASTER_OPTS": conf, "SPARK_MASTER_PORT": "7077"}, environment(master)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"SPARK_WORKER_OPTS": conf, "SPARK_LOG_DIR": "/opt/spark/work/logs"}, environment(worker)); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(master.Command, " "); !strings.HasSuffix(got, "org.apache.spark.deploy.master.Master") || !strings.Contains(got, "hostname -f") {
		t.Errorf("the master runs %s", got)
	}
	if got := strings.Join(worker.Command, " "); !strings.HasSuffix(got, "org.apache.spark.deploy.worker.Worker spark://c-master-svc:7077") {
		t.Errorf("the worker runs %s", got)
	}
	if diff := cmp.Diff([]corev1.ContainerPort{
		{Name: "web", ContainerPort: 8080, Protocol: "TCP"}, {Name: "spark", ContainerPort: 7077, Protocol: "TCP"},
		{Name: "rest", ContainerPort: 6066, Protocol: "TCP"},
	}, master.Ports); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]corev1.ContainerPort{{Name: "web", ContainerPort: 8081, Protocol: "TCP"}}, worker.Ports); diff != "" {
		t.Error(diff)
	}
	if got := objects.Worker.Spec.Template.Spec.DNSConfig.Searches; !slices.Equal(got, []string{"c-worker-svc.spark.svc.cluster.local"}) {
		t.Errorf("the workers search %q", got)
	}
}

func TestPropertiesMovePorts(t *testing.T) {
	objects := build(t, `sparkConf: {spark.master.ui.port: "9080", spark.master.rest.port: " 9066 ", spark.worker.ui.port: nonsense}`)
	master := containerOf(objects.Master, "master")
	if master.Ports[0].ContainerPort != 9080 || master.Ports[2].ContainerPort != 9066 || objects.MasterService.Spec.Ports[0].Port != 8080 {
		t.Errorf("ports %v behind %v", master.Ports, objects.MasterService.Spec.Ports)
	}
	if got := containerOf(objects.Worker, "worker").Ports[0].ContainerPort; got != 8081 {
		t.Errorf("the worker's port is %d", got)
	}
}

func TestVariablesMovePortsThatNoPropertyMoves(t *testing.T) {
	const variables = `masterSpec: {statefulSetSpec: {template: {spec: {containers: [{env: [{name: SPARK_MASTER_WEBUI_PORT, value: "9080"}]}]}}}}
workerSpec: {statefulSetSpec: {template: {spec: {containers: [{env: [{name: SPARK_WORKER_WEBUI_PORT, value: "9081"}]}]}}}}`
	for spec, want := range map[string]int32{
		variables: 9080,
		variables + "\nsparkConf: {spark.master.ui.port: \"9090\"}": 9090,
	} {
		objects := build(t, spec)
		if got := containerOf(objects.Master, "master").Ports[0].ContainerPort; got != want || PagePort(objects.MasterService, objects.Master) != want {
			t.Errorf("the master's port is %d, and its page asked for at %d, want %d", got, PagePort(objects.MasterService, objects.Master), want)
		}
		if got := containerOf(objects.Worker, "worker").Ports[0].ContainerPort; got != 9081 {
			t.Errorf("the worker's port is %d", got)
		}
	}
}

// Otherwise a user who may create a cluster could make the controller connect to any host.
func TestAServiceIsNeverAnExternalName(t *testing.T) {
	service := build(t, `masterSpec: {serviceSpec: {type: ExternalName, externalName: example.com}}`).MasterService.Spec
	if service.Type != "" || service.ExternalName != "" || service.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the Service is %+v", service)
	}
}

func TestTemplatesAreTheBase(t *testing.T) {
	objects := build(t, `
sparkConf: {spark.kubernetes.scheduler.name: yunikorn, spark.a: "1"}
masterSpec: {statefulSetSpec: {template: {spec: {schedulerName: other, terminationGracePeriodSeconds: 7, enableServiceLinks: true, nodeSelector: {a: b},
  containers: [{name: master, command: [nice], env: [{name: SPARK_MASTER_OPTS, value: -Da=b}, {name: SPARK_MASTER_PORT, value: "7078"}],
    ports: [{name: web, containerPort: 1234}], livenessProbe: {tcpSocket: {port: 7077}}}]}}}}
workerSpec: {statefulSetSpec: {template: {spec: {dnsConfig: {searches: [mine]}}}, volumeClaimTemplates: [{metadata: {name: v}}]}}`)
	pod, master := objects.Master.Spec.Template.Spec, containerOf(objects.Master, "master")
	if pod.SchedulerName != "yunikorn" || *pod.TerminationGracePeriodSeconds != 7 || !*pod.EnableServiceLinks || pod.NodeSelector["a"] != "b" {
		t.Errorf("the master's Pod is %+v", pod)
	}
	env := environment(master)
	if !strings.HasPrefix(env["SPARK_MASTER_OPTS"], `-Da=b -Dspark.a="1" `) || env["SPARK_MASTER_PORT"] != "7077" || len(master.Env) != 2 {
		t.Errorf("the master's environment is %v", master.Env)
	}
	if master.Command[0] != "nice" || master.Command[1] != "bash" || master.LivenessProbe == nil || master.Ports[0].ContainerPort != 1234 || len(master.Ports) != 3 {
		t.Errorf("the master is %+v", master)
	}
	worker := objects.Worker.Spec
	if got := worker.Template.Spec.DNSConfig.Searches; !slices.Equal(got, []string{"mine", "c-worker-svc.spark.svc.cluster.local"}) || len(worker.VolumeClaimTemplates) != 1 {
		t.Errorf("the workers are %+v", worker)
	}
	if *worker.Template.Spec.TerminationGracePeriodSeconds != 0 || worker.Template.Spec.SchedulerName != "yunikorn" {
		t.Errorf("the workers' Pods are %+v", worker.Template.Spec)
	}
	if got := build(t, "").Master.Spec.Template.Spec.SchedulerName; got != "default-scheduler" {
		t.Errorf("the scheduler is %q", got)
	}
}

// A Service that does not lead to its daemon breaks the cluster silently.
func TestDaemonsListenWhereTheirServicesLead(t *testing.T) {
	for name, test := range map[string]struct{ container, want string }{
		"nothing set":             {`{name: worker}`, ""},
		"a port":                  {`{name: worker, env: [{name: SPARK_WORKER_WEBUI_PORT, value: "9081"}]}`, "9081"},
		"no port":                 {`{name: worker, env: [{name: SPARK_WORKER_WEBUI_PORT, value: $(PORT)}]}`, "8081"},
		"a port from elsewhere":   {`{name: worker, env: [{name: SPARK_WORKER_WEBUI_PORT, valueFrom: {fieldRef: {fieldPath: a}}}]}`, "8081"},
		"anything from elsewhere": {`{name: worker, envFrom: [{configMapRef: {name: a}}]}`, "8081"},
	} {
		t.Run(name, func(t *testing.T) {
			worker := containerOf(build(t, `workerSpec: {statefulSetSpec: {template: {spec: {containers: [`+test.container+`]}}}}`).Worker, "worker")
			if got := environment(worker)["SPARK_WORKER_WEBUI_PORT"]; got != test.want || test.want != "" && fmt.Sprint(worker.Ports[0].ContainerPort) != test.want {
				t.Errorf("the worker listens on %q, and has the ports %v", got, worker.Ports)
			}
		})
	}
}

func TestBuildLeavesTheClusterAlone(t *testing.T) {
	c := cluster(t, `workerSpec: {serviceSpec: {ports: [{name: a}]}, statefulSetSpec: {template: {spec: {dnsConfig: {searches: [a]}, containers: [{name: worker, env: [{name: A}]}]}}}}`)
	before := c.DeepCopy()
	if _, err := Build(c, Defaults{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, c); diff != "" {
		t.Error(diff)
	}
}

func TestWorkersOfferTheirLimits(t *testing.T) {
	for name, test := range map[string]struct {
		worker        string
		cores, memory string
	}{
		"nothing set":        {worker: `{}`},
		"limits":             {worker: `{resources: {limits: {cpu: "3", memory: 3Gi}}}`, cores: "3", memory: "2048m"},
		"a part of a core":   {worker: `{resources: {limits: {cpu: 500m}}}`, cores: "1"},
		"little memory":      {worker: `{resources: {limits: {memory: 1536Mi}}}`, memory: "1024m"},
		"very little memory": {worker: `{resources: {limits: {memory: 512Mi}}}`, memory: "512m"},
		"hardly any memory":  {worker: `{resources: {limits: {memory: "10"}}}`},
		"requests":           {worker: `{resources: {requests: {cpu: "3", memory: 3Gi}}}`},
		"set by the user": {
			worker: `{env: [{name: SPARK_WORKER_CORES, value: "8"}], resources: {limits: {cpu: "3", memory: 3Gi}}}`, cores: "8", memory: "2048m",
		},
		"perhaps set by the user": {worker: `{envFrom: [{configMapRef: {name: a}}], resources: {limits: {cpu: "3", memory: 3Gi}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			worker := strings.Replace(test.worker, "{", "{name: worker, ", 1)
			env := environment(containerOf(build(t, `workerSpec: {statefulSetSpec: {template: {spec: {containers: [`+worker+`]}}}}`).Worker, "worker"))
			if env["SPARK_WORKER_CORES"] != test.cores || env["SPARK_WORKER_MEMORY"] != test.memory {
				t.Errorf("%q cores and %q", env["SPARK_WORKER_CORES"], env["SPARK_WORKER_MEMORY"])
			}
		})
	}
}

func TestWorkersDecommissionThemselves(t *testing.T) {
	const asked = `sparkConf: {spark.decommission.enabled: "TRUE"}`
	worker := build(t, asked).Worker.Spec.Template.Spec
	if worker.Containers[0].Lifecycle == nil || *worker.TerminationGracePeriodSeconds < 60 {
		t.Fatalf("a worker decommissions by %+v within %d s", worker.Containers[0].Lifecycle, *worker.TerminationGracePeriodSeconds)
	}
	command := worker.Containers[0].Lifecycle.PreStop.Exec.Command
	script := command[len(command)-1]
	patterns := regexp.MustCompile(`grep -aqs '([^']*)'`).FindAllStringSubmatch(script, -1)
	for _, pattern := range patterns {
		if regexp.MustCompile(pattern[1]).MatchString(script) {
			t.Errorf("%s finds the command itself", pattern[1])
		}
	}
	daemon := containerOf(build(t, asked).Worker, "worker").Command
	if len(patterns) != 2 || !regexp.MustCompile(patterns[0][1]).MatchString(strings.Join(daemon, " ")) {
		t.Errorf("%q does not find %q", patterns, daemon)
	}
	if other := build(t, "").Worker.Spec.Template.Spec; other.Containers[0].Lifecycle != nil {
		t.Error("a worker decommissions without the property")
	}
	if master := build(t, asked).Master.Spec.Template.Spec; master.Containers[0].Lifecycle != nil || *master.TerminationGracePeriodSeconds != 0 {
		t.Error("the master decommissions like a worker")
	}
	own := build(t, asked+`
workerSpec: {statefulSetSpec: {template: {spec: {terminationGracePeriodSeconds: 9, containers: [{name: worker, lifecycle: {preStop: {sleep: {seconds: 1}}}}]}}}}`).Worker.Spec.Template.Spec
	if own.Containers[0].Lifecycle.PreStop.Exec != nil || *own.TerminationGracePeriodSeconds != 9 {
		t.Errorf("the template's preStop hook became %+v", own)
	}
}

func TestTheAutoscalerScalesTheWorkers(t *testing.T) {
	scaler := build(t, workers(5, 0, 3)).Autoscaler.Spec
	if scaler.ScaleTargetRef.Name != "c-worker" || scaler.ScaleTargetRef.Kind != "StatefulSet" || *scaler.MinReplicas != 1 || scaler.MaxReplicas != 3 {
		t.Errorf("the autoscaler is %+v", scaler)
	}
	metric := scaler.Metrics[0].ContainerResource
	if metric.Container != "worker" || metric.Name != "cpu" || *metric.Target.AverageUtilization != 30 {
		t.Errorf("it goes by %+v", metric)
	}
	if up, down := scaler.Behavior.ScaleUp.Policies[0], scaler.Behavior.ScaleDown.Policies[0]; up.PeriodSeconds != 60 || up.Value != 1 || down.PeriodSeconds != 600 || down.Value != 1 {
		t.Errorf("up by %+v, down by %+v", up, down)
	}
	given := build(t, workers(1, 1, 3)+`
workerSpec: {horizontalPodAutoscalerSpec: {minReplicas: 7, maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: other},
  behavior: {scaleUp: {policies: [{type: Percent, value: 50, periodSeconds: 10}]}}, metrics: [{type: Resource, resource: {name: memory}}]}}`).Autoscaler.Spec
	if *given.MinReplicas != 1 || given.MaxReplicas != 3 || given.ScaleTargetRef.Name != "c-worker" {
		t.Errorf("the autoscaler is %+v", given)
	}
	if given.Metrics[0].Resource.Name != "memory" || given.Behavior.ScaleDown != nil {
		t.Errorf("the template's rules became %+v", given)
	}
}

func TestNetworkPolicy(t *testing.T) {
	policy := build(t, `workerSpec: {networkPolicy: {metricsPort: 9404, metricsIngress: [{namespaceSelector: {matchLabels: {a: b}}}]}}`).NetworkPolicy.Spec
	peer := func(key, value string) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
	}
	protocol := corev1.ProtocolTCP
	want := networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: Selector("c", Worker)}, PolicyTypes: []networkingv1.PolicyType{"Ingress"},
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: []networkingv1.NetworkPolicyPeer{peer("spark.operator/spark-cluster-name", "c"), peer("spark-role", "driver")}},
			{
				From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}},
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: ptr.To(intstr.FromInt32(9404))}},
			},
		},
	}
	if diff := cmp.Diff(want, policy); diff != "" {
		t.Error(diff)
	}
}

func hashes(objects *Objects) map[string]string {
	all := map[string]string{}
	for _, object := range objects.All() {
		all[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetAnnotations()[HashAnnotation]
	}
	return all
}

// changed returns the objects whose hashes differ.
func changed(before, after *Objects) []string {
	var names []string
	was := hashes(before)
	for _, object := range after.All() {
		name := fmt.Sprintf("%T %s", object, object.GetName())
		if was[name] != object.GetAnnotations()[HashAnnotation] {
			names = append(names, object.GetName())
		}
	}
	return names
}

func TestHashesOfChangedObjectsDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":            {},
		"suspended":          {after: `suspend: true`},
		"scaled":             {before: workers(2, 2, 2), after: workers(3, 2, 2), want: []string{"c-worker"}},
		"the range":          {before: workers(2, 1, 3), after: workers(2, 1, 5), want: []string{"c-worker-hpa"}},
		"begun with another": {before: workers(2, 1, 3), after: workers(3, 1, 3)},
		"a property":         {after: `sparkConf: {spark.a: "1"}`, want: []string{"c-master", "c-worker"}},
		"a service":          {after: `masterSpec: {serviceMetadata: {annotations: {a: b}}}`, want: []string{"c-master-svc"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := changed(build(t, test.before), build(t, test.after)); !slices.Equal(got, test.want) {
				t.Errorf("%q changed, want %q", got, test.want)
			}
		})
	}
}

// An autoscaler never scales a StatefulSet with zero Pods.
func TestAnAutoscaledClusterBeginsWithAtLeastTheMinimum(t *testing.T) {
	for spec, want := range map[string]int32{
		workers(2, 1, 3): 2, workers(5, 1, 3): 5, workers(0, 0, 3): 1, workers(0, 2, 3): 2, workers(1, 2, 3): 2,
		workers(0, 0, 0): 0, workers(0, 2, 2): 0,
	} {
		if got := *build(t, spec).Worker.Spec.Replicas; got != want {
			t.Errorf("%s begins with %d workers, want %d", spec, got, want)
		}
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	conf := map[string]string{}
	for i := range 50 {
		conf[fmt.Sprintf("spark.key%d", i)] = fmt.Sprint(i)
	}
	c := cluster(t, "")
	c.Spec.SparkConf = conf
	first := ""
	for range 20 {
		objects, err := Build(c, Defaults{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(objects)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Fatal("the same cluster gives different objects")
		}
	}
}

func TestPodSecurityCompletesThePodsOfBothRoles(t *testing.T) {
	restricted := podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}
	plain, err := Build(cluster(t, `{}`), Defaults{PodSecurity: podsecurity.Profile{User: podsecurity.SparkUser}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(build(t, `{}`), plain); diff != "" {
		t.Errorf("without the profile the objects change:\n%s", diff)
	}
	objects, err := Build(cluster(t, `{workerSpec: {statefulSetSpec: {template: {spec: {hostNetwork: true, containers: [{name: log, image: log}]}}}}}`),
		Defaults{PodSecurity: restricted})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*appsv1.StatefulSet{Master: objects.Master, Worker: objects.Worker} {
		user := containerOf(set, name).SecurityContext.RunAsUser
		if user == nil || *user != 185 || set.Spec.Template.Spec.SecurityContext.RunAsNonRoot == nil {
			t.Errorf("the %s has %v", name, set.Spec.Template.Spec)
		}
	}
	if user := containerOf(objects.Worker, "log").SecurityContext.RunAsUser; user != nil {
		t.Errorf("the sidecar has the user %d", *user)
	}
	if Same(objects.Master, plain.Master) {
		t.Error("a running master would not get the profile")
	}
	warning := strings.Join(objects.PodSecurityWarnings(restricted).Sentences(), " ")
	if !strings.Contains(warning, "Pod of the worker") || !strings.Contains(warning, "hostNetwork=true") || strings.Contains(warning, "master") {
		t.Errorf("the warning is %q", warning)
	}
}
