package submission

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// pi is Spark's example, with names of Spark's own shapes.
func pi(properties ...string) Plan {
	plan := Plan{
		Namespace:    "default",
		SparkVersion: "4.0.1",
		Properties: map[string]string{
			"spark.app.name":                   "spark-pi",
			"spark.kubernetes.container.image": "apache/spark:4.0.1",
		},
		MainClass:  "org.apache.spark.examples.SparkPi",
		Resource:   Resource{Kind: Java, URI: "local:///opt/spark/examples/jars/spark-examples.jar"},
		Arguments:  []string{"1000"},
		SubmitTime: time.UnixMilli(1763711999871),
		Names: Names{
			AppID:           "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061",
			Prefix:          "spark-pi-4c1f889aa56d6000",
			DriverPod:       "spark-pi-4c1f889aa56d6000-driver",
			ConfigMap:       "spark-drv-e07b259aa56d6029-conf-map",
			FallbackService: "spark-9f86d09aa56d6031-driver-svc",
			LocalDir:        "/var/data/spark-2f6e9c1a-5b7d-4e0f-9a3c-8d1b2e4f6a70",
		},
	}
	return with(plan, properties...)
}

// with returns the plan with more properties, each written key=value.
func with(plan Plan, properties ...string) Plan {
	plan.Properties = maps.Clone(plan.Properties)
	for _, property := range properties {
		key, value, _ := strings.Cut(property, "=")
		plan.Properties[key] = value
	}
	return plan
}

// without returns the plan without a property.
func without(plan Plan, key string) Plan {
	plan.Properties = maps.Clone(plan.Properties)
	delete(plan.Properties, key)
	return plan
}

func version(plan Plan, version string) Plan {
	plan.SparkVersion = version
	return plan
}

func python(plan Plan) Plan {
	plan.MainClass = ""
	plan.Resource = Resource{Kind: Python, URI: "local:///opt/spark/examples/src/main/python/pi.py"}
	return plan
}

func running(plan Plan, uri string) Plan {
	plan.Resource = Resource{URI: uri}
	return plan
}

func templated(plan Plan, template corev1.PodTemplateSpec) Plan {
	plan.DriverTemplate = &template
	return plan
}

func mustBuild(t *testing.T, plan Plan) *Objects {
	t.Helper()
	objects, err := Build(plan)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return objects
}

// wantRefused checks that the plan is refused, with all of fragments in the error.
func wantRefused(t *testing.T, plan Plan, fragments ...string) {
	t.Helper()
	_, err := Build(plan)
	if err == nil {
		t.Fatal("Build accepted the plan")
	}
	for _, fragment := range fragments {
		if !strings.Contains(err.Error(), fragment) {
			t.Errorf("error does not say %q: %v", fragment, err)
		}
	}
}

func driverOf(objects *Objects) corev1.Container {
	containers := objects.Driver.Spec.Containers
	return containers[len(containers)-1]
}

// owned returns the only object of type T that the driver will own.
func owned[T Object](t *testing.T, objects *Objects) T {
	t.Helper()
	var found []T
	for _, object := range objects.Owned {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("found %d objects of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

// propertiesOf returns what the driver reads from its properties file.
func propertiesOf(t *testing.T, objects *Objects) map[string]string {
	t.Helper()
	configMap := objects.Owned[len(objects.Owned)-1].(*corev1.ConfigMap)
	return loadProperties(t, configMap.Data["spark.properties"])
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func names(objects *Objects) []string {
	var result []string
	for _, object := range objects.Owned {
		result = append(result, object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName())
	}
	return result
}

func manifests(t *testing.T, objects *Objects) string {
	t.Helper()
	all := append(append([]Object{}, objects.Before...), objects.Driver)
	return golden.Manifests(t, append(all, objects.Owned...))
}

func TestGoldenManifests(t *testing.T) {
	example := pi(
		"spark.driver.memory=1g",
		"spark.executor.instances=2",
		"spark.master=k8s://https://10.96.0.1:443",
		"spark.kubernetes.authenticate.driver.serviceAccountName=spark",
	)
	for name, plan := range map[string]Plan{
		"spark-pi-3.5.yaml":   version(example, "3.5.7"),
		"spark-pi-4.0.yaml":   example,
		"spark-pi-4.1.yaml":   version(example, "4.1.1"),
		"spark-pi-4.2.yaml":   version(example, "4.2.0"),
		"spark-pi-4.3.yaml":   version(example, "4.3.0"),
		"everything-4.3.yaml": everything(),
	} {
		t.Run(name, func(t *testing.T) {
			golden.Want(t, filepath.Join("testdata", name), manifests(t, mustBuild(t, plan)))
		})
	}
}

// everything is a Python application that uses every step.
func everything() Plan {
	plan := python(version(pi(
		"spark.kubernetes.driver.pod.featureSteps=org.apache.spark.deploy.k8s.features.VolcanoFeatureStep",
		"spark.kubernetes.scheduler.name=volcano",
		"spark.kubernetes.driver.secrets.cloud=/mnt/cloud",
		"spark.kubernetes.driver.secretKeyRef.PASSWORD=database:password",
		"spark.kubernetes.driverEnv.STAGE=test",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.mount.path=/data",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.claimName=OnDemand",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.storageClass=fast",
		"spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.sizeLimit=10Gi",
		"spark.kubernetes.hadoop.configMapName=hadoop",
		"spark.kubernetes.kerberos.krb5.configMapName=krb5",
		"spark.kubernetes.kerberos.tokenSecret.name=tokens",
		"spark.kubernetes.kerberos.tokenSecret.itemKey=hadoop-tokens",
		"spark.pyspark.python=/usr/bin/python3",
		"spark.driver.resource.gpu.amount=1",
		"spark.driver.resource.gpu.vendor=nvidia.com",
	), "4.3.0"))
	plan.ProxyUser = "alice"
	plan.Labels = map[string]string{"firesteel.dev/launch-id": "0f1e2d"}
	plan.DriverTemplate = &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "data"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "spark-kubernetes-driver"}, {Name: "sidecar", Image: "proxy"},
		}},
	}
	plan.ExecutorTemplate = &corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
			Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		}}},
	}
	return plan
}

