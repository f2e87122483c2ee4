package sparksubmit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// sources are files and variables of a test.
func sources(files, environment map[string]string) Sources {
	return Sources{
		Environment: func(name string) string { return environment[name] },
		ReadFile: func(name string) ([]byte, error) {
			if file, exists := files[name]; exists {
				return []byte(file), nil
			}
			return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
		},
		ReadFolder: func(folder string) (names []string, err error) {
			for file := range files {
				if name, in := strings.CutPrefix(file, folder+"/"); in {
					names = append(names, name)
				}
			}
			if names == nil {
				err = fmt.Errorf("open %s: %w", folder, fs.ErrNotExist)
			}
			return slices.Sorted(slices.Values(names)), err
		},
	}
}

// submitted is what a command line submits, which must have no errors.
func submitted(t *testing.T, from Sources, arguments ...string) (*Submission, finding.List) {
	t.Helper()
	line, err := Parse(arguments, nil)
	if err != nil {
		t.Fatalf("%q: %v", arguments, err)
	}
	s, found := line.Resolve(from)
	if refused := found.Of(finding.Error); len(refused) > 0 {
		t.Fatalf("%q: %s", arguments, refused)
	}
	return s, found
}

var ignored = cmpopts.IgnoreUnexported(Submission{})

func TestEachOptionSetsItsProperty(t *testing.T) {
	taken := []string{MasterKey, deployModeKey, nameKey, remoteKey}
	for _, option := range Options {
		if option.Property == "" || slices.Contains(taken, option.Property) {
			continue
		}
		for _, arguments := range [][]string{{option.Name, "-v a=b"}, {option.Name + "=-v a=b"}} {
			s, _ := submitted(t, sources(nil, nil), append(arguments, "--class", "a.B", "local:///a.jar")...)
			if got := s.Properties[option.Property]; got != "-v a=b" {
				t.Errorf("%q sets %s to %q", arguments, option.Property, got)
			}
		}
	}
}

func TestACommandLineOfTheDocumentation(t *testing.T) {
	s, found := submitted(t, sources(nil, nil),
		"--master", "k8s://https://10.0.0.1:6443", "--deploy-mode", "cluster", "--name", "spark-pi", "--class", "org.apache.spark.examples.SparkPi",
		"--conf", "spark.executor.instances=5", "-c", "spark.kubernetes.container.image=apache/spark:4.1.0-scala",
		"--conf", "spark.executor.extraJavaOptions=-XX:+PrintGCDetails -Da=b", "--conf=spark.kubernetes.namespace=team-a",
		"--conf", "spark.kubernetes.authenticate.submission.oauthToken=abc", "--conf", "spark.kubernetes.context=prod", "--verbose",
		"local:///path/to/examples.jar", "--class", "10", "-x", "")
	want := &Submission{
		Name: "spark-pi", Named: true, Namespace: "team-a", SparkVersion: "4.1.0", MainClass: "org.apache.spark.examples.SparkPi",
		Resource: "local:///path/to/examples.jar", Arguments: []string{"--class", "10", "-x", ""},
		Properties: map[string]string{
			"spark.executor.instances": "5", "spark.kubernetes.container.image": "apache/spark:4.1.0-scala",
			"spark.executor.extraJavaOptions": "-XX:+PrintGCDetails -Da=b",
		},
		Client: map[string]string{
			"spark.master": "https://10.0.0.1:6443", "spark.kubernetes.context": "prod", "spark.kubernetes.authenticate.submission.oauthToken": "abc",
		},
	}
	if diff := cmp.Diff(want, s, ignored); diff != "" || len(found) > 0 {
		t.Errorf("it is (-want +got):\n%s\nand %s", diff, found)
	}
}

