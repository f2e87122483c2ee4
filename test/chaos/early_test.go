package chaos

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// earlyCRD is the manifest of the CRD of the early operator's API.
const earlyCRD = "early/300-*.yaml"

// earlyPrefix begins the names of the applications of that API.
const earlyPrefix = "early-"

// earlyEnds are what kwok does with the drivers of the kinds of the early operator's API.
var earlyEnds = map[string]string{"early-completes": "0", "early-fails": "1", "early-streams": ""}

// earlyKinds are the kinds of that API. An application has one attempt.
var earlyKinds = []kind{
	{"early-completes", 3, nil, nil, ends(lifecycle.Succeeded)},
	{"early-fails", 2, nil, nil, ends(lifecycle.Failed)},
	{"early-streams", 1, nil, nil, nil},
}

// drawn are the kinds that a run may choose. An earlier version that takes turns does not serve the early operator's API.
func drawn() []kind {
	if *versionsFlag != "" {
		return kinds
	}
	return append(kinds[:len(kinds):len(kinds)], earlyKinds...)
}

// newEarly creates a random application of that API. Its name differs from those of the Kubeflow kinds, since their drivers are named in the same way.
func newEarly(d *rng.Rand, namespace, name string, k kind) *earlyv1alpha1.SparkApplication {
	image := "spark:" + []string{"3.5.7", "4.1.1", "4.3.0"}[d.Below(3)]
	return &earlyv1alpha1.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: earlyPrefix + name, Labels: map[string]string{labelKind: k.name}},
		Spec: earlyv1alpha1.SparkApplicationSpec{
			MainClass: "org.apache.spark.examples.SparkPi", MainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
			SparkConf: map[string]string{
				"spark.kubernetes.driver.label.chaos/end":             earlyEnds[k.name],
				"spark.kubernetes.driver.node.selector." + labelPlace: place(namespace),
			},
			Driver: earlyv1alpha1.DriverSpec{Image: image}, Executor: earlyv1alpha1.ExecutorSpec{Image: image},
		},
	}
}
