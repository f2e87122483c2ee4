package crd

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// These are the places where a wrong value is reported, from the earliest to the latest.
const (
	// atAdmission: the API server refuses the object.
	atAdmission = "at admission"
	// bySettingAside: the object cannot be decoded, and a condition reports it.
	bySettingAside = "by setting it aside"
	// byFailing: the application fails without a launch.
	byFailing = "by failing"
	// byRefusing: the attempt is refused before anything is made of it.
	byRefusing = "by refusing the launch"
	// byWarning: the application runs, and the condition Warning names what has no effect.
	byWarning = "by a warning"
	// byMeaning: the value has a meaning, the same as another one.
	byMeaning = "by its meaning"
)

// A badValue is a value that a user may write into a field, and where it must be reported.
type badValue struct {
	field string
	// spec has the value, beside what it takes for it to matter.
	spec     string
	reported string
	// says are parts of the report: the field, the value and a remedy.
	says []string
	// like is a spec that asks for the same.
	like string
}

const tooLongName = `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`

// badValues has every field of the spec at least once.
var badValues = slices.Concat([]badValue{
	{
		field: "runtimeVersions.sparkVersion", reported: atAdmission, spec: `{runtimeVersions: {sparkVersion: "4.1+mine"}}`,
		says: []string{"spec.runtimeVersions.sparkVersion", `"4.1+mine"`, "write letters, digits"},
	},
	{
		field: "runtimeVersions.sparkVersion", reported: atAdmission, spec: `{runtimeVersions: {sparkVersion: ` + tooLongName + `}}`,
		says: []string{"spec.runtimeVersions.sparkVersion", "may not be more than 63"},
	},
	{
		field: "runtimeVersions.sparkVersion", reported: atAdmission, spec: `{runtimeVersions: {}}`,
		says: []string{"spec.runtimeVersions.sparkVersion", "Required"},
	},
	{
		field: "runtimeVersions.sparkVersion", reported: byWarning, spec: `{runtimeVersions: {sparkVersion: latest}}`,
		says: []string{"spec.runtimeVersions.sparkVersion", `"latest"`, "write the image's"},
	},
	{
		field: "runtimeVersions.scalaVersion", reported: atAdmission, spec: `{runtimeVersions: {sparkVersion: 4.1.4, scalaVersion: 2.13}}`,
		says: []string{"spec.runtimeVersions.scalaVersion", "number", "must be of type string"},
	},
	{field: "runtimeVersions.scalaVersion", reported: byMeaning, spec: `{runtimeVersions: {sparkVersion: 4.1.4, scalaVersion: "0"}}`, like: `{}`},
	{
		field: "runtimeVersions.jdkVersion", reported: atAdmission, spec: `{runtimeVersions: {sparkVersion: 4.1.4, jdkVersion: 17}}`,
		says: []string{"spec.runtimeVersions.jdkVersion", "integer", "must be of type string"},
	},
	{field: "runtimeVersions.jdkVersion", reported: byMeaning, spec: `{runtimeVersions: {sparkVersion: 4.1.4, jdkVersion: "0"}}`, like: `{}`},

	{field: "mainClass", reported: atAdmission, spec: `{mainClass: [Main]}`, says: []string{"spec.mainClass", "array", "must be of type string"}},
	{field: "mainClass", reported: byRefusing, spec: `{mainClass: "", jars: "local:///a.jar"}`, says: []string{"spec.mainClass is missing", "name the class"}},
	{
		field: "mainClass", reported: byWarning, spec: `{mainClass: Mine, pyFiles: "local:///a.py"}`,
		says: []string{"spec.mainClass", `"Mine"`, "PythonRunner runs", "leave it out"},
	},
	{
		field: "mainClass", reported: byWarning, spec: `{mainClass: Mine, sparkRFiles: "local:///a.R"}`,
		says: []string{"spec.mainClass", `"Mine"`, "RRunner runs", "leave it out"},
	},
	{field: "jars", reported: byRefusing, spec: `{jars: /home/me/a.jar}`, says: []string{"spec.jars", `"/home/me/a.jar"`, "write local:///path"}},
	{field: "pyFiles", reported: byRefusing, spec: `{pyFiles: pi.py}`, says: []string{"spec.pyFiles", `"pi.py"`, "write local:///path"}},
	{
		field: "pyFiles", reported: byWarning, spec: `{jars: "local:///a.jar", pyFiles: "local:///a.py"}`,
		says: []string{"spec.pyFiles", `"local:///a.py"`, "leave spec.jars out"},
	},
	{
		field: "pyFiles", reported: byWarning, spec: `{mainClass: "", pyFiles: "local:///a.py,local:///b.py"}`,
		says: []string{"spec.pyFiles", `"local:///a.py,local:///b.py"`, "write org.apache.spark.deploy.PythonRunner into spec.mainClass"},
	},
	{field: "sparkRFiles", reported: byRefusing, spec: `{sparkRFiles: pi.R}`, says: []string{"spec.sparkRFiles", `"pi.R"`, "write local:///path"}},
	{
		field: "sparkRFiles", reported: byWarning, spec: `{jars: "local:///a.jar", sparkRFiles: "local:///a.R"}`,
		says: []string{"spec.sparkRFiles", `"local:///a.R"`, "leave one of them out"},
	},
	{field: "files", reported: byRefusing, spec: `{files: "/etc/words"}`, says: []string{"spec", "files", `"/etc/words"`, "write local:///path"}},
	{
		field: "deploymentMode", reported: atAdmission, spec: `{deploymentMode: cluster}`,
		says: []string{"spec.deploymentMode", `"cluster"`, `"ClusterMode", "ClientMode"`},
	},
	{field: "deploymentMode", reported: byFailing, spec: `{deploymentMode: ClientMode}`, says: []string{"spec.deploymentMode", "Client mode", "set it to ClusterMode"}},
	{field: "proxyUser", reported: atAdmission, spec: `{proxyUser: 7}`, says: []string{"spec.proxyUser", "integer", "must be of type string"}},
	{field: "proxyUser", reported: byMeaning, spec: `{proxyUser: ""}`, like: `{}`},
	{field: "driverArgs", reported: atAdmission, spec: `{driverArgs: [1000]}`, says: []string{"spec.driverArgs[0]", "integer", "must be of type string"}},
	{field: "driverArgs", reported: atAdmission, spec: `{driverArgs: [null]}`, says: []string{"spec.driverArgs[0]", "null", "must be of type string"}},
	{field: "driverArgs", reported: byMeaning, spec: `{driverArgs: []}`, like: `{}`},
	{
		field: "sparkConf", reported: atAdmission, spec: `{sparkConf: {spark.executor.instances: 5}}`,
		says: []string{"spec.sparkConf.spark.executor.instances", "integer", "must be of type string"},
	},
	{field: "sparkConf", reported: byRefusing, spec: `{sparkConf: {spark.driver.memory: 1.5g}}`, says: []string{"spec.sparkConf[spark.driver.memory]", `"1.5g"`, "write"}},
	{
		field: "sparkConf", reported: byRefusing, spec: `{sparkConf: {spark.driver.bindAddress: "::1"}}`,
		says: []string{"spec.sparkConf[spark.driver.bindAddress]", `"::1"`, "leave it out"},
	},
	{field: "sparkConf", reported: byRefusing, spec: `{sparkConf: {spark.master: yarn}}`, says: []string{"spec.sparkConf[spark.master]", `"yarn"`, "leave it out"}},
	{field: "sparkConf", reported: byWarning, spec: `{sparkConf: {"": x}}`, says: []string{"spec.sparkConf[]", "leave it out"}},
	{
		field: "sparkConf", reported: byWarning, spec: `{sparkConf: {fs.s3a.endpoint: x}}`,
		says: []string{`spec.sparkConf[fs.s3a.endpoint]`, "write spark.hadoop. before"},
	},
	{
		field: "sparkConf", reported: byWarning, spec: `{sparkConf: {spark.kubernetes.namespace: elsewhere}}`,
		says: []string{"spec.sparkConf[spark.kubernetes.namespace]", `"elsewhere"`, "leave it out"},
	},
	{field: "sparkConf", reported: byWarning, spec: `{sparkConf: {spark.app.name: Pi}}`, says: []string{"spec.sparkConf[spark.app.name]", `"Pi"`, "leave it out"}},
	{
		field: "sparkConf", reported: byWarning, spec: `{sparkConf: {spark.driver.host: me}}`,
		says: []string{"spec.sparkConf[spark.driver.host]", `"me"`, "leave it out"},
	},
	{
		field: "sparkConf", reported: byWarning, spec: `{sparkConf: {spark.driver.memory: "2048"}}`,
		says: []string{`spec.sparkConf[spark.driver.memory] "2048"`, "bytes to its JVM", `write "2048m"`},
	},

	{
		field: "driverSpec.podTemplateSpec", reported: atAdmission, spec: `{driverSpec: {podTemplateSpec: []}}`,
		says: []string{"spec.driverSpec.podTemplateSpec", "array", "must be of type object"},
	},
	{
		field: "driverSpec.podTemplateSpec", reported: bySettingAside, spec: `{driverSpec: {podTemplateSpec: {spec: {activeDeadlineSeconds: "60"}}}}`,
		says: []string{"spec.driverSpec.podTemplateSpec.spec.activeDeadlineSeconds", "string", "int64"},
	},
	{
		field: "driverSpec.podTemplateSpec", reported: byWarning, spec: `{driverSpec: {podTemplateSpec: {spec: {volume: []}}}}`,
		says: []string{"spec.driverSpec.podTemplateSpec.spec.volume", "correct its spelling"},
	},
	{
		field: "executorSpec.podTemplateSpec", reported: bySettingAside, spec: `{executorSpec: {podTemplateSpec: {spec: {hostNetwork: "yes"}}}}`,
		says: []string{"spec.executorSpec.podTemplateSpec.spec.hostNetwork", "string", "bool"},
	},

	{
		field: "configMapSpecs[].name", reported: atAdmission, spec: `{configMapSpecs: [{name: My_Map}]}`,
		says: []string{"spec.configMapSpecs[0].name", `"My_Map"`, "should match '^[a-z0-9]"},
	},
	{field: "configMapSpecs[].name", reported: atAdmission, spec: `{configMapSpecs: [{name: ""}]}`, says: []string{"spec.configMapSpecs[0].name", `""`, "should match '^[a-z0-9]"}},
	{field: "configMapSpecs[].name", reported: atAdmission, spec: `{configMapSpecs: [{data: {}}]}`, says: []string{"spec.configMapSpecs[0].name", "Required"}},
	{
		field: "configMapSpecs[].name", reported: atAdmission, spec: `{configMapSpecs: [{name: ` + tooLongName + tooLongName + `}]}`,
		says: []string{"spec.configMapSpecs[0].name", "may not be more than 253"},
	},
	{
		field: "configMapSpecs[].name", reported: byRefusing, spec: `{configMapSpecs: [{name: bad-0-spark-drv-conf-map}]}`,
		says: []string{"spec.configMapSpecs[0].name", `"bad-0-spark-drv-conf-map"`, "choose another"},
	},
	{
		field: "configMapSpecs[].name", reported: byWarning, spec: `{configMapSpecs: [{name: a, data: {b: c}}, {name: a}]}`,
		says: []string{"spec.configMapSpecs[0]", `"a"`, "give each a name of its own"},
	},
	{
		field: "configMapSpecs[].labels", reported: byRefusing, spec: `{configMapSpecs: [{name: a, labels: {team: "a b"}}]}`,
		says: []string{"spec.configMapSpecs[0].labels", `"a b"`, "must"},
	},
	{
		field: "configMapSpecs[].annotations", reported: byRefusing, spec: `{configMapSpecs: [{name: a, annotations: {a b: c}}]}`,
		says: []string{"spec.configMapSpecs[0].annotations", `"a b"`, "must"},
	},
	{
		field: "configMapSpecs[].data", reported: atAdmission, spec: `{configMapSpecs: [{name: a, data: {a: {b: c}}}]}`,
		says: []string{"spec.configMapSpecs[0].data.a", "object", "must be of type string"},
	},
	{
		field: "configMapSpecs[].data", reported: byRefusing, spec: `{configMapSpecs: [{name: a, data: {conf/a.xml: c}}]}`,
		says: []string{"spec.configMapSpecs[0].data", `"conf/a.xml"`, "must"},
	},
	{field: "suspend", reported: atAdmission, spec: `{suspend: "yes"}`, says: []string{"spec.suspend", "string", "must be of type boolean"}},
},
	badIngresses(), badRoutes("driverHttpRouteList", "httpRoute"), badRoutes("driverGrpcRouteList", "grpcRoute"),
	badRestarts(), badTimeouts(), badInstances(), badRetention(),
)

