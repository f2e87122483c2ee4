package fields_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

func TestUnsupportedFields(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want []string // parts of the sentences
	}{
		"nothing":                           {pi(), nil},
		"a Spark that only the image names": {pi().Spark("").Spec("image: spark:3.5.7"), nil},
		"a Spark that nothing names":        {pi().Spark("").Spec("image: spark:latest"), []string{`spec.sparkVersion "" is not known`}},
		"an image that no driver starts from": {
			pi().Spec("image: kubespark/spark:v2.2.0-kubernetes-0.5.0"),
			[]string{`spec.image "kubespark/spark:v2.2.0-kubernetes-0.5.0" has Spark 2 or older by its name`},
		},
		"images of roles that no driver starts from": {
			pi().Driver("image: spark:2.3.0").Executor("image: spark:2.2.0"),
			[]string{`spec.driver.image "spark:2.3.0"`, `spec.executor.image "spark:2.2.0"`},
		},
		"a Spark that is not known": {pi().Spark("9.0.0"), []string{`spec.sparkVersion "9.0.0" is not known`}},
		"finalizers, which would hold names": {
			pi().Driver("template: {metadata: {finalizers: [example.org/a]}}").Executor("template: {metadata: {finalizers: [example.org/b]}}"),
			[]string{
				`spec.driver.template.metadata.finalizers "example.org/a" has no effect`,
				`spec.executor.template.metadata.finalizers "example.org/b" has no effect`,
			},
		},
		"a limit of executors' memory": {
			pi().Executor("{memory: 1g, memoryLimit: 4g}"),
			[]string{`spec.executor.memoryLimit "4g" has no effect, Spark limits executors to the memory that they request`},
		},
		"a limit that Spark sets anyway":      {pi().Executor("{memory: 1g, memoryLimit: 1408Mi}"), nil},
		"a limit that Spark sets of overhead": {pi().Executor("{memory: 1g, memoryOverhead: 1g, memoryLimit: 2g}"), nil},
		"what fails the driver as soon as it makes executors": {
			pi().Executor("coreRequest: many"),
			[]string{`spec.executor.coreRequest (spark.kubernetes.executor.request.cores) "many"`},
		},
		"a lifecycle where Spark has one": {
			pi().Conf("spark.decommission.enabled", "true").Executor("lifecycle: {}"),
			[]string{"spec.executor.lifecycle has no effect with spark.decommission.enabled"},
		},
		"a variable of Spark's that comes from elsewhere": {
			pi().Executor("env: [{name: SPARK_USER, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"),
			[]string{"spec.executor.env[0] SPARK_USER has no effect"},
		},
		"a variable that Spark sets last": {
			pi().Executor("env: [{name: SPARK_LOCAL_DIRS, value: /scratch}]"), []string{"spec.executor.env[0] SPARK_LOCAL_DIRS has no effect"},
		},
		"a reference to a variable that Spark sets last": {
			pi().Executor(`env: [{name: A, value: "$(SPARK_EXECUTOR_POD_IP)"}]`),
			[]string{"spec.executor.env[0] A gets no value for $(SPARK_EXECUTOR_POD_IP)"},
		},
		"a variable of properties that comes from elsewhere": {
			pi().Conf("spark.executorEnv.NODE", "none").Executor("env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]"),
			[]string{`spec.sparkConf[spark.executorEnv.NODE] "none" has no effect, another field gives executors that variable`},
		},
		"properties over which fields win": {
			pi().Conf("spark.driver.memory", "9g").Driver("memory: 1g"),
			[]string{`spec.sparkConf[spark.driver.memory] "9g" has no effect, spec.driver.memory says "1g"`},
		},
		"properties that agree with fields": {pi().Conf("spark.driver.memory", "1g").Driver("memory: 1g"), nil},
		"properties that are the operator's": {
			pi().Conf("spark.app.name", "mine"), []string{`spec.sparkConf[spark.app.name] "mine" has no effect, it is always "pi"`},
		},
		"labels that are the operator's": {
			pi().Driver("labels: {sparkoperator.k8s.io/app-name: mine}"),
			[]string{`spec.driver.labels[sparkoperator.k8s.io/app-name] "mine" has no effect, it is always "pi"`},
		},
		"a property that is not Spark's": {pi().Conf("fs.defaultFS", "h"), []string{`spec.sparkConf[fs.defaultFS] is dropped`}},
		"an image by a property":         {pi().Conf("spark.kubernetes.container.image", "i"), []string{"newer versions of the Kubeflow operator refuse it"}},
		"devices without a name":         {pi().Driver("gpu: {quantity: 1}"), []string{`spec.driver.gpu "" of 1 has no effect`}},
		"secrets of every type that there is": {
			pi().Driver("secrets: [{name: a, path: /a}, {name: b, path: /b, secretType: Generic}, {name: c, path: /c, secretType: GCPServiceAccount}, " +
				"{name: d, path: /d, secretType: HadoopDelegationToken}]"), nil,
		},
		"a secret of a type that there is not": {
			pi().Driver("secrets: [{name: key, path: /etc/key, secretType: Generci}]"),
			[]string{`spec.driver.secrets[0].secretType "Generci" is not known, so that the secret "key" is mounted and no environment variable leads to it: ` +
				"write one of [Generic GCPServiceAccount HadoopDelegationToken]"},
		},
		"a secret of executors in other letters": {
			pi().Executor("secrets: [{name: a, path: /a}, {name: key, path: /etc/key, secretType: gcpServiceAccount}]"),
			[]string{`spec.executor.secrets[1].secretType "gcpServiceAccount" is not known`},
		},
		"a restart policy that there is not": {
			pi().Spec("restartPolicy: {type: Sometimes, onFailureRetries: 3}"),
			[]string{`spec.restartPolicy.type "Sometimes" is not known and counts as Never: write one of Never, Always, OnFailure`},
		},
		"a mount without volume":  {pi().Driver("volumeMounts: [{name: v, mountPath: /v}]"), []string{`spec.driver.volumeMounts[0] "v" is not mounted`}},
		"a mount of a template's": {pi().Driver("{volumeMounts: [{name: v, mountPath: /v}], template: {spec: {volumes: [{name: v}]}}}"), nil},
		"a disruption budget":     {pi().Spec("driverPodDisruptionBudget: true"), []string{"spec.driverPodDisruptionBudget true has no effect"}},
		"a queue of no scheduler": {pi().Spec("{batchScheduler: volcano, batchSchedulerOptions: {queue: q}}"), []string{"spec.batchSchedulerOptions has no effect"}},
		"a role's scheduler": {
			pi().Spec("batchScheduler: volcano").Driver("schedulerName: mine"), []string{`spec.driver.schedulerName "mine" has no effect`},
		},
		"metrics that are not exposed": {pi().Spec("monitoring: {prometheus: {jmxExporterJar: j}}"), []string{"spec.monitoring exposes nothing"}},
		"what is in front of a UI that has no Ingress": {
			pi().Spec("sparkUIOptions: {servicePort: 80, ingressAnnotations: {a: b}}"), []string{"spec.sparkUIOptions.ingressAnnotations and ingressTLS have no effect"},
		},
		"retries of what is never tried again": {
			pi().Spec("restartPolicy: {type: Never, onFailureRetries: 3, onSubmissionFailureRetries: 0}"),
			[]string{"spec.restartPolicy.onFailureRetries 3 has no effect"},
		},
		"retries without a type": {
			pi().Spec("restartPolicy: {onSubmissionFailureRetries: 2}"), []string{"spec.restartPolicy.onSubmissionFailureRetries 2 has no effect"},
		},
		"a volume that nothing mounts": {pi().Spec("volumes: [{name: v, emptyDir: {}}]"), []string{`spec.volumes[0] "v" is in no Pod`}},
		"the older of two modes":       {pi().Spec("{mode: cluster, deployMode: client}"), []string{`spec.deployMode "client" has no effect`}},
		"Python 2":                     {pi().Spec("pythonVersion: '2'"), []string{`spec.pythonVersion "2" has no effect, no Spark since 3.1 has Python 2`}},
		"what has no effect anywhere": {
			pi().Spec("{failureRetries: 3, retryInterval: 5, initContainerImage: i, " +
				"deps: {jarsDownloadDir: /j, filesDownloadDir: /f, downloadTimeout: 60, maxSimultaneousDownloads: 5}}"),
			[]string{
				"spec.initContainerImage has no effect", "spec.deps.jarsDownloadDir has no effect", "spec.deps.filesDownloadDir has no effect",
				"spec.deps.downloadTimeout has no effect", "spec.deps.maxSimultaneousDownloads has no effect",
				"spec.failureRetries has no effect, the Kubeflow operator does not read it either: write spec.restartPolicy",
				"spec.retryInterval has no effect",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantSaid(t, fields.UnsupportedFields(test.app.Obj(), settings.NewDefaults()).Sentences(), test.want...)
		})
	}
}

