package parity

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Line is a command line of spark-submit, with what it refers to.
type Line struct {
	Name string
	// Arguments are those of spark-submit. Words of Text, if there is any, stand before them.
	Text        string
	Arguments   []string
	Environment map[string]string
	// Files are those that the command line names. Their folder is LineFolder.
	Files map[string]string
	// Versions are those that know all options; empty means all.
	Versions []string
}

// LineFolder stands for the folder of a line's files.
const LineFolder = "{folder}"

// Words returns the arguments with a folder in the place of LineFolder.
func (l Line) Words(folder string) []string {
	words := append(strings.Fields(l.Text), l.Arguments...)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, LineFolder, folder)
	}
	return words
}

// Variables returns the environment with a folder in the place of LineFolder.
func (l Line) Variables(folder string) map[string]string {
	variables := maps.Clone(l.Environment)
	for name, value := range variables {
		variables[name] = strings.ReplaceAll(value, LineFolder, folder)
	}
	return variables
}

const (
	submitPi  = "--master k8s://https://h:6443 --deploy-mode cluster --class org.apache.spark.examples.SparkPi "
	submitAny = "--master k8s://https://h:6443 --deploy-mode cluster "
	piJar     = " local:///opt/spark/examples/jars/spark-examples.jar"
)

var sinceFour = []string{"4.0.5", "4.1.4", "4.2.1", "4.3.0"}

// Lines are all command lines.
var Lines = []Line{
	{Name: "minimal", Text: submitPi + piJar},
	{Name: "arguments", Text: submitPi + piJar + " --class x -v --conf a=b", Arguments: []string{"", "a b", "--x=y"}},
	{Name: "equals", Text: "--master=k8s://https://h:6443 --deploy-mode=cluster --class=a.B --name=x=y --conf=spark.a=b=c" + piJar},
	{Name: "name", Text: submitPi + "--name", Arguments: []string{"Spark Pi", strings.TrimSpace(piJar)}},
	{Name: "name-of-properties", Text: submitPi + "--conf spark.app.name=x" + piJar},
	{Name: "python", Text: submitAny + "--class ignored.Class --py-files local:///a.zip,https://b.example/c.py local:///app/main.py 1"},
	{Name: "r", Text: submitAny + "local:///app/main.R"},
	{Name: "internal", Text: submitPi + "spark-internal"},
	{Name: "every-option", Text: submitPi + "--name x --jars local:///a.jar,https://b.example/c.jar --packages org.example:library:1.0 --exclude-packages org.example:other " +
		"--repositories https://r.example/m --files local:///f --archives local:///a.zip#x --driver-memory 2g --driver-cores 2 " +
		"--driver-library-path /l --driver-class-path /c --executor-memory 3g --executor-cores 4 --num-executors 5 --total-executor-cores 6 " +
		"--queue q --supervise --verbose", Arguments: []string{"--driver-java-options", "-Da=b -Dc", strings.TrimSpace(piJar)}},
	{Name: "proxy-user", Text: submitPi + "--proxy-user alice" + piJar},
	{Name: "option-before-conf", Text: submitPi + "--driver-memory 2g --conf spark.driver.memory=3g --num-executors 1 -c spark.executor.instances=2" + piJar},
	{Name: "last-option-wins", Text: submitPi + "--driver-memory 2g --driver-memory 3g --conf spark.a=1 --conf spark.a=2 --class a.B" + piJar},
	{Name: "memory-of-environment", Text: submitPi + piJar, Environment: map[string]string{
		"SPARK_DRIVER_MEMORY": "2g", "SPARK_EXECUTOR_MEMORY": "3g", "SPARK_EXECUTOR_CORES": "4", "SPARK_YARN_APP_NAME": "y",
	}},
	{Name: "master-of-environment", Text: "--class a.B" + piJar, Environment: map[string]string{"MASTER": "k8s://h:1", "DEPLOY_MODE": "cluster"}},
	{Name: "master-of-properties", Text: "--class a.B --conf spark.master=k8s://http://h:1 --conf spark.submit.deployMode=cluster" + piJar},
	{Name: "properties-file", Text: submitPi + "--properties-file {folder}/p --conf spark.b=conf" + piJar, Files: map[string]string{
		"p":                   "spark.a file\nspark.b=file\nspark.c:  file \t\n! spark.d x\nspark.e x\\\n   y\\u0041\nother z\nspark.jars local:///p.jar\nspark.f\n",
		"spark-defaults.conf": "spark.a default\nspark.g default\n",
	}, Environment: map[string]string{"SPARK_CONF_DIR": LineFolder}},
	{Name: "defaults", Text: submitPi + piJar, Files: map[string]string{"spark-defaults.conf": "spark.a default\nspark.driver.memory   9g\nspark.app.name d\n"},
		Environment: map[string]string{"SPARK_CONF_DIR": LineFolder, "SPARK_DRIVER_MEMORY": "2g"}},
	{Name: "defaults-of-home", Text: submitPi + piJar, Files: map[string]string{"conf/spark-defaults.conf": "spark.a home\n"}, Environment: map[string]string{"SPARK_HOME": LineFolder}},
	{Name: "properties-file-and-defaults", Text: submitPi + "--properties-file {folder}/p --load-spark-defaults" + piJar, Files: map[string]string{
		"p": "spark.a file\n", "spark-defaults.conf": "spark.a default\nspark.g default\n",
	}, Environment: map[string]string{"SPARK_CONF_DIR": LineFolder}, Versions: sinceFour},
	{Name: "extra-properties-files", Text: submitPi + "--extra-properties-file {folder}/one --properties-file {folder}/p --extra-properties-file {folder}/two" + piJar,
		Files: map[string]string{
			"p": "spark.a file\nspark.b file\nspark.c file\n", "one": "spark.a one\nspark.b one\nspark.d one\n", "two": "spark.a two\n", "spark-defaults.conf": "spark.g default\n",
		}, Environment: map[string]string{"SPARK_CONF_DIR": LineFolder}, Versions: []string{"4.2.1", "4.3.0"}},
	{Name: "extra-properties-file-alone", Text: submitPi + "--extra-properties-file {folder}/one" + piJar,
		Files:       map[string]string{"one": "spark.a one\n", "spark-defaults.conf": "spark.a default\nspark.g default\n"},
		Environment: map[string]string{"SPARK_CONF_DIR": LineFolder}, Versions: []string{"4.2.1", "4.3.0"}},

	// What spark-submit refuses.
	{Name: "no-resource", Text: submitPi},
	{Name: "no-class", Text: submitAny + piJar},
	{Name: "no-value", Text: submitPi + "--name"},
	{Name: "unknown-option", Text: submitPi + "--executors 3" + piJar},
	{Name: "unknown-option-with-equals", Text: submitPi + "--executors=3" + piJar},
	{Name: "value-empty", Text: submitPi + "--name=" + piJar},
	{Name: "conf-without-equals", Text: submitPi + "--conf spark.a" + piJar},
	{Name: "mode-unknown", Text: "--master k8s://h --deploy-mode Cluster --class a.B" + piJar},
	{Name: "master-unknown", Text: "--master kubernetes --deploy-mode cluster --class a.B" + piJar},
	{Name: "master-of-ftp", Text: "--master k8s://ftp://h --deploy-mode cluster --class a.B" + piJar},
	{Name: "master-local", Text: "--master local --deploy-mode cluster --class a.B" + piJar},
	{Name: "remote", Text: submitPi + "--remote sc://h" + piJar},
	{Name: "proxy-user-and-principal", Text: submitPi + "--proxy-user a --principal b" + piJar},
	{Name: "shell", Text: submitAny + "spark-shell"},
	{Name: "properties-file-missing", Text: submitPi + "--properties-file /no/such/file" + piJar},
	{Name: "kill-and-status", Text: submitAny + "--kill a --status b"},
}