// A value without effect is reported, with field, value and remedy.
func TestBadValuesOfEveryFieldAreReported(t *testing.T) {
	for _, bad := range badValues {
		t.Run(bad.field+" "+bad.reported+" "+bad.spec, func(t *testing.T) {
			reported := reportOf(t, bad.spec)
			if reported.place != bad.reported {
				t.Fatalf("reported %s: %s", reported.place, reported.text)
			}
			for _, part := range bad.says {
				if !strings.Contains(reported.text, part) {
					t.Errorf("it lacks %s: %s", part, reported.text)
				}
			}
			if diff := gocmp.Diff(reportOf(t, cmp.Or(bad.like, bad.spec)).meaning, reported.meaning, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("it means something else than %s (-that +this):\n%s", bad.like, diff)
			}
		})
	}
}

// A new field has no bad values yet, so this test fails until they are added.
func TestBadValuesCoverEveryField(t *testing.T) {
	tried := map[string]bool{}
	for _, bad := range badValues {
		if (len(bad.says) == 0) == (bad.like == "") {
			t.Errorf("%s is reported %s with %q, or is like %q?", bad.spec, bad.reported, bad.says, bad.like)
		}
		tried[bad.field] = true
	}
	fields := leaves(reflect.TypeFor[sparkv1.ApplicationSpec](), "")
	for _, field := range fields {
		if !tried[field] {
			t.Errorf("no bad value for %s", field)
		}
		delete(tried, field)
	}
	for field := range tried {
		t.Errorf("there is no field %s, but of %q", field, fields)
	}
}

