package sparksubmit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Sources are what a command line refers to.
type Sources struct {
	// Environment returns a variable of the environment.
	Environment func(name string) string
	// ReadFile returns a file, at most MaxBytes and one more of it. The error of one that does not exist is fs.ErrNotExist.
	ReadFile func(name string) ([]byte, error)
	// ReadFolder returns the names of the files in a folder. The error of one that does not exist is fs.ErrNotExist.
	ReadFolder func(name string) ([]string, error)
	// AnyPlace reports whether the command line may be one that runs the driver elsewhere: it becomes a manifest, and --master and --deploy-mode are left
	// out.
	AnyPlace bool
}

// Submission is what a command line submits.
type Submission struct {
	// Name is the name of the application. If the command line has none, it is the name of the class or of the file, and Named is false.
	Name  string
	Named bool
	// Namespace is the namespace in the properties; empty if they have none.
	Namespace string
	// SparkVersion is the version of Spark in the image. It is read from the tag of the image, or from an installed Spark; empty if neither has it.
	SparkVersion string
	MainClass    string
	// Resource is the application file, or spark-internal.
	Resource  string
	Arguments []string
	ProxyUser string
	// Properties are all other properties: those that no other field of this type stands for.
	Properties map[string]string
	// DriverTemplate and ExecutorTemplate are Pod templates from local files.
	DriverTemplate, ExecutorTemplate *corev1.PodTemplateSpec
	// HadoopConf and SparkConf are the files of Hadoop's and of Spark's configuration.
	HadoopConf, SparkConf map[string]string
	// Client are the properties for the connection to the API server: MasterKey, ContextKey, and those with LoginPrefix.
	Client map[string]string

	// origins are the texts with which the user set properties, such as --driver-memory, by property.
	origins map[string]string
}

// Resolve reads the files that a command line names, and returns what it submits. As in Spark, options win over --conf, that over --properties-file,
// that over spark-defaults.conf, and that over environment variables. The findings are about the command line: those about the application are from
// pkg/check.
func (c *CommandLine) Resolve(sources Sources) (*Submission, finding.List) {
	r := resolver{CommandLine: c, Sources: sources, s: &Submission{
		Resource: c.Resource, Arguments: c.Arguments, MainClass: c.options[optionClass], ProxyUser: c.options[optionProxyUser],
		Properties: map[string]string{}, Client: map[string]string{}, origins: map[string]string{},
	}}
	r.loadProperties()
	r.takeMode()
	r.takeClient()
	r.takeName()
	if c.Action != Submit {
		return r.s, r.found
	}
	r.checkOptions()
	r.takeClass()
	r.takeTemplates()
	r.takeHadoopConf()
	r.takeSparkConf()
	r.takeVersion()
	r.checkSize()
	return r.s, r.found
}

type resolver struct {
	*CommandLine
	Sources
	s     *Submission
	found finding.List
}

// set sets a property, unless it is set already. origin is the text with which the user set it.
func (r *resolver) set(key, value, origin string) {
	if _, set := r.s.Properties[key]; !set {
		r.s.Properties[key], r.s.origins[key] = value, origin
	}
}

// environment are the variables that set properties, by property.
var environment = map[string]string{
	MasterKey: "MASTER", remoteKey: "SPARK_REMOTE", deployModeKey: "DEPLOY_MODE",
	driverMemoryKey: "SPARK_DRIVER_MEMORY", executorMemoryKey: "SPARK_EXECUTOR_MEMORY", executorCoresKey: "SPARK_EXECUTOR_CORES",
}

func (r *resolver) loadProperties() {
	for _, option := range Options {
		if value, given := r.options[option.Name]; given && option.Property != "" {
			r.set(option.Property, value, option.Name)
		}
	}
	for key, value := range r.conf {
		r.set(key, value, optionConf+" "+key)
	}
	r.loadFiles()
	for _, key := range slices.Sorted(maps.Keys(r.s.Properties)) {
		if !strings.HasPrefix(key, "spark.") {
			r.warn(r.s.origins[key], "", "is no Spark property, so it is ignored", "begin it with spark., or with spark.hadoop. for a property of Hadoop")
			delete(r.s.Properties, key)
		}
	}
	for key, variable := range environment {
		if value := r.Environment(variable); value != "" {
			r.set(key, value, "$"+variable)
		}
	}
}

// loadFiles loads the files with properties. --extra-properties-file wins over --properties-file, and a later one over an earlier one.
func (r *resolver) loadFiles() {
	for _, name := range slices.Backward(r.extraPropertiesFiles) {
		r.loadFile(optionExtraPropertiesFile, name)
	}
	name, given := r.options[optionPropertiesFile]
	if given {
		r.loadFile(optionPropertiesFile, name)
	}
	_, both := r.options[optionLoadSparkDefaults]
	if defaults := inFolder(r.sparkConfFolder(), "spark-defaults.conf"); defaults != "" && (both || !given) {
		r.loadFile("", defaults)
	}
}