// What the API server refuses of executors it tells the driver only, and the driver its log.
func TestUnsupportedFieldsNameWhatIsRefusedOfExecutors(t *testing.T) {
	tolerate := func(text string) *application { return pi().Executor("tolerations: [" + text + "]") }
	for name, test := range map[string]struct {
		app  *application
		want string // empty where there is nothing to say
	}{
		"every kind of toleration that there is": {tolerate("{operator: Exists}, {key: a, operator: Exists, effect: NoSchedule}, {key: example.org/a, value: b}, " +
			"{key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 60}, {key: a, operator: Gt, value: '5', effect: PreferNoSchedule}"), ""},
		"an operator that there is not": {tolerate("{key: a, operator: In, value: b}"), `tolerations[0].operator "In" is no value of the field`},
		"no key":                        {tolerate("{key: a, operator: Exists}, {operator: Equal}"), `tolerations[1].operator "Equal" needs a key`},
		"a template's toleration":       {pi().Executor("template: {spec: {tolerations: [{value: a}]}}"), `spec.executor.template.spec.tolerations[0].operator "" needs a key`},
		"a device":                      {pi().Executor("gpu: {name: nvidia.com/gpu, quantity: 1}"), ""},
		"a device without vendor":       {pi().Executor("gpu: {name: gpu, quantity: 1}"), `spec.executor.gpu.name "gpu": write the name of a resource with its vendor`},
		"choices that there are": {pi().Executor("{ports: [{containerPort: 1, protocol: UDP}, {containerPort: 2}], sidecars: [{name: s, image: i, imagePullPolicy: Never, " +
			"terminationMessagePolicy: FallbackToLogsOnError}], template: {spec: {dnsPolicy: Default}}}"), ""},
		"a protocol that there is not":         {pi().Executor("ports: [{containerPort: 80, protocol: HTTP}]"), `spec.executor.ports[0].protocol "HTTP" is no value of the field`},
		"a pull policy that there is not":      {pi().Executor("sidecars: [{name: s, image: i, imagePullPolicy: Sometimes}]"), `spec.executor.sidecars[0].imagePullPolicy "Sometimes"`},
		"the pull policy of Spark's container": {pi().Executor("template: {spec: {containers: [{name: spark-kubernetes-executor, imagePullPolicy: Sometimes}]}}"), ""},
		"an init container without an image":   {pi().Executor("initContainers: [{name: s}]"), `spec.executor.initContainers[0].image is missing`},
		"a selector of nodes":                  {pi().Executor("nodeSelector: {node pool: a}"), `spec.executor.nodeSelector[node pool] "a" is under a key that no label can have`},
		"a DNS policy that there is not":       {pi().Executor("template: {spec: {dnsPolicy: ClusterLast}}"), `spec.executor.template.spec.dnsPolicy "ClusterLast"`},
		"names that there may be":              {pi().Executor("{priorityClassName: high.example, serviceAccount: spark}"), ""},
		"a priority class that cannot be":      {pi().Executor("priorityClassName: High Priority"), `spec.executor.priorityClassName "High Priority"`},
		"a service account that cannot be":     {pi().Executor("template: {spec: {serviceAccountName: Spark_1}}"), `spec.executor.template.spec.serviceAccountName "Spark_1"`},
		"a template's name that a field is":    {pi().Executor("{priorityClassName: high, template: {spec: {priorityClassName: High}}}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			said := fields.UnsupportedFields(test.app.Obj(), settings.NewDefaults()).Sentences()
			if wantSaid(t, said, want...); len(said) == 1 && !strings.HasPrefix(said[0], "no executor is created, ") && !strings.Contains(said[0], "the driver cannot create executors") {
				t.Errorf("said %q", said)
			}
		})
	}
}