// leaves are the paths of the fields that have no further ones of this API's.
func leaves(of reflect.Type, path string) []string {
	switch of.Kind() {
	case reflect.Pointer:
		return leaves(of.Elem(), path)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Struct {
			return leaves(of.Elem(), path+"[]")
		}
	case reflect.Struct:
		if of.PkgPath() != reflect.TypeFor[sparkv1.ApplicationSpec]().PkgPath() {
			break
		}
		var paths []string
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			paths = append(paths, leaves(of.Field(i).Type, strings.TrimPrefix(path+"."+name, "."))...)
		}
		return paths
	}
	return []string{path}
}

// A report is what is reported about an application, and where.
type report struct {
	place, text string
	// meaning is what is done, where it is done.
	meaning any
}

// reportOf follows an application from its admission to its launch, and returns the first report about it.
func reportOf(t *testing.T, spec string) report {
	t.Helper()
	text := application(t, "bad", spec)
	admitted, refusal := newResource(t, sparkApplications, "v1").admit(t, text)
	if refusal != nil {
		return report{place: atAdmission, text: refusal.Error()}
	}
	app := decodeObject(t, admitted)
	app.Namespace, app.UID = "default", "uid"
	if app.Undecodable != "" {
		return report{place: bySettingAside, text: app.Undecodable}
	}
	policy := apache.Policy(app, apache.Defaults{})
	if policy.Refused != nil {
		return report{place: byFailing, text: policy.Refused.Message}
	}
	plan, err := launch(app)
	if err != nil {
		return report{place: byRefusing, text: apache.Refusals(err, app, apache.Defaults{}).String()}
	}
	meaning := struct {
		Policy lifecycle.Policy
		Plan   submission.Plan
	}{policy, plan}
	if warnings := append(apache.UnsupportedFields(app).Sentences(), apache.Contradictions(app, apache.Defaults{}).Sentences()...); len(warnings) > 0 {
		return report{place: byWarning, text: strings.Join(warnings, " "), meaning: meaning}
	}
	return report{place: byMeaning, meaning: meaning}
}

