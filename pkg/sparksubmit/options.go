package sparksubmit

import "strings"

// Option is an option of spark-submit.
type Option struct {
	// Name is the option with its hyphens.
	Name string
	// Short is its name with one letter; empty if it has none.
	Short string
	// Value is the name of its value in help texts; empty if it takes no value.
	Value string
	// Property is the Spark property that it sets; empty if it sets none.
	Property string
	// Help is one line about it.
	Help string
}

// The options that set no property, or do more than that.
const (
	optionConf                 = "--conf"
	optionClass                = "--class"
	optionName                 = "--name"
	optionMaster               = "--master"
	optionRemote               = "--remote"
	optionDeployMode           = "--deploy-mode"
	optionPropertiesFile       = "--properties-file"
	optionExtraPropertiesFile  = "--extra-properties-file"
	optionLoadSparkDefaults    = "--load-spark-defaults"
	optionProxyUser            = "--proxy-user"
	optionQueue                = "--queue"
	optionSupervise            = "--supervise"
	optionDriverDefaultClasses = "--driver-default-class-path"
	optionTotalCores           = "--total-executor-cores"
	optionKill                 = "--kill"
	optionStatus               = "--status"
	optionHelp                 = "--help"
	optionUsageError           = "--usage-error"
	optionVerbose              = "--verbose"
	optionVersion              = "--version"
)

// Properties by which spark-submit reaches the API server.
const (
	MasterKey  = "spark.master"
	ContextKey = "spark.kubernetes.context"
	// LoginPrefix is the prefix of the properties with which it logs in.
	LoginPrefix  = "spark.kubernetes.authenticate.submission."
	NamespaceKey = "spark.kubernetes.namespace"
)

// Other Spark properties that this package reads or sets.
const (
	nameKey           = "spark.app.name"
	remoteKey         = "spark.remote"
	deployModeKey     = "spark.submit.deployMode"
	imageKey          = "spark.kubernetes.container.image"
	driverImageKey    = "spark.kubernetes.driver.container.image"
	executorImageKey  = "spark.kubernetes.executor.container.image"
	driverMemoryKey   = "spark.driver.memory"
	executorMemoryKey = "spark.executor.memory"
	executorCoresKey  = "spark.executor.cores"
	instancesKey      = "spark.executor.instances"
	jarsKey           = "spark.jars"
	filesKey          = "spark.files"
	archivesKey       = "spark.archives"
	pyFilesKey        = "spark.submit.pyFiles"
	principalKey      = "spark.kerberos.principal"
	keytabKey         = "spark.kerberos.keytab"
	waitKey           = "spark.kubernetes.submission.waitAppCompletion"

	driverTemplateKey   = "spark.kubernetes.driver.podTemplateFile"
	executorTemplateKey = "spark.kubernetes.executor.podTemplateFile"
	// These name Spark's container in a template.
	driverContainerKey   = "spark.kubernetes.driver.podTemplateContainerName"
	executorContainerKey = "spark.kubernetes.executor.podTemplateContainerName"
)

