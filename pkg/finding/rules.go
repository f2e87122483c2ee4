package finding

import "strconv"

// The name of a new cluster has at most MaxClusterName characters, and matches ClusterNamePattern. The longest name that begins with it is
// NAME-master-svc.
const (
	MaxClusterName     = 52
	ClusterNamePattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
)

// Findings that the rules of the CRDs have, too (hack/codegen): the API server and the controller refuse with the same words.
// They are here and not beside the checks, since hack/codegen must not need the packages that it generates.
var (
	// NoVersionLabel is about a version of Spark that cannot be the value of a label.
	NoVersionLabel = Finding{
		Message: "cannot be the label spark-version",
		Remedy:  "write letters, digits, -, _ and . only, and begin and end with a letter or digit",
	}
	// NoClusterName is about the name of a cluster with which names of Services cannot begin.
	NoClusterName = Finding{
		Field: "metadata.name", Message: "cannot begin the names of Services",
		Remedy: "write at most " + strconv.Itoa(MaxClusterName) + " lower case letters, digits and -, of which the first is a letter and the last is not -",
	}
	// InvalidName, TemplateUnsupported and NodeSelectorTwice have the words of the Kubeflow operator's webhook.
	InvalidName         = Finding{Reason: "InvalidName", Field: "metadata.name", Text: "invalid SparkApplication name"}
	TemplateUnsupported = Finding{Reason: "TemplateUnsupported", Text: "pod template feature requires Spark version 3.0.0 or higher"}
	NodeSelectorTwice   = Finding{
		Reason: "NodeSelectorTwice", Field: "spec.nodeSelector",
		Text: "node selector cannot be defined at both SparkApplication and Driver/Executor",
	}
)

// Unnamed is about the name of an object of a kind that is missing.
func Unnamed(field, kind string) Finding {
	return Finding{Field: field, Message: Missing, Remedy: "name the " + kind}
}

// Missing is the message about a field that has to be set.
const Missing = "is missing"