// launch makes all that an attempt is launched with.
func launch(app *sparkv1.SparkApplication) (submission.Plan, error) {
	plan, err := apache.Plan(app, v1alpha1.Attempt{}, apache.Defaults{})
	if err != nil {
		return plan, err
	}
	objects, err := submission.Build(plan)
	if err != nil {
		return plan, err
	}
	return plan, apache.CheckConfigMaps(app, objects).Err()
}

func badIngresses() []badValue {
	const field, at = "driverServiceIngressList[].", "spec.driverServiceIngressList[0]."
	entry := func(parts string) string { return fmt.Sprintf(`{driverServiceIngressList: [{%s}]}`, parts) }
	return []badValue{
		{
			field: field + "serviceMetadata", reported: atAdmission, spec: entry(`serviceMetadata: {}, serviceSpec: {}, ingressMetadata: {name: i}`),
			says: []string{at + "serviceMetadata.name", "Required value", "name the Service"},
		},
		{
			field: field + "serviceSpec", reported: atAdmission, spec: entry(`serviceMetadata: {name: s}, ingressMetadata: {name: i}`),
			says: []string{at + "serviceSpec", "Required"},
		},
		{
			field: field + "serviceSpec", reported: bySettingAside,
			spec: entry(`serviceMetadata: {name: s}, serviceSpec: {ports: [{port: http}]}, ingressMetadata: {name: i}`),
			says: []string{"spec.driverServiceIngressList", "serviceSpec.ports", "port", "string", "int32"},
		},
		{
			field: field + "ingressMetadata", reported: atAdmission, spec: entry(`serviceMetadata: {name: s}, serviceSpec: {}, ingressMetadata: {labels: {}}`),
			says: []string{at + "ingressMetadata.name", "Required value", "name the Ingress"},
		},
		{
			field: field + "ingressSpec", reported: atAdmission,
			spec: entry(`serviceMetadata: {name: s}, serviceSpec: {}, ingressMetadata: {name: i}, ingressSpec: nginx`),
			says: []string{at + "ingressSpec", "string", "must be of type object"},
		},
	}
}