// loadFile loads a file with properties. option is the option that names it. If it is empty, the file may be absent.
func (r *resolver) loadFile(option, name string) {
	file, err := r.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && option == "" {
		return
	}
	var loaded map[string]string
	if err == nil {
		loaded, err = Properties(file)
	}
	if err != nil {
		r.refuse(cmp.Or(option, "the file of Spark's defaults"), name, fmt.Sprintf("cannot be read (%v)", err), "name a file with a property and its value on each line")
		return
	}
	for key, value := range loaded {
		r.set(key, value, name+" "+key)
	}
}

func (r *resolver) refuse(field string, value any, message, remedy string) {
	r.found.Refuse(field, value, message, remedy)
}

func (r *resolver) warn(field, value, message, remedy string) {
	if value == "" {
		r.found.Warn(field, nil, message, remedy)
	} else {
		r.found.Warn(field, value, message, remedy)
	}
}

// checkOptions checks the application file, and options that set no property.
func (r *resolver) checkOptions() {
	if r.Resource == "" {
		r.found.Add(finding.Finding{
			Text:   "Must specify a primary resource (JAR or Python or R file)",
			Remedy: "write it after the options, such as local:///opt/spark/examples/jars/spark-examples.jar for a file of the image",
		})
	}
	if strings.HasSuffix(r.Resource, "-shell") && !strings.Contains(r.Resource, "/") {
		r.found.Add(finding.Finding{Text: "Cluster deploy mode is not applicable to Spark shells.", Remedy: "Name the file of an application"})
	}
	for _, option := range []string{optionQueue, optionSupervise, optionTotalCores, optionDriverDefaultClasses} {
		if value, given := r.options[option]; given {
			r.warn(option, value, "has no effect on Kubernetes in cluster mode", noEffectRemedies[option])
		}
	}
	logsIn := slices.ContainsFunc(loginKeys, func(key string) bool { _, set := r.s.Properties[key]; return set })
	if r.s.ProxyUser != "" && logsIn {
		r.found.Add(finding.Finding{Text: "Only one of --proxy-user or --principal can be provided.", Remedy: "Leave one of them out"})
	}
}

// loginKeys are the properties of a Kerberos login, with their older names.
var loginKeys = []string{principalKey, keytabKey, "spark.yarn.principal", "spark.yarn.keytab"}

var noEffectRemedies = map[string]string{
	optionQueue:                "leave it out, or name the queue by the labels or annotations that its scheduler reads",
	optionSupervise:            "leave it out, and set in a manifest when the application is restarted",
	optionTotalCores:           "leave it out, or write --num-executors and --executor-cores",
	optionDriverDefaultClasses: "leave it out, or write --driver-class-path",
}

// take removes a property and returns it.
func (s *Submission) take(key string) (value string, set bool) {
	value, set = s.Properties[key]
	delete(s.Properties, key)
	return value, set
}

// takeMode takes the properties about where the driver runs. It refuses all but cluster mode on Kubernetes.
func (r *resolver) takeMode() {
	if remote, set := r.s.take(remoteKey); set {
		r.refuse(r.s.origins[remoteKey], remote, "is for a client of Spark Connect, which runs where its command runs", "leave it out")
	}
	if mode, set := r.s.take(deployModeKey); set && mode != "cluster" {
		r.refusePlace(deployModeKey, mode, "runs the driver on this host", "write cluster, or leave it out")
	}
	master, set := r.s.take(MasterKey)
	if !set {
		return
	}
	url, err := masterURL(master)
	if err != "" {
		r.refusePlace(MasterKey, master, err, "write k8s://https://HOST:PORT, or leave it out for the cluster of the kubeconfig")
		return
	}
	r.s.Client[MasterKey] = url
}

// refusePlace refuses a property about where the application runs, unless that does not matter.
func (r *resolver) refusePlace(key, value, message, remedy string) {
	if r.AnyPlace {
		r.warn(r.s.origins[key], value, "is left out: the driver runs in a Pod of the cluster to which the manifest is applied", "check that all it reads is there")
		return
	}
	r.refuse(r.s.origins[key], value, message, remedy)
}

// masterURL returns the address of the API server that a master names, or what is wrong with it.
func masterURL(master string) (url, problem string) {
	address, kubernetes := strings.CutPrefix(master, "k8s://")
	scheme, host, full := strings.Cut(address, "://")
	switch {
	case !kubernetes:
		return "", "is no Kubernetes cluster"
	case address == "" || full && host == "":
		return "", "names no API server"
	case !full:
		return "https://" + address, ""
	case strings.EqualFold(scheme, "https"), strings.EqualFold(scheme, "http"):
		return address, ""
	default:
		return "", "has an invalid scheme of a Kubernetes master"
	}
}