func TestTheSamePlanGivesTheSameBytes(t *testing.T) {
	first := manifests(t, mustBuild(t, everything()))
	for range 50 {
		if again := manifests(t, mustBuild(t, everything())); first != again {
			t.Fatalf("differs (-first +again):\n%s", cmp.Diff(first, again))
		}
	}
}

func TestBuildLeavesThePlanAsItWas(t *testing.T) {
	plan := everything()
	if _, err := Build(plan); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "plan", plan, everything())
}

func TestObjectsShareNothingWithThePlan(t *testing.T) {
	plan := everything()
	objects := mustBuild(t, plan)
	objects.Driver.Labels["team"] = "changed"
	objects.Driver.Spec.Containers[0].Image = "changed"
	for _, object := range append(objects.Before, objects.Owned...) {
		if object.GetLabels() != nil {
			object.GetLabels()["firesteel.dev/launch-id"] = "changed"
		}
	}
	wantEqual(t, "plan", plan, everything())
}

func TestThePlansLabelsAreOnEveryObjectAndInNoSelector(t *testing.T) {
	objects := mustBuild(t, everything())
	all := append(append(objects.Before, objects.Owned...), objects.Driver)
	for _, object := range all {
		if object.GetLabels()["firesteel.dev/launch-id"] != "0f1e2d" {
			t.Errorf("%T %s lacks the label", object, object.GetName())
		}
		if object.GetNamespace() != "default" {
			t.Errorf("%T %s is in namespace %q", object, object.GetName(), object.GetNamespace())
		}
	}
	if _, set := owned[*corev1.Service](t, objects).Spec.Selector["firesteel.dev/launch-id"]; set {
		t.Error("the Service selects by a label of the plan")
	}
}

func TestAPlansLabelWinsOverTheTemplatesAndRefusesAProperties(t *testing.T) {
	plan := templated(pi(), corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"launch": "theirs"}},
	})
	plan.Labels = map[string]string{"launch": "ours"}
	wantEqual(t, "label", mustBuild(t, plan).Driver.Labels["launch"], "ours")
	wantRefused(t, with(plan, "spark.kubernetes.driver.label.launch=theirs"), "spark.kubernetes.driver.label.launch", "theirs")
	mustBuild(t, with(plan, "spark.kubernetes.driver.label.launch=ours"))
}

func TestObjectsComeInSparksOrder(t *testing.T) {
	wantEqual(t, "owned", names(mustBuild(t, everything())), []string{
		"Service spark-pi-4c1f889aa56d6000-driver-svc",
		"NetworkPolicy spark-pi-4c1f889aa56d6000-policy",
		"PersistentVolumeClaim spark-pi-4c1f889aa56d6000-driver-pvc-0",
		"ConfigMap spark-pi-4c1f889aa56d6000-driver-podspec-conf-map",
		"ConfigMap spark-drv-e07b259aa56d6029-conf-map",
	})
}