func badRoutes(list, route string) []badValue {
	field, at := list+"[].", "spec."+list+"[0]."
	// The part of the entry that is bad takes the place of a good one.
	entry := func(part, value string) string {
		parts := map[string]string{
			"serviceMetadata": `{name: s}`, "serviceSpec": `{}`, route + "Metadata": `{name: r}`, route + "Spec": `{parentRefs: [{name: g}]}`,
		}
		parts[part] = value
		var text []string
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			text = append(text, part+": "+parts[part])
		}
		return fmt.Sprintf(`{%s: [{%s}]}`, list, strings.Join(text, ", "))
	}
	return []badValue{
		{
			field: field + "serviceMetadata", reported: atAdmission, spec: entry("serviceMetadata", `{name: ""}`),
			says: []string{at + "serviceMetadata.name", "Required value", "name the Service"},
		},
		{field: field + "serviceSpec", reported: atAdmission, spec: entry("serviceSpec", "null"), says: []string{at + "serviceSpec", "Required"}},
		{
			field: field + route + "Metadata", reported: atAdmission, spec: entry(route+"Metadata", `{generateName: r}`),
			says: []string{at + route + "Metadata.name", "Required value", "name the ", "Route"},
		},
		{
			field: field + route + "Spec", reported: atAdmission, spec: entry(route+"Spec", `{rules: []}`),
			says: []string{at + route + "Spec.parentRefs", "Required value", "name the Gateway"},
		},
		{
			field: field + route + "Spec", reported: atAdmission, spec: entry(route+"Spec", `{parentRefs: []}`),
			says: []string{at + route + "Spec.parentRefs", "Required value", "name the Gateway"},
		},
		{
			field: field + route + "Spec", reported: atAdmission, spec: entry(route+"Spec", "null"),
			says: []string{at + route + "Spec.parentRefs", "Required value", "name the Gateway"},
		},
	}
}

// tolerating is a spec with tolerations.
func tolerating(format string, values ...any) string {
	return fmt.Sprintf(`{applicationTolerations: {`+format+`}}`, values...)
}

const forEver, hundredYears = "9223372036854775807", "3153600000000"