func TestOptionsWinOverConfOverFilesOverTheEnvironment(t *testing.T) {
	files := map[string]string{
		"one":                       "spark.a one\nspark.b=one\nspark.c: one \nspark.d \\\n  one\n# spark.e one\n",
		"two":                       "spark.a=two\nspark.x=two\n",
		"three":                     "spark.x=three\n",
		"/conf/spark-defaults.conf": "spark.a default\nspark.e   default\nspark.driver.memory 1g\n",
	}
	environment := map[string]string{"SPARK_CONF_DIR": "/conf", "SPARK_DRIVER_MEMORY": "5g", "SPARK_EXECUTOR_MEMORY": "6g"}
	resource := []string{"--class", "B", "local:///a.jar"}
	for name, test := range map[string]struct {
		arguments []string
		want      map[string]string
	}{
		"defaults and the environment": {nil, map[string]string{"spark.a": "default", "spark.e": "default", "spark.driver.memory": "1g", "spark.executor.memory": "6g"}},
		"a file in the place of the defaults": {[]string{"--properties-file", "one"}, map[string]string{
			"spark.a": "one", "spark.b": "one", "spark.c": "one", "spark.d": "one", "spark.driver.memory": "5g", "spark.executor.memory": "6g",
		}},
		"a file and the defaults": {[]string{"--properties-file", "one", "--load-spark-defaults"}, map[string]string{
			"spark.a": "one", "spark.b": "one", "spark.c": "one", "spark.d": "one", "spark.e": "default", "spark.driver.memory": "1g", "spark.executor.memory": "6g",
		}},
		"more files": {[]string{"--extra-properties-file", "two", "--properties-file", "one", "--extra-properties-file", "three"}, map[string]string{
			"spark.a": "two", "spark.x": "three", "spark.b": "one", "spark.c": "one", "spark.d": "one", "spark.driver.memory": "5g", "spark.executor.memory": "6g",
		}},
		"conf before the file": {[]string{"--conf", "spark.a=1", "--conf", "spark.a=2", "--properties-file", "one"}, map[string]string{
			"spark.a": "2", "spark.b": "one", "spark.c": "one", "spark.d": "one", "spark.driver.memory": "5g", "spark.executor.memory": "6g",
		}},
		"an option before conf": {[]string{"--driver-memory", "2g", "--conf", "spark.driver.memory=3g", "--driver-memory=4g", "--properties-file", "two"}, map[string]string{
			"spark.a": "two", "spark.x": "two", "spark.driver.memory": "4g", "spark.executor.memory": "6g",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := submitted(t, sources(files, environment), append(test.arguments, resource...)...)
			if diff := cmp.Diff(test.want, s.Properties); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsWrongIsNamedAsItIsWritten(t *testing.T) {
	const file = "local:///a.jar"
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--class"}, "missing argument for option '--class'"},
		{[]string{"-c"}, "missing argument for option '-c'"},
		{[]string{"--clas", "a.B", file}, "unrecognized option: --clas: did you mean --class?"},
		{[]string{"--clas=a.B", file}, "unrecognized option: --clas: did you mean --class?"},
		{[]string{"--name=", file}, "unrecognized option: --name=: did you mean --name?"},
		{[]string{"-x"}, "unrecognized option: -x"},
		{[]string{"--conf", "spark.a", file}, "invalid argument to --conf: spark.a: write PROPERTY=VALUE"},
		{[]string{"--conf", "password: hunter2", file}, "invalid argument to --conf: password: *********(redacted): write PROPERTY=VALUE"},
		{[]string{"--deploy-mode", "Cluster"}, `--deploy-mode must be either "client" or "cluster", not "Cluster"`},
		{[]string{"--kill", "a", "--status", "a"}, "action cannot be both KILL and REQUEST_STATUS: write one of --kill and --status, once"},
		{[]string{"--kill", ""}, "the submission ID is empty: write NAMESPACE:NAME, with the name of the application or of its driver Pod"},
		{[]string{"--class", "a.B"}, "Must specify a primary resource (JAR or Python or R file): write it after the options, such as local:///opt/spark/examples/jars/spark-examples.jar for a file of the image"},
		{[]string{file}, "No main class set in JAR; please specify one with --class. Write the class in full, such as --class org.example.Main"},
		{[]string{"spark-shell"}, "Cluster deploy mode is not applicable to Spark shells. Name the file of an application"},
		{[]string{"--class", "B", "--master", "yarn", file}, `--master "yarn" is no Kubernetes cluster: write k8s://https://HOST:PORT, or leave it out for the cluster of the kubeconfig`},
		{[]string{"--class", "B", "--conf", "spark.master=local[2]", file}, `--conf spark.master "local[2]" is no Kubernetes cluster`},
		{[]string{"--class", "B", "--master", "k8s://", file}, `--master "k8s://" names no API server`},
		{[]string{"--class", "B", "--master", "k8s://ftp://h", file}, `--master "k8s://ftp://h" has an invalid scheme of a Kubernetes master`},
		{[]string{"--class", "B", "--deploy-mode", "client", file}, `--deploy-mode "client" runs the driver on this host: write cluster, or leave it out`},
		{[]string{"--class", "B", "--remote", "sc://h", file}, `--remote "sc://h" is for a client of Spark Connect`},
		{[]string{"--class", "B", "--properties-file", "none", file}, `--properties-file "none" cannot be read (open none: file does not exist)`},
		{[]string{"--class", "B", "--proxy-user", "a", "--principal", "b", file}, "Only one of --proxy-user or --principal can be provided. Leave one of them out"},
		{[]string{"--class", "B", "--conf", driverTemplateKey + "=none", file}, `--conf spark.kubernetes.driver.podTemplateFile "none" cannot be read (open none: file does not exist): name a file with the manifest of a Pod`},
		{[]string{"--class", "B", "--conf", driverTemplateKey + "=text", file}, `--conf spark.kubernetes.driver.podTemplateFile "text" cannot be read (`},
		{[]string{"--class", "B", "--queue", "q", file}, `--queue "q" has no effect on Kubernetes in cluster mode: leave it out, or name the queue by the labels or annotations that its scheduler reads`},
		{[]string{"--class", "B", "--supervise", file}, "--supervise has no effect on Kubernetes in cluster mode: leave it out, and set in a manifest when the application is restarted"},
		{[]string{"--class", "B", "--conf", "fs.s3a.endpoint=x", file}, "--conf fs.s3a.endpoint is no Spark property, so it is ignored: begin it with spark., or with spark.hadoop. for a property of Hadoop"},
		{[]string{"--class", "B", "--conf", "spark.a=" + strings.Repeat("a", MaxBytes), file}, "the command line has 1048"},
		{[]string{"--class", "B", "--properties-file", "large", file}, `--properties-file "large" cannot be read (it has 1048592 bytes, and an application can hold 1048576)`},
		{[]string{"--class", "B", "--properties-file", "almost", file, strings.Repeat("a", MaxBytes/2)}, "properties, arguments, $HADOOP_CONF_DIR and $SPARK_CONF_DIR have"},
	} {
		line, err := Parse(test.arguments, nil)
		var found finding.List
		if err == nil {
			_, found = line.Resolve(sources(map[string]string{
				"text": "hello", "large": "spark.a=" + strings.Repeat("a", MaxBytes+8), "almost": "spark.a=" + strings.Repeat("a", MaxBytes-100),
			}, nil))
			err = found.Err()
		}
		if err == nil || !strings.HasPrefix(found.String(), test.want) && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.60q: it is %v\nwant %s", test.arguments, err, test.want)
		}
	}
}

func TestFindingsHaveTheSameOrderEachTime(t *testing.T) {
	arguments := []string{"--class", "B"}
	var want []string
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		arguments, want = append(arguments, "--conf", key+"=1"), append(want, "--conf "+key)
	}
	_, found := submitted(t, sources(nil, nil), append(arguments, "local:///a.jar")...)
	var got []string
	for _, f := range found {
		got = append(got, f.Field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestActionsThatSubmitNothing(t *testing.T) {
	for text, want := range map[string]CommandLine{
		"--status ns:driver --master k8s://h": {Action: Status, SubmissionID: "ns:driver"},
		"--kill driver*":                      {Action: Kill, SubmissionID: "driver*"},
		"--version --nonsense":                {Action: PrintVersion},
		"--help":                              {Action: PrintHelp},
		"-h -v":                               {Action: PrintHelp, Verbose: true},
		"--usage-error":                       {Action: PrintUsage},
	} {
		line, err := Parse(strings.Fields(text), nil)
		if err != nil || line.Action != want.Action || line.SubmissionID != want.SubmissionID || line.Verbose != want.Verbose {
			t.Errorf("%s: it is %+v, %v", text, line, err)
		}
	}
}

func TestOtherOptionsAreHandedToTheCaller(t *testing.T) {
	var taken []string
	line, err := Parse([]string{"-n", "team-a", "--class", "B", "--watch", "local:///a.jar", "-n", "b"}, func(arguments []string) (int, error) {
		taken = append(taken, arguments[0])
		return map[string]int{"-n": 2, "--watch": 1}[arguments[0]], nil
	})
	if err != nil || !slices.Equal(taken, []string{"-n", "--watch"}) || !slices.Equal(line.Arguments, []string{"-n", "b"}) {
		t.Errorf("%q were taken, and the arguments are %q: %v", taken, line.Arguments, err)
	}
	if _, err := Parse([]string{"--none"}, func([]string) (int, error) { return 0, nil }); err == nil {
		t.Error("an option that the caller does not know is accepted")
	}
	failed := errors.New("failed")
	if _, err := Parse([]string{"--none"}, func([]string) (int, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("the caller's error becomes %v", err)
	}
}

func TestServersOfSparkMixOptionsWithTheirArguments(t *testing.T) {
	const server = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
	for text, want := range map[string][]string{
		"--class " + server + " --hiveconf a=b --name x": {"--hiveconf", "a=b"},
		"--class " + server + " spark-internal --name x": {"--name", "x"},
		"--class " + server: nil,
		"--class " + server + " --conf spark.a=b -e --jars j f": {"-e", "f"},
	} {
		s, _ := submitted(t, sources(nil, nil), strings.Fields(text)...)
		if s.Resource != submission.NoResource || !slices.Equal(s.Arguments, want) {
			t.Errorf("%s: it runs %s with %q", text, s.Resource, s.Arguments)
		}
	}
}

func TestNamesOfObjectsAreMadeOfNamesOfApplications(t *testing.T) {
	for name, want := range map[string]string{
		"etl": "etl", "Spark Pi": "spark-pi", "org.apache.spark.examples.SparkPi": "spark-pi", "main.py": "main", "a/b c.py": "a-b-c-py", "123 job": "spark-123-job",
		"": "spark", "é": "spark", "--x--": "x", "a-": "a", strings.Repeat("a", 60): strings.Repeat("a", maxName), "app.v2.jar": "app-v2", "x.Main$": "main",
	} {
		got, same := ObjectName(name)
		if got != want || same != (name == want) {
			t.Errorf("%q becomes %q, %t", name, got, same)
		}
	}
}

func TestTheVersionOfSparkIsThatOfTheImageElseOfTheInstalledRelease(t *testing.T) {
	files := map[string]string{"/opt/spark/RELEASE": "Spark 4.0.5 (git revision abc) built for Hadoop 3.4.1\n"}
	for _, test := range []struct{ image, home, want string }{
		{"apache/spark:4.1.0", "/opt/spark", "4.1.0"},
		{"mine", "/opt/spark", "4.0.5"},
		{"mine", "", ""},
		{"mine", "/none", ""},
	} {
		s, _ := submitted(t, sources(files, map[string]string{"SPARK_HOME": test.home}), "--conf", imageKey+"="+test.image, "local:///a.py")
		if s.SparkVersion != test.want {
			t.Errorf("%+v: it is %q", test, s.SparkVersion)
		}
	}
}

func TestFindingsAboutTheManifestNameWhatTheUserWrote(t *testing.T) {
	s, _ := submitted(t, sources(map[string]string{"p": "spark.c=1"}, map[string]string{"SPARK_EXECUTOR_MEMORY": "1"}),
		"--driver-memory", "x", "--conf", "spark.b=1", "--properties-file", "p", "--class", "B", "a.jar")
	fields := map[string]string{
		"spec.sparkConf[spark.driver.memory]": "--driver-memory", "spec.sparkConf[spark.b]": "--conf spark.b", "spec.sparkConf[spark.c]": "p spark.c",
		"spec.sparkConf[spark.executor.memory]": "$SPARK_EXECUTOR_MEMORY", "spec.sparkConf[spark.d]": "--conf spark.d",
		"spec.jars": "the application file", "spec.mainClass": "--class", "spec.proxyUser": "--proxy-user",
	}
	var found finding.List
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		found.Refuse(field, nil, "is wrong", "")
	}
	for i, f := range s.Located(found) {
		if want := fields[found[i].Field]; f.Field != want {
			t.Errorf("%s is named %s, want %s", found[i].Field, f.Field, want)
		}
	}
}

func TestRemediesNameNoFieldOfAManifestForATemplate(t *testing.T) {
	s, _ := submitted(t, sources(nil, nil), "--conf", driverTemplateKey+"=ftp://a/b.yaml", "--class", "B", "a.jar")
	plan := submission.Plan{Properties: map[string]string{driverTemplateKey: "ftp://a/b.yaml"}}
	remote := dialect.RemoteTemplates(plan, dialect.Fields{DriverTemplate: "spec.driver.template"})
	found := s.Located(finding.List{*remote[0].Refuse("is not read", "put it elsewhere")})
	want := "--conf " + driverTemplateKey + ` "ftp://a/b.yaml" is not read: put it elsewhere, or name a file of this machine`
	if got := found[0].Error(); got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

func TestFoldersOfConfigurationAreCarriedOrNamed(t *testing.T) {
	files := map[string]string{
		"/h/core-site.xml": "<configuration/>", "/h/key": "\xff", "/c/log4j2.properties": "x", "/c/spark-env.sh": "x", "/c/spark-defaults.conf": "spark.a b",
		"/c/log4j2.properties.template": "x",
	}
	from := sources(files, map[string]string{"HADOOP_CONF_DIR": "/h", "SPARK_CONF_DIR": "/c"})
	s, found := submitted(t, from, "--class", "B", "--name", "pi", "local:///a.jar")
	want := []string{`$HADOOP_CONF_DIR "key" is no text, so it is left out: put it into the image.`}
	if diff := cmp.Diff(want, found.Sentences()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	app := &sparkv1.SparkApplication{}
	encoded, err := yaml.Marshal(s.Apache("pi-1", ""))
	if err == nil {
		err = yaml.UnmarshalStrict(encoded, app)
	}
	specs := app.Spec.ConfigMapSpecs
	if err != nil || len(specs) != 2 || specs[0].Name != app.Spec.SparkConf[hadoopConfKey] || specs[0].Data["core-site.xml"] == "" ||
		!maps.Equal(specs[1].Data, map[string]string{"log4j2.properties": "x"}) {
		t.Errorf("%v: it is %s", err, encoded)
	}
	configMaps := s.ConfigMaps("pi-1", "team-a")
	if len(configMaps) != 2 || !strings.Contains(fmt.Sprint(configMaps[1]), "log4j2.properties:x") || !strings.Contains(fmt.Sprint(configMaps[1]), "name:pi-1-spark-config namespace:team-a") {
		t.Errorf("the ConfigMaps are %v", configMaps)
	}
	line, err := Parse([]string{"--class", "B", "--conf", hadoopConfKey + "=mine", "local:///a.jar"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := line.Resolve(from); !strings.Contains(found.String(), "are two configurations of Hadoop. Do not specify both") {
		t.Errorf("with a config map it is %s", found)
	}
	line, _ = Parse([]string{"--class", "B", "local:///a.jar"}, nil)
	if _, found := line.Resolve(sources(nil, map[string]string{"HADOOP_CONF_DIR": "/none"})); !strings.Contains(found.String(), `$HADOOP_CONF_DIR "/none" cannot be read (`) {
		t.Errorf("with a folder that does not exist it is %s", found)
	}
}

func TestFilesOfSparksConfigurationAreOnTheClassPath(t *testing.T) {
	files := map[string]string{"/c/log4j2.properties": "x", "driver.yaml": "spec: {containers: [{name: side}, {name: main}]}"}
	from := sources(files, map[string]string{"SPARK_CONF_DIR": "/c"})
	s, _ := submitted(t, from, "--class", "B", "--driver-class-path", "/a:/b", "--conf", driverTemplateKey+"=driver.yaml", "--conf", driverContainerKey+"=main", "local:///a.jar")
	early, found := s.Early("pi", "")
	if len(found.Of(finding.Error)) != 1 { // the template of the user
		t.Errorf("in the early API it is %s", found)
	}
	app := &sparkv1.SparkApplication{}
	for name, object := range map[string]Object{"apache": s.Apache("pi", ""), "kubeflow": s.Kubeflow("pi", ""), "early": early} {
		encoded := fmt.Sprint(object)
		for _, want := range []string{"spark.driver.extraClassPath:" + sparkConfMount + ":/a:/b", "spark.executor.extraClassPath:" + sparkConfMount + " ", "pi-spark-config", sparkConfMount} {
			if !strings.Contains(encoded, want) {
				t.Errorf("%s has no %s: %s", name, want, encoded)
			}
		}
	}
	encoded, err := yaml.Marshal(s.Apache("pi", ""))
	if err == nil {
		err = yaml.UnmarshalStrict(encoded, app)
	}
	if err != nil {
		t.Fatal(err)
	}
	driver, executor := app.Spec.DriverSpec.PodTemplateSpec.Spec, app.Spec.ExecutorSpec.PodTemplateSpec.Spec
	if len(driver.Containers[0].VolumeMounts) != 0 || driver.Containers[1].VolumeMounts[0].MountPath != sparkConfMount || driver.Volumes[0].ConfigMap.Name != "pi-spark-config" {
		t.Errorf("the driver's template is %+v", driver)
	}
	if executor.Containers[0].Name != "spark-kubernetes-executor" || executor.Containers[0].VolumeMounts[0].MountPath != sparkConfMount {
		t.Errorf("the executors' template is %+v", executor)
	}
	if len(s.DriverTemplate.Spec.Volumes) > 0 || s.Properties["spark.executor.extraClassPath"] != "" {
		t.Error("the submission itself is changed")
	}
	s, found = submitted(t, from, "--class", "B", "--conf", executorTemplateKey+"=https://h/executor.yaml", "local:///a.jar")
	if len(s.SparkConf) > 0 || !strings.Contains(found.String(), "cannot be changed here, so that the files of $SPARK_CONF_DIR do not reach the Pods: write the template into a file of this machine") {
		t.Errorf("with a template behind a URL it is %s", found)
	}
}

// random draws a submission.
func random(rng *rand.Rand) *Submission {
	text := func() string {
		const letters = "ab c'\"\\$`!*?;&|<>(){}[]#~=%\n\té-\x1b\u202e7"
		var drawn strings.Builder
		runes := []rune(letters)
		for range rng.IntN(6) {
			drawn.WriteRune(runes[rng.IntN(len(runes))])
		}
		return drawn.String()
	}
	s := &Submission{Name: "a" + text(), Named: true, SparkVersion: "4.1.0", Properties: map[string]string{imageKey: "spark:4.1.0"}, Client: map[string]string{MasterKey: "https://h:1"}}
	s.Resource = []string{"local:///a.jar", "local:///a b.py", "s3a://b/'x'.R", submission.NoResource}[rng.IntN(4)]
	if !strings.HasSuffix(s.Resource, ".py") && !strings.HasSuffix(s.Resource, ".R") {
		s.MainClass = "a.B" + text()
	}
	for range rng.IntN(4) {
		s.Arguments = append(s.Arguments, []string{text(), "--class", "-c", "--", "-"}[rng.IntN(5)])
	}
	if rng.IntN(2) == 0 {
		s.ProxyUser, s.Namespace = "u"+text(), "n"+text()
	}
	for _, option := range Options {
		switch option.Property {
		case "", nameKey, MasterKey, deployModeKey, remoteKey, principalKey, keytabKey:
		default:
			if rng.IntN(2) == 0 {
				s.Properties[option.Property] = text()
			}
		}
	}
	s.Properties["spark."+text()] = text()
	if _, bad := s.Properties["spark."+"="]; bad {
		delete(s.Properties, "spark.=")
	}
	maps.DeleteFunc(s.Properties, func(key, _ string) bool { return strings.Contains(key, "=") })
	for _, template := range []**corev1.PodTemplateSpec{&s.DriverTemplate, &s.ExecutorTemplate} {
		if rng.IntN(2) == 0 {
			*template = &corev1.PodTemplateSpec{}
			(*template).Labels = map[string]string{"a": "b"}
		}
	}
	return s
}

const template = "metadata: {labels: {a: b}}\n"

// TestACommandLineOfASubmissionMakesTheSame has a shell read the command lines, as the shell of a user does.
func TestACommandLineOfASubmissionMakesTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var script strings.Builder
	var all []*Submission
	for range 500 {
		s := random(rng)
		all = append(all, s)
		line := Shell(`printf '%s\0'`, s.Line(Files{"d.yaml", "e.yaml"}))
		if raw := strings.ReplaceAll(line, " \\\n  ", ""); strings.ContainsFunc(raw, isUnprintable) {
			t.Fatalf("%q has what a terminal does not print", raw)
		}
		script.WriteString(line + "\nprintf '\\0\\n\\0'\n")
	}
	shell := exec.Command("bash")
	shell.Stdin = strings.NewReader(script.String())
	output, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(output, []byte("\x00\x00\n\x00"))
	if len(lines) != len(all)+1 {
		t.Fatalf("%d lines came from %d submissions", len(lines)-1, len(all))
	}
	files := sources(map[string]string{"d.yaml": template, "e.yaml": template}, nil)
	for i, want := range all {
		arguments := strings.Split(string(lines[i]), "\x00")
		got, _ := submitted(t, files, arguments...)
		if diff := cmp.Diff(want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q is (-want +got):\n%s", arguments, diff)
		}
	}
}

func TestAnApplicationOfASubmissionMakesTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		want := random(rng)
		want.Name, want.Namespace = "pi", "team-a"
		app := &sparkv1.SparkApplication{}
		encoded, err := yaml.Marshal(want.Apache("pi", "team-a"))
		if err == nil {
			err = yaml.UnmarshalStrict(encoded, app)
		}
		if err != nil || app.Undecodable != "" || len(app.UnknownFields) > 0 {
			t.Fatalf("%v %s %q: %s", err, app.Undecodable, app.UnknownFields, encoded)
		}
		want.Client = nil
		got, found := FromApache(app)
		if diff := cmp.Diff(want, got, ignored, cmpopts.EquateEmpty()); diff != "" || len(found) > 0 {
			t.Fatalf("it is (-want +got):\n%s\n%s", diff, found)
		}
	}
}

func TestWhatACommandLineCannotHoldIsNamed(t *testing.T) {
	app := &sparkv1.SparkApplication{}
	app.Name, app.Labels, app.Annotations = "pi", map[string]string{"a": "b"}, map[string]string{"a": "b"}
	app.Spec = sparkv1.ApplicationSpec{
		MainClass: "a.B", Jars: "local:///a.jar,local:///b.jar", Files: "local:///c", PyFiles: "local:///d.py",
		RuntimeVersions:        sparkv1.RuntimeVersions{SparkVersion: "4.1.0"},
		ApplicationTolerations: &sparkv1.ApplicationTolerations{}, Suspend: true,
		DriverServiceIngressList: make([]sparkv1.DriverServiceIngress, 1), DriverHTTPRouteList: make([]sparkv1.DriverHTTPRoute, 1),
		DriverGRPCRouteList: make([]sparkv1.DriverGRPCRoute, 1), ConfigMapSpecs: make([]sparkv1.ConfigMapSpec, 1),
	}
	s, found := FromApache(app)
	want := map[string]string{jarsKey: "local:///b.jar", filesKey: "local:///c", pyFilesKey: "local:///d.py", imageKey: "apache/spark:4.1.0"}
	if diff := cmp.Diff(want, s.Properties); diff != "" || s.Resource != "local:///a.jar" {
		t.Errorf("it runs %s with properties (-want +got):\n%s", s.Resource, diff)
	}
	var fields []string
	for _, f := range found {
		fields = append(fields, f.Field)
	}
	wanted := []string{
		"metadata.labels", "metadata.annotations", "spec.applicationTolerations", "spec.driverServiceIngressList", "spec.driverHttpRouteList",
		"spec.driverGrpcRouteList", "spec.configMapSpecs", "spec.suspend",
	}
	if diff := cmp.Diff(wanted, fields); diff != "" {
		t.Errorf("lost are (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("--class a.B --conf spark.a=b local:///a.jar x")
	f.Fuzz(func(t *testing.T, text string) {
		line, err := Parse(strings.Split(text, " "), nil)
		if err != nil {
			return
		}
		s, found := line.Resolve(sources(map[string]string{"p": text}, nil))
		if len(found.Of(finding.Error)) > 0 {
			return
		}
		s.Named = true // the name may come from a file that is named otherwise
		var arguments []string
		for _, group := range s.Line(Files{}) {
			arguments = append(arguments, group...)
		}
		again, _ := submitted(t, sources(nil, nil), arguments...)
		if s.Client[MasterKey] == "" {
			delete(again.Client, MasterKey)
		}
		if diff := cmp.Diff(s, again, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q is (-want +got):\n%s", arguments, diff)
		}
	})
}
