package policy

import (
	"fmt"
	"strings"
)

// NoEffect is a field or a property of manifests without effect. The condition Warning names it, and a policy warns of it when the manifest is
// applied. Warnings that depend on several fields have no row: only the condition has them.
type NoEffect struct {
	// Field is a path in the spec. Property is the key of a Spark property, or a prefix of keys if it ends with a period.
	Field, Property string
	// Message and Remedy are those of the finding.
	Message, Remedy string
}

// Matches reports whether a row is about a property.
func (n *NoEffect) Matches(key string) bool {
	return n.Property != "" && (key == n.Property || strings.HasSuffix(n.Property, ".") && strings.HasPrefix(key, n.Property))
}

const (
	foreignMessage    = "is dropped, Spark reads only what begins with spark."
	hadoopPrefix      = "leave it out, or write spark.hadoop. before a property of Hadoop's"
	hadoopField       = "leave it out, or write it into spec.hadoopConf if it is a property of Hadoop's"
	submissionMessage = "has no effect, the submission sets it"
	leaveOut          = "leave it out"
)

// Properties that do not begin with spark., by API.
var (
	ApacheForeign   = NoEffect{Message: foreignMessage, Remedy: hadoopPrefix}
	KubeflowForeign = NoEffect{Message: foreignMessage, Remedy: hadoopField}
)

// ApacheNoEffect are properties that the submission always sets for the driver.
var ApacheNoEffect = []NoEffect{
	{Property: "spark.driver.host", Message: submissionMessage, Remedy: leaveOut},
	{Property: "spark.kubernetes.resource.type", Message: submissionMessage, Remedy: leaveOut},
	{Property: "spark.kubernetes.submitInDriver", Message: submissionMessage, Remedy: leaveOut},
}

const (
	downloads = "has no effect, no Spark since 2.3 has an init container that downloads, the driver and executors fetch by themselves"
	unread    = "has no effect, the Kubeflow operator does not read it either"
)

// KubeflowNoEffect are fields that the Kubeflow operator's oldest documents have and its present code does not read.
var KubeflowNoEffect = []NoEffect{
	{Field: "initContainerImage", Message: downloads, Remedy: leaveOut},
	{Field: "deps.jarsDownloadDir", Message: downloads, Remedy: leaveOut},
	{Field: "deps.filesDownloadDir", Message: downloads, Remedy: leaveOut},
	{Field: "deps.downloadTimeout", Message: downloads, Remedy: leaveOut},
	{Field: "deps.maxSimultaneousDownloads", Message: downloads, Remedy: leaveOut},
	{Field: "failureRetries", Message: unread, Remedy: "write spec.restartPolicy"},
	{Field: "retryInterval", Message: unread, Remedy: "write spec.restartPolicy"},
}

// EarlyLogsLocation is the field that no operator acted on.
var EarlyLogsLocation = NoEffect{
	Field: "logsLocation", Message: "has no effect, as in the early operator",
	Remedy: "leave it out, or set driver-log-lines in the ConfigMap config-kubeflow",
}

// EarlyNoEffect are properties of 2017 that have no effect today.
var EarlyNoEffect = expand(
	noEffects{
		[]string{"spark.kubernetes.initcontainer.", "spark.kubernetes.initContainer."},
		"has no effect, no Spark since 2.4 has an init container that downloads", "leave it out: the driver and executors fetch by themselves",
	},
	noEffects{
		[]string{"spark.kubernetes.mountdependencies.", "spark.kubernetes.mountDependencies."},
		"has no effect, files are in the working directory of the driver",
		"leave it out, and open files by SparkFiles.get instead of a path below /var/spark-data",
	},
	noEffects{
		EarlyStagingServer,
		"has no effect, no Spark since 2.3 has that server", "leave it out, and put files where the driver can fetch them, such as s3a://",
	},
	noEffects{
		[]string{"spark.kubernetes.driver.hdfslocality."},
		"has no effect, it was of a fork of Spark", leaveOut,
	},
	noEffects{
		[]string{"spark.kubernetes.authenticate.submission.", "spark.kubernetes.submission.", "spark.kubernetes.report.interval", "spark.kubernetes.context"},
		"has no effect, it is for a client that submits, and Firesteel submits without one", leaveOut,
	},
)

// EarlyStagingServer are the prefixes of the properties of the server that took files from the user's machine.
var EarlyStagingServer = []string{"spark.kubernetes.resourceStagingServer.", "spark.ssl.kubernetes.resourceStagingServer."}

// noEffects are properties with one message.
type noEffects struct {
	properties      []string
	message, remedy string
}

func expand(groups ...noEffects) []NoEffect {
	var rows []NoEffect
	for _, group := range groups {
		for _, property := range group.properties {
			rows = append(rows, NoEffect{Property: property, Message: group.message, Remedy: group.remedy})
		}
	}
	return rows
}

// ClusterNoEffect are fields of the templates of a SparkCluster that Firesteel always sets.
var ClusterNoEffect = []NoEffect{
	{Field: "masterSpec.statefulSetSpec.replicas", Message: "has no effect", Remedy: "there is one master"},
	{Field: "masterSpec.statefulSetSpec.serviceName", Message: "has no effect", Remedy: serviceRemedy},
	{Field: "masterSpec.statefulSetSpec.selector", Message: "has no effect", Remedy: leaveOut},
	{Field: "workerSpec.statefulSetSpec.replicas", Message: "has no effect", Remedy: "write the number into initWorkers"},
	{Field: "workerSpec.statefulSetSpec.serviceName", Message: "has no effect", Remedy: serviceRemedy},
	{Field: "workerSpec.statefulSetSpec.selector", Message: "has no effect", Remedy: leaveOut},
}

const serviceRemedy = "leave it out, the Service's template is in serviceSpec"

// list returns an expression for the list of fields or properties of a manifest that the row is about.
func (n *NoEffect) list() string {
	if n.Field != "" {
		return fmt.Sprintf("([%s.orValue(null)].exists(v, v != null && v != '') ? [{'field': %s}] : [])", optionalField(n.Field), at(n.Field))
	}
	matches := "k == '" + n.Property + "'"
	switch {
	case n.Property == "":
		matches = "!k.startsWith('spark.')"
	case strings.HasSuffix(n.Property, "."):
		matches = "k.startsWith('" + n.Property + "')"
	}
	return fmt.Sprintf("variables.conf.filter(k, %s).map(k, {'field': %s})", matches, atProperty("k"))
}