func badRestarts() []badValue {
	const in = "applicationTolerations.restartConfig."
	restart := func(field, value string) string {
		return tolerating("restartConfig: {restartPolicy: Always, maxRestartAttempts: 9, %s: %s}", field, value)
	}
	rows := []badValue{
		{
			field: in + "restartPolicy", reported: atAdmission, spec: tolerating("restartConfig: {restartPolicy: Sometimes}"),
			says: []string{"spec." + in + "restartPolicy", `"Sometimes"`, `"Always", "Never", "OnFailure", "OnInfrastructureFailure"`},
		},
		{
			field: in + "maxRestartAttempts", reported: byWarning, spec: tolerating("restartConfig: {restartPolicy: Always, maxRestartAttempts: -1}"),
			says: []string{"spec." + in + "maxRestartAttempts", "-1", "write how many"},
		},
		{
			field: in + "restartCounterResetMillis", reported: atAdmission, spec: restart("restartCounterResetMillis", "1h"),
			says: []string{"spec." + in + "restartCounterResetMillis", "string", "must be of type integer"},
		},
		{
			field: in + "restartCounterResetMillis", reported: byMeaning,
			spec: restart("restartCounterResetMillis", "-7"), like: restart("restartCounterResetMillis", "-1"),
		},
	}
	for _, field := range []string{"maxRestartOnFailure", "maxRestartOnSchedulingFailure"} {
		rows = append(rows,
			badValue{field: in + field, reported: byWarning, spec: restart(field, "-1"), says: []string{"spec." + in + field, "-1", "write how many"}},
			badValue{field: in + field, reported: byWarning, spec: restart(field, "10"), says: []string{"spec." + in + field, "10", "raise that, or lower this"}},
		)
	}
	for _, field := range []string{"restartBackoffMillis", "restartBackoffMillisForFailure", "restartBackoffMillisForSchedulingFailure"} {
		rows = append(rows,
			badValue{field: in + field, reported: byWarning, spec: restart(field, "-5"), says: []string{"spec." + in + field, "-5", "write how many milliseconds"}},
			badValue{field: in + field, reported: byMeaning, spec: restart(field, forEver), like: restart(field, hundredYears)},
			badValue{
				field: in + field, reported: atAdmission, spec: restart(field, "9223372036854775808"),
				says: []string{"spec." + in + field, "must be of type integer"},
			},
		)
	}
	return rows
}

func badTimeouts() []badValue {
	const in = "applicationTolerations.applicationTimeoutConfig."
	timeout := func(field, value string) string {
		return tolerating("applicationTimeoutConfig: {%s: %s}", field, value)
	}
	rows := []badValue{
		{
			field: in + "forceTerminationGracePeriodMillis", reported: byWarning, spec: timeout("forceTerminationGracePeriodMillis", "0"),
			says: []string{"spec." + in + "forceTerminationGracePeriodMillis", "0", "write how many milliseconds"},
		},
		{
			field: in + "forceTerminationGracePeriodMillis", reported: byWarning, spec: timeout("forceTerminationGracePeriodMillis", "-1"),
			says: []string{"spec." + in + "forceTerminationGracePeriodMillis", "-1", "write how many milliseconds"},
		},
		{
			field: in + "terminationRequeuePeriodMillis", reported: byMeaning,
			spec: timeout("terminationRequeuePeriodMillis", "-1"), like: timeout("terminationRequeuePeriodMillis", "2000"),
		},
	}
	for _, field := range []string{"driverStartTimeoutMillis", "driverReadyTimeoutMillis", "executorStartTimeoutMillis"} {
		rows = append(rows,
			badValue{
				field: in + field, reported: atAdmission, spec: timeout(field, "5m"),
				says: []string{"spec." + in + field, "string", "must be of type integer"},
			},
			badValue{field: in + field, reported: byMeaning, spec: timeout(field, "-9223372036854775808"), like: timeout(field, "-1")},
			badValue{field: in + field, reported: byMeaning, spec: timeout(field, forEver), like: timeout(field, hundredYears)},
		)
	}
	return rows
}