// Options are all options of spark-submit, in the order of its help.
var Options = []Option{
	{Name: optionMaster, Value: "MASTER_URL", Property: MasterKey, Help: "k8s://https://HOST:PORT. Default: the cluster of the kubeconfig."},
	{Name: optionDeployMode, Value: "DEPLOY_MODE", Property: deployModeKey, Help: "cluster, the only one here."},
	{Name: optionClass, Value: "CLASS_NAME", Help: "Your application's main class (for Java / Scala apps)."},
	{Name: optionName, Value: "NAME", Property: nameKey, Help: "A name of your application."},
	{Name: "--jars", Value: "JARS", Property: jarsKey, Help: "Comma-separated list of jars to include on the driver and executor classpaths."},
	{Name: "--packages", Value: "PACKAGES", Property: "spark.jars.packages", Help: "Comma-separated list of maven coordinates of jars, groupId:artifactId:version."},
	{Name: "--exclude-packages", Value: "PACKAGES", Property: "spark.jars.excludes", Help: "Comma-separated list of groupId:artifactId, to exclude from --packages."},
	{Name: "--repositories", Value: "REPOSITORIES", Property: "spark.jars.repositories", Help: "Comma-separated list of additional remote repositories for --packages."},
	{Name: "--py-files", Value: "PY_FILES", Property: pyFilesKey, Help: "Comma-separated list of .zip, .egg, or .py files to place on the PYTHONPATH for Python apps."},
	{Name: "--files", Value: "FILES", Property: filesKey, Help: "Comma-separated list of files to be placed in the working directory of each executor."},
	{Name: "--archives", Value: "ARCHIVES", Property: archivesKey, Help: "Comma-separated list of archives to be extracted into the working directory of each executor."},
	{Name: optionConf, Short: "-c", Value: "PROP=VALUE", Help: "Arbitrary Spark configuration property."},
	{Name: optionPropertiesFile, Value: "FILE", Help: "File with extra properties. Default: spark-defaults.conf in $SPARK_CONF_DIR or $SPARK_HOME/conf."},
	{Name: optionExtraPropertiesFile, Value: "FILE", Help: "Another file with properties, which wins over --properties-file. It can be given several times."},
	{Name: optionLoadSparkDefaults, Help: "Load spark-defaults.conf also if --properties-file is given, which wins over it."},
	{Name: "--driver-memory", Value: "MEM", Property: driverMemoryKey, Help: "Memory for driver (e.g. 1000M, 2G)."},
	{Name: "--driver-java-options", Value: "OPTIONS", Property: "spark.driver.extraJavaOptions", Help: "Extra Java options to pass to the driver."},
	{Name: "--driver-library-path", Value: "PATH", Property: "spark.driver.extraLibraryPath", Help: "Extra library path entries to pass to the driver."},
	{Name: "--driver-class-path", Value: "PATH", Property: "spark.driver.extraClassPath", Help: "Extra class path entries to pass to the driver."},
	{Name: "--executor-memory", Value: "MEM", Property: executorMemoryKey, Help: "Memory per executor (e.g. 1000M, 2G)."},
	{Name: optionProxyUser, Value: "NAME", Help: "User to impersonate when submitting the application."},
	{Name: optionHelp, Short: "-h", Help: "Show this help message and exit."},
	{Name: optionVerbose, Short: "-v", Help: "Print additional debug output."},
	{Name: optionVersion, Help: "Print the version."},
	{Name: "--driver-cores", Value: "NUM", Property: "spark.driver.cores", Help: "Number of cores used by the driver."},
	{Name: optionKill, Value: "SUBMISSION_ID", Help: "If given, kills the driver specified."},
	{Name: optionStatus, Value: "SUBMISSION_ID", Help: "If given, requests the status of the driver specified."},
	{Name: "--executor-cores", Value: "NUM", Property: executorCoresKey, Help: "Number of cores used by each executor."},
	{Name: "--num-executors", Value: "NUM", Property: instancesKey, Help: "Number of executors to launch."},
	{Name: "--principal", Value: "PRINCIPAL", Property: principalKey, Help: "Principal to be used to login to KDC."},
	{Name: "--keytab", Value: "KEYTAB", Property: keytabKey, Help: "The full path to the file that contains the keytab for the principal."},
	{Name: optionTotalCores, Value: "NUM", Help: "Without effect on Kubernetes."},
	{Name: optionSupervise, Help: "Without effect on Kubernetes."},
	{Name: optionQueue, Value: "QUEUE_NAME", Help: "Without effect on Kubernetes."},
	{Name: optionRemote, Value: "CONNECT_URL", Property: remoteKey, Help: "Refused: a client of Spark Connect runs where its command runs."},
	{Name: optionDriverDefaultClasses, Value: "PATH", Help: "Without effect in cluster mode."},
	{Name: optionUsageError, Help: "Show this help message and fail."},
}

// optionOf returns the option of a name.
func optionOf(name string) (Option, bool) {
	if !strings.HasPrefix(name, "-") {
		return Option{}, false
	}
	for _, option := range Options {
		if name == option.Name || name == option.Short && name != "" {
			return option, true
		}
	}
	return Option{}, false
}