func TestThreeObjectsMakeAPlainApplicationAndFourFromSpark42On(t *testing.T) {
	for version, want := range map[string]int{"3.5.7": 3, "4.0.1": 3, "4.1.1": 3, "4.2.0": 4, "4.3.0": 4, "": 4} {
		plan := pi()
		plan.SparkVersion = version
		objects := mustBuild(t, plan)
		if got := len(objects.Before) + 1 + len(objects.Owned); got != want {
			t.Errorf("Spark %q: %d objects, want %d", version, got, want)
		}
	}
}

func TestVariablesAndVolumesComeInSparksOrder(t *testing.T) {
	driver := driverOf(mustBuild(t, everything()))
	var variables, mounts []string
	for _, variable := range driver.Env {
		variables = append(variables, variable.Name)
	}
	for _, mount := range driver.VolumeMounts {
		mounts = append(mounts, mount.Name)
	}
	wantEqual(t, "variables", variables, []string{
		"SPARK_USER", "SPARK_APPLICATION_ID", "STAGE", "SPARK_DRIVER_BIND_ADDRESS", "PASSWORD", "PYSPARK_PYTHON",
		"PYSPARK_DRIVER_PYTHON", "HADOOP_CONF_DIR", "HADOOP_TOKEN_FILE_LOCATION", "SPARK_LOCAL_DIRS", "SPARK_CONF_DIR",
	})
	wantEqual(t, "mounts", mounts, []string{
		"cloud-volume", "data", "hadoop-properties", "krb5-file", "hadoop-secret", "pod-template-volume",
		"spark-local-dir-1", "spark-conf-volume-driver",
	})
}

func TestEveryProblemIsNamedAtOnce(t *testing.T) {
	wantRefused(t, pi("spark.driver.memory=1.5g", "spark.driver.port=x", "spark.kubernetes.namespace=other"),
		`spark.driver.memory "1.5g"`, `spark.driver.port "x"`, `spark.kubernetes.namespace "other"`)
}

func TestAProblemIsNamedOnce(t *testing.T) {
	_, err := Build(pi("spark.driver.port=x"))
	if got := strings.Count(err.Error(), "spark.driver.port"); got != 1 {
		t.Errorf("named %d times: %v", got, err)
	}
}

func TestExcludedStepsAreLeftOut(t *testing.T) {
	const key = "spark.kubernetes.driver.pod.excludedFeatureSteps="
	policy := key + "org.apache.spark.deploy.k8s.features.NetworkPolicyFeatureStep"
	for name, row := range map[string]struct {
		plan Plan
		want int
	}{
		"the network policy":                     {version(pi(policy), "4.2.0"), 2},
		"two of them, and one that is not known": {version(pi(policy+", "+driverServiceStep+",com.example.Step"), "4.3.0"), 1},
		"but not before Spark 4.1":               {version(pi(key+driverServiceStep), "4.0.1"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			if objects := mustBuild(t, row.plan); len(objects.Owned) != row.want {
				t.Errorf("owned: %v", names(objects))
			}
		})
	}
	wantRefused(t, version(pi(key+basicDriverStep), "4.1.0"), basicDriverStep)
}

func TestPropertiesOfAStepAreCheckedEvenIfItDoesNothing(t *testing.T) {
	excluding := func(step string) string {
		return "spark.kubernetes.driver.pod.excludedFeatureSteps=" + featurePackage + step
	}
	for property, unneeded := range map[string]string{
		"spark.kubernetes.local.dirs.tmpfs=x":                        "spark.kubernetes.driver.volumes.emptyDir.spark-local-dir-1.mount.path=/x",
		"spark.kubernetes.local.dirs.tmpfs=y":                        excluding("LocalDirsFeatureStep"),
		"spark.kubernetes.driver.service.ipFamilies=IPv5":            excluding("DriverServiceFeatureStep"),
		"spark.kubernetes.driver.service.ipFamilyPolicy=x":           excluding("DriverServiceFeatureStep"),
		"spark.kubernetes.driver.service.publishNotReadyAddresses=x": excluding("DriverServiceFeatureStep"),
		"spark.kubernetes.legacy.useReadWriteOnceAccessMode=x":       excluding("MountVolumesFeatureStep"),
	} {
		t.Run(property, func(t *testing.T) {
			key, _, _ := strings.Cut(property, "=")
			wantRefused(t, version(pi(property, unneeded), "4.3.0"), key)
		})
	}
}

func TestAStepOfTheUsersOwnIsRefusedUnlessItIsExcluded(t *testing.T) {
	plan := version(pi("spark.kubernetes.driver.pod.featureSteps=com.example.Mine"), "4.1.1")
	wantRefused(t, plan, "com.example.Mine", "JVM")
	mustBuild(t, with(plan, "spark.kubernetes.driver.pod.excludedFeatureSteps=com.example.Mine"))
}