// Of reports whether a version knows the options of the line.
func (l Line) Of(version string) bool {
	return len(l.Versions) == 0 || slices.Contains(l.Versions, version)
}

// Read is what a command line submits, as spark-submit passes it to its client of Kubernetes.
type Read struct {
	// Refused is why it is refused; what follows is empty then.
	Refused string `json:"refused,omitempty"`
	// Arguments name the application file, the main class, the arguments and the proxy user.
	Arguments  []string          `json:"arguments,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// LineRecordings are what spark-submit of one version reads, by the name of the line.
type LineRecordings map[string]Read

func lineFile(version string) string { return filepath.Join("testdata", "lines", version+".yaml") }

// LoadLines reads the recordings of a version. There may be none.
func LoadLines(version string) (LineRecordings, error) {
	file, err := os.ReadFile(lineFile(version))
	if errors.Is(err, fs.ErrNotExist) {
		return LineRecordings{}, nil
	}
	recorded := LineRecordings{}
	if err == nil {
		err = yaml.UnmarshalStrict(file, &recorded)
	}
	return recorded, err
}

// Write writes the recordings of a version.
func (r LineRecordings) Write(version string) error {
	text, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(lineFile(version)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(lineFile(version), text, 0o644)
}

// Read returns what Firesteel reads.
func (l Line) Read() Read {
	line, err := sparksubmit.Parse(l.Words(LineFolder), nil)
	if err != nil {
		return Read{Refused: err.Error()}
	}
	files := map[string]string{}
	for name, content := range l.Files {
		files[path.Join(LineFolder, name)] = content
	}
	s, found := line.Resolve(sources(l.Environment, files))
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return Read{Refused: refused.String()}
	}
	return asRead(s)
}

// asRead adds to a submission what SparkSubmit does: the properties of what it knows from elsewhere, and the application's jar.
func asRead(s *sparksubmit.Submission) Read {
	conf := maps.Clone(s.Properties)
	conf[appNameKey], conf["spark.submit.deployMode"], conf["spark.master"] = s.Name, "cluster", "k8s://"+s.Client["spark.master"]
	if _, set := conf["spark.submit.pyFiles"]; !set {
		conf["spark.submit.pyFiles"] = ""
	}
	if kind := sparksubmit.KindOf(s.Resource); kind == submission.Java {
		conf["spark.jars"] = strings.Trim(conf["spark.jars"]+","+strings.TrimPrefix(s.Resource, noResource), ",")
	}
	var arguments []string
	switch kind := sparksubmit.KindOf(s.Resource); {
	case kind == submission.Python:
		arguments = []string{"--primary-py-file", s.Resource, "--main-class", "org.apache.spark.deploy.PythonRunner"}
	case kind == submission.R:
		arguments = []string{"--primary-r-file", s.Resource, "--main-class", "org.apache.spark.deploy.RRunner"}
	case s.Resource == noResource:
		arguments = []string{"--main-class", s.MainClass}
	default:
		arguments = []string{"--primary-java-resource", s.Resource, "--main-class", s.MainClass}
	}
	for _, argument := range s.Arguments {
		arguments = append(arguments, "--arg", argument)
	}
	if s.ProxyUser != "" {
		arguments = append(arguments, "--proxy-user", s.ProxyUser)
	}
	return Read{Arguments: arguments, Properties: conf}
}