func TestUnsupportedFieldsNameOptionsOfAUIThatHasNoService(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.UIService = false
	wantSaid(t, fields.UnsupportedFields(pi().Spec("sparkUIOptions: {servicePort: 80}").Obj(), defaults).Sentences(), "spec.sparkUIOptions has no effect")
}

func TestUnsupportedFieldsNameUnknownFields(t *testing.T) {
	app := pi().Obj()
	app.UnknownFields = []string{`unknown field "spec.drivers"`}
	wantSaid(t, fields.UnsupportedFields(app, settings.NewDefaults()).Sentences(), `unknown field "spec.drivers" is dropped`)
}

// wantSaid wants a sentence of each part, and no more.
func wantSaid(t *testing.T, said []string, parts ...string) {
	t.Helper()
	if len(said) != len(parts) {
		t.Errorf("want %d sentences, got %q", len(parts), said)
	}
	for _, part := range parts {
		if !slices.ContainsFunc(said, func(sentence string) bool {
			return strings.Contains(sentence, part) && strings.HasSuffix(sentence, ".")
		}) {
			t.Errorf("want %q, got %q", part, said)
		}
	}
}

func TestRefusalsNameTheFieldOfTheUser(t *testing.T) {
	defaults := settings.NewDefaults()
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"a property":    {pi().Conf("spark.driver.memory", "1.5g"), `spec.sparkConf[spark.driver.memory] "1.5g" is not a size`},
		"a field":       {pi().Driver("memory: 1.5g"), `spec.driver.memory (spark.driver.memory) "1.5g" is not a size`},
		"no main class": {pi().With(func(app *v1beta2.SparkApplication) { app.Spec.MainClass = "" }), "spec.mainClass is missing"},
		"no main file of Python": {
			pi().Spec("type: Python").With(func(app *v1beta2.SparkApplication) { app.Spec.MainClass, app.Spec.MainApplicationFile = "", "" }),
			"spec.mainApplicationFile is missing: name the application's main file",
		},
		"no image": {pi().With(func(app *v1beta2.SparkApplication) { app.Spec.Image = "" }), "spec.image is missing"},
		"an image of the driver alone": {
			pi().With(func(app *v1beta2.SparkApplication) { app.Spec.Image, app.Spec.Driver.Image = "", "spark:4" }),
			"spec.executor.image is missing, and the driver's image is not the executors': name the image of the executors, or one for both roles",
		},
		"a volume whose source is misspelt": {
			pi().Spec("volumes: [{name: a, emptyDir: {}}, {name: data}]").With(func(app *v1beta2.SparkApplication) {
				app.UnknownFields = []string{`unknown field "spec.volumes[1].persistantVolumeClaim"`}
			}),
			`spec.volumes[1] "data" has no source that is known and would be an empty directory: correct the spelling of the ` +
				`unknown field "spec.volumes[1].persistantVolumeClaim"`,
		},
		"a template's volume whose source is misspelt": {
			pi().Executor("template: {spec: {volumes: [{name: data}]}}").With(func(app *v1beta2.SparkApplication) {
				app.UnknownFields = []string{`unknown field "spec.executor.template.spec.volumes[0].pvc"`}
			}),
			`spec.executor.template.spec.volumes[0] "data" has no source that is known`,
		},
		"a file of the operator's": {pi().Spec("mainApplicationFile: /tmp/a.py"), `spec.mainApplicationFile "/tmp/a.py"`},
		"a mount of nothing":       {pi().Executor("volumeMounts: [{name: spark-local-dir-1, mountPath: /a}]"), `spec.executor.volumeMounts[0].name "spark-local-dir-1" names no volume of spec.volumes`},
		"a limit below the request": {
			pi().Driver("{memory: 4g, memoryLimit: 1g}"), `spec.driver.memoryLimit "1g" is less than the 4505Mi that the driver requests`,
		},
		"a limit that is none": {pi().Driver("memoryLimit: much"), `spec.driver.memoryLimit "much" is not a size`},
		"a label that no object can have": {
			pi().Driver("labels: {'a b': c}"), `spec.driver.labels[a b] (spark.kubernetes.driver.label.a b) "c"`,
		},
		"an executor's label that no Pod can have": {
			pi().Executor("labels: {a: b c}"), `spec.executor.labels[a] "b c" is no label value`,
		},
		"an executor's annotation that no Pod can have": {
			pi().Executor("annotations: {a b: c}"), `spec.executor.annotations[a b] "a b" is no annotation key`,
		},
		"a template by a URL beside fields that need one": {
			pi().Conf("spark.kubernetes.executor.podTemplateFile", "https://t").Executor("priorityClassName: p"),
			`spec.sparkConf[spark.kubernetes.executor.podTemplateFile] "https://t" cannot go with fields of spec.executor`,
		},
		"a template that is a file": {
			pi().Conf("spark.kubernetes.driver.podTemplateFile", "/t.yaml"),
			`spec.sparkConf[spark.kubernetes.driver.podTemplateFile] "/t.yaml" is a file, which Firesteel does not read: write the template into spec.driver.template`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			_, err := build(app, defaults)
			if err == nil {
				t.Fatal("it is not refused")
			}
			if got := fields.Refusals(err, app, defaults).String(); !strings.Contains(got, test.want) {
				t.Errorf("want %q in %q", test.want, got)
			}
		})
	}
}