func TestPropertiesOutsideSparkAreIgnoredAndListed(t *testing.T) {
	objects := mustBuild(t, pi("hadoop.x=1", "a=2"))
	wantEqual(t, "ignored", objects.Ignored, []string{"a", "hadoop.x"})
	if _, set := propertiesOf(t, objects)["a"]; set {
		t.Error("an ignored property is in the file")
	}
}

func TestOwnedByIsSparksOwnerReference(t *testing.T) {
	controller := true
	driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver", UID: "u"}}
	wantEqual(t, "owner", OwnedBy(driver), metav1.OwnerReference{
		APIVersion: "v1", Kind: "Pod", Name: "pi-driver", UID: "u", Controller: &controller,
	})
}

// FuzzBuild gives Build properties that it knows with values that it doesn't.
func FuzzBuild(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, "x")
	}
	f.Add(uint64(1), "${spark.app.name}")
	f.Fuzz(func(t *testing.T, seed uint64, value string) {
		plan := randomPlan(rand.New(rand.NewPCG(seed, 0)), value)
		before := fmt.Sprint(plan.Properties)
		first, err := Build(plan)
		second, errAgain := Build(plan)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Errorf("two errors: %v and %v", err, errAgain)
		}
		if fmt.Sprint(plan.Properties) != before {
			t.Error("Build changed the plan's properties")
		}
		if !reflect.DeepEqual(first, second) {
			t.Error("two results")
		}
	})
}

// randomPlan returns a plan with some of the properties that Build reads.
func randomPlan(random *rand.Rand, value string) Plan {
	plan := pi()
	values := []string{
		value, "", " ", "0", "1", "-1", "512m", "1g", "true", "False", "9999999999p", "1e400", "a:b", "a,b,,c", "/a",
		"local:///x.jar", "file:/x", "${spark.app.name}", "${spark.driver.memory}", "${env:HOME}", "OnDemand", "k8s://h",
		featurePackage + "LocalDirsFeatureStep", basicDriverStep, volcanoStep, "IPv6,IPv4", "Always",
	}
	for range random.IntN(12) {
		key := knownKeys[random.IntN(len(knownKeys))]
		if strings.HasSuffix(key, ".") {
			key += []string{"x", "y.z", "", "spark-role"}[random.IntN(4)]
		}
		plan.Properties[key] = values[random.IntN(len(values))]
	}
	plan.SparkVersion = []string{"3.5.1", "4.0.0", "4.1.0", "4.2.0", "4.3.0", "", value}[random.IntN(7)]
	plan.Resource.Kind = []ResourceKind{"", Java, Python, R, "perl"}[random.IntN(5)]
	plan.Resource.URI = values[random.IntN(len(values))]
	return plan
}

var knownKeys = []string{
	"x", jarsKey, pyFilesKey, "spark.app.name", masterKey, namespaceKey, deployModeKey, driverHostKey, bindAddressKey,
	driverMemoryKey, executorMemoryKey, instancesKey, dynamicKey, driverCoresKey, overheadFactorKey, driverPodNameKey,
	driverLabelPrefix, "spark.kubernetes.driver.annotation.", imageKey, driverImageKey, driverPortKey, "spark.ui.port",
	"spark.driver.memoryOverhead", "spark.driver.memoryOverheadFactor", "spark.driver.minMemoryOverhead",
	"spark.kubernetes.driver.request.cores", "spark.kubernetes.driver.limit.cores", "spark.blockManager.port",
	customResourcePrefix, customResourcePrefix + "gpu.amount", customResourcePrefix + "gpu.vendor", serviceAccountKey,
	"spark.kubernetes.driver.service.ipFamilies", "spark.kubernetes.driver.service.ipFamilyPolicy", serviceLabelPrefix,
	"spark.kubernetes.driver.service.annotation.", secretPrefix, secretKeyRefPrefix, driverVolumePrefix,
	driverVolumePrefix + "emptyDir.a.mount.path", driverVolumePrefix + "emptyDir.a.options.sizeLimit",
	driverVolumePrefix + "hostPath.", driverVolumePrefix + "persistentVolumeClaim.c.options.claimName",
	driverVolumePrefix + "persistentVolumeClaim.c.mount.path", driverVolumePrefix + "persistentVolumeClaim.c.label.",
	executorVolumePrefix + "nfs.n.", principalKey, keytabKey, tokenSecretKey, tokenItemKey, localDirsKey,
	"spark.kubernetes.local.dirs.tmpfs", excludedStepsKey, userStepsKey, "spark.kubernetes.driverEnv.",
	"spark.kubernetes.node.selector.", driverTemplateKey, executorTemplateKey, driverTemplateContainer,
}