// takeName takes the name of the application. The default is the main class, or the name of the file.
func (r *resolver) takeName() {
	r.s.Name, r.s.Named = r.s.take(nameKey)
	if r.s.Name == "" {
		r.s.Named = false
		r.s.Name = cmp.Or(r.s.MainClass, path.Base(r.Resource))
	}
	r.s.Namespace, _ = r.s.take(NamespaceKey)
}

// takeClass checks the main class. It removes the class of a Python or R application, as spark-submit ignores it.
func (r *resolver) takeClass() {
	kind := KindOf(r.s.Resource)
	if kind != submission.Java {
		r.s.MainClass = ""
	} else if r.s.MainClass == "" && r.Resource != "" {
		r.found.Add(finding.Finding{Text: "No main class set in JAR; please specify one with --class.", Remedy: "Write the class in full, such as --class org.example.Main"})
	}
}

// KindOf returns the language of an application file, by its suffix as in Spark.
func KindOf(resource string) submission.ResourceKind {
	return submission.Resource{URI: resource}.Language()
}

// takeClient takes the properties with which spark-submit connects to the API server. A manifest must not have a user's credentials.
func (r *resolver) takeClient() {
	for key, value := range maps.Clone(r.s.Properties) {
		if key == ContextKey || strings.HasPrefix(key, LoginPrefix) {
			r.s.Client[key] = value
			delete(r.s.Properties, key)
		}
	}
}

// takeTemplates reads Pod templates from local files. A template at a URL stays a property: the controller reads it.
func (r *resolver) takeTemplates() {
	for _, role := range []struct {
		key  string
		into **corev1.PodTemplateSpec
	}{{driverTemplateKey, &r.s.DriverTemplate}, {executorTemplateKey, &r.s.ExecutorTemplate}} {
		name, set := r.s.Properties[role.key]
		if !set || !submission.IsClientLocal(name) {
			continue
		}
		template, err := r.template(name)
		if err != nil {
			r.refuse(r.s.origins[role.key], name, fmt.Sprintf("cannot be read (%v)", err), "name a file with the manifest of a Pod")
			continue
		}
		*role.into = template
		delete(r.s.Properties, role.key)
	}
}

func (r *resolver) template(name string) (*corev1.PodTemplateSpec, error) {
	file, err := r.ReadFile(localPath(name))
	switch {
	case err != nil:
		return nil, err
	case len(file) > MaxBytes:
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	var object map[string]any
	if yaml.Unmarshal(file, &object) == nil && object["apiVersion"] == nil && object["kind"] == nil {
		file = slices.Concat([]byte("apiVersion: v1\nkind: Pod\n"), file) // Spark needs neither
	}
	template, dropped, err := podtemplate.Decode(file)
	for _, f := range dropped {
		f.Text = cmp.Or(f.Text, f.Field+" "+f.Message)
		r.found.Add(f)
	}
	return template, err
}

// localPath returns the path of a file: URI, and other texts unchanged.
func localPath(uri string) string {
	rest, isURI := strings.CutPrefix(uri, "file:")
	if !isURI {
		return uri
	}
	if cut, slashes := strings.CutPrefix(rest, "//"); slashes {
		return cut
	}
	return rest
}

// Image is the image of the driver; empty if no property names one.
func (s *Submission) Image() string {
	return cmp.Or(s.Properties[driverImageKey], s.Properties[imageKey])
}

// takeVersion reads the version of Spark in the image's tag, or in the release that is installed here.
func (r *resolver) takeVersion() {
	if r.s.SparkVersion = dialect.ImageVersion(r.s.Image()); r.s.SparkVersion != "" {
		return
	}
	release := inFolder(r.Environment("SPARK_HOME"), "RELEASE")
	if release == "" {
		return
	}
	if file, err := r.ReadFile(release); err == nil && len(file) <= MaxBytes {
		if words := strings.Fields(string(file)); len(words) > 1 && words[0] == "Spark" {
			r.s.SparkVersion = text.Clip(words[1], maxVersion)
		}
	}
}

// maxVersion is the longest version that a manifest takes.
const maxVersion = 63

// checkSize bounds the total size of what becomes a part of the application.
func (r *resolver) checkSize() {
	size := 0
	for key, value := range r.s.Properties {
		size += len(key) + len(value)
	}
	for _, argument := range r.s.Arguments {
		size += len(argument)
	}
	for _, folder := range []map[string]string{r.s.HadoopConf, r.s.SparkConf} {
		for name, content := range folder {
			size += len(name) + len(content)
		}
	}
	if size > MaxBytes {
		r.found.Add(finding.Finding{
			Text:   fmt.Sprintf("properties, arguments, $HADOOP_CONF_DIR and $SPARK_CONF_DIR have %d bytes, and an application can hold %d.", size, MaxBytes),
			Remedy: "Put what is large into a file that the application reads",
		})
	}
}

// Waits reports whether spark-submit waits until the application has ended.
func (s *Submission) Waits() bool {
	value, set := s.Properties[waitKey]
	return !set || submission.IsTrue(value)
}