// An application whose executors have an image, or that makes none, is no worse for its driver's own.
func TestAnImageOfTheDriverBesideOneOfTheExecutors(t *testing.T) {
	for name, app := range map[string]*application{
		"the executors' own":       pi().Executor("image: spark:4"),
		"a property's":             pi().Conf("spark.kubernetes.executor.container.image", "spark:4"),
		"one of both by property":  pi().Conf("spark.kubernetes.container.image", "spark:4"),
		"a driver that runs alone": pi().Driver("kubernetesMaster: 'local[*]'"),
		"a volume without a source": pi().Executor("image: spark:4").Spec("volumes: [{name: data}]").With(func(app *v1beta2.SparkApplication) {
			app.UnknownFields = []string{`unknown field "spec.volumes[1].pvc"`}
		}),
	} {
		app.app.Spec.Image, app.app.Spec.Driver.Image = "", "driver:4"
		if _, err := build(app.Obj(), settings.NewDefaults()); err != nil {
			t.Errorf("%s: refused with %v", name, err)
		}
	}
	defaults := settings.NewDefaults()
	defaults.Properties = map[string]string{"spark.kubernetes.executor.container.image": "spark:4"}
	app := pi().With(func(app *v1beta2.SparkApplication) { app.Spec.Image, app.Spec.Driver.Image = "", "driver:4" }).Obj()
	if _, err := build(app, defaults); err != nil {
		t.Errorf("the operator's default: refused with %v", err)
	}
}

func TestRefusalNamesTheOperatorsDefault(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.Properties = map[string]string{"spark.executor.cores": "none"}
	_, err := build(pi().Obj(), defaults)
	const want = `the operator's default spark.executor.cores "none" is not a positive whole number`
	if got := fields.Refusals(err, pi().Obj(), defaults).String(); !strings.Contains(got, want) {
		t.Errorf("want %q in %q", want, got)
	}
}

func TestOptionsOfAnIngressAreWarnedOfBehindAGateway(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.Ingress = settings.Ingress{URLFormat: "a", Gateway: &dialect.Gateway{Name: "g"}}
	wantSaid(t, fields.UnsupportedFields(pi().Spec("sparkUIOptions: {ingressAnnotations: {a: b}}").Obj(), defaults).Sentences(),
		"spec.sparkUIOptions.ingressAnnotations and ingressTLS have no effect, the operator's settings have a Gateway")
}