func badInstances() []badValue {
	const in = "applicationTolerations.instanceConfig."
	instances := func(config, conf string) string {
		return fmt.Sprintf(`{applicationTolerations: {instanceConfig: {%s}}, sparkConf: {%s}}`, config, conf)
	}
	const dynamic = "spark.dynamicAllocation.enabled: 'true', spark.dynamicAllocation.maxExecutors: '4'"
	rows := []badValue{
		{
			field: in + "initExecutors", reported: byWarning, spec: instances("initExecutors: 6, maxExecutors: 5", "spark.executor.instances: '9'"),
			says: []string{"spec." + in + "initExecutors 6", "lower it, or raise that"},
		},
		{
			field: in + "initExecutors", reported: byWarning, spec: instances("initExecutors: 6", "spark.executor.instances: '5'"),
			says: []string{"spec." + in + "initExecutors 6", "spark.executor.instances", "never counts as started", "lower it, or raise that"},
		},
		{
			field: in + "initExecutors", reported: byWarning, spec: instances("initExecutors: 3", ""),
			says: []string{"spec." + in + "initExecutors 3", "the 2 executors", "spark.executor.instances", "raise that"},
		},
		{
			field: in + "initExecutors", reported: byWarning, spec: instances("initExecutors: 6", dynamic),
			says: []string{"spec." + in + "initExecutors 6", "spark.dynamicAllocation.maxExecutors", "lower it, or raise that"},
		},
		{
			field: in + "minExecutors", reported: byWarning, spec: instances("initExecutors: 1, minExecutors: 6, maxExecutors: 5", "spark.executor.instances: '9'"),
			says: []string{"spec." + in + "minExecutors 6", "lower it, or raise that"},
		},
		{
			field: in + "minExecutors", reported: byWarning, spec: instances("initExecutors: 1, minExecutors: 6", dynamic),
			says: []string{"spec." + in + "minExecutors 6", "always counts as below", "lower it, or raise that"},
		},
		{
			field: in + "minExecutors", reported: byWarning, spec: instances("minExecutors: 3", ""),
			says: []string{"spec." + in + "minExecutors 3", "write into that"},
		},
		{
			field: in + "maxExecutors", reported: byWarning, spec: instances("initExecutors: 1, maxExecutors: 3", ""),
			says: []string{"spec." + in + "maxExecutors 3", "never counts as complete", "lower it, or raise that"},
		},
	}
	for _, field := range []string{"initExecutors", "minExecutors", "maxExecutors"} {
		rows = append(rows,
			badValue{field: in + field, reported: byWarning, spec: instances(field+": -1", ""), says: []string{"spec." + in + field + " -1", "write a number"}},
			badValue{
				field: in + field, reported: atAdmission, spec: instances(field+": 2147483648", ""),
				says: []string{"spec." + in + field, "should be less than or equal to 2147483647"},
			},
		)
	}
	return rows
}

func badRetention() []badValue {
	const in = "applicationTolerations."
	return []badValue{
		{
			field: in + "resourceRetainPolicy", reported: atAdmission, spec: tolerating("resourceRetainPolicy: Sometimes"),
			says: []string{"spec." + in + "resourceRetainPolicy", `"Sometimes"`, `"Always", "OnFailure", "Never"`},
		},
		{
			field: in + "resourceRetentionPolicy", reported: atAdmission, spec: tolerating("resourceRetentionPolicy: Sometimes"),
			says: []string{"spec." + in + "resourceRetentionPolicy", `"Sometimes"`, `"Always", "OnFailure", "Never"`},
		},
		{
			field: in + "resourceRetentionPolicy", reported: byWarning, spec: tolerating("resourceRetainPolicy: Always, resourceRetentionPolicy: Never"),
			says: []string{"spec." + in + "resourceRetentionPolicy", `"Never"`, "leave it out"},
		},
		{
			field: in + "resourceRetainDurationMillis", reported: byWarning, spec: tolerating("resourceRetainDurationMillis: 5"),
			says: []string{"spec." + in + "resourceRetainDurationMillis", "5", "write OnFailure or Always"},
		},
		{
			field: in + "resourceRetainDurationMillis", reported: byWarning,
			spec: tolerating("resourceRetainPolicy: Always, resourceRetainDurationMillis: 9, ttlAfterStopMillis: 5"),
			says: []string{"spec." + in + "resourceRetainDurationMillis", "9", "raise that, or lower this"},
		},
		{
			field: in + "resourceRetainDurationMillis", reported: byMeaning,
			spec: tolerating("resourceRetainDurationMillis: -9"), like: tolerating("resourceRetainDurationMillis: -1"),
		},
		{
			field: in + "ttlAfterStopMillis", reported: atAdmission, spec: tolerating("ttlAfterStopMillis: 10s"),
			says: []string{"spec." + in + "ttlAfterStopMillis", "string", "must be of type integer"},
		},
		{field: in + "ttlAfterStopMillis", reported: byMeaning, spec: tolerating("ttlAfterStopMillis: -9"), like: tolerating("ttlAfterStopMillis: -1")},
		{field: in + "ttlAfterStopMillis", reported: byMeaning, spec: tolerating("ttlAfterStopMillis: %s", forEver), like: tolerating("ttlAfterStopMillis: %s", hundredYears)},
	}
}
