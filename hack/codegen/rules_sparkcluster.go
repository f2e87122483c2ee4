package main

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// clusterRefinements refuse clusters that no operator can run. They also refuse to scale a cluster that an autoscaler
// scales: it would have no effect.
var clusterRefinements = []refinement{
	{rules: rules(beginsNamesOfCluster, scaledByAutoscaler)},
	{path: "spec.runtimeVersions.sparkVersion", rules: labelOfVersion},
	{path: "spec.workerSpec.networkPolicy.metricsIngress[]", opaque: true},
}

// beginsNamesOfCluster applies to new objects: the name of an existing one cannot be corrected.
var beginsNamesOfCluster = apiextensionsv1.ValidationRule{
	Rule: fmt.Sprintf("oldSelf.hasValue() || size(self.metadata.name) <= %d && self.metadata.name.matches('%s')",
		finding.MaxClusterName, finding.ClusterNamePattern),
	OptionalOldSelf:   ptr.To(true),
	MessageExpression: `'` + finding.NoClusterName.Field + ` "' + self.metadata.name + '" ` + finding.NoClusterName.Message + `: ` + finding.NoClusterName.Remedy + `'`,
}

// scaledByAutoscaler refuses an edit of initWorkers alone, as kubectl scale makes it, while an autoscaler decides. An
// autoscaler decides if minWorkers is below maxWorkers, from the creation of the cluster to its end. An edit of other fields
// as well is accepted, as in the Apache operator.
var scaledByAutoscaler = apiextensionsv1.ValidationRule{
	Rule: strings.Join([]string{
		"!has(oldSelf.status) || !has(oldSelf.status.currentState) || !has(oldSelf.status.currentState.currentStateSummary)",
		"!(oldSelf.status.currentState.currentStateSummary in ['Submitted', 'RunningHealthy'])",
		"has(oldSelf.spec.suspend) && oldSelf.spec.suspend && !has(oldSelf.status.workers)",
		"oldSelf.spec.clusterTolerations.instanceConfig.minWorkers >= oldSelf.spec.clusterTolerations.instanceConfig.maxWorkers",
		"self.spec.clusterTolerations.instanceConfig.initWorkers == oldSelf.spec.clusterTolerations.instanceConfig.initWorkers",
		"self.spec.clusterTolerations.instanceConfig.minWorkers != oldSelf.spec.clusterTolerations.instanceConfig.minWorkers",
		"self.spec.clusterTolerations.instanceConfig.maxWorkers != oldSelf.spec.clusterTolerations.instanceConfig.maxWorkers",
		"self.spec.runtimeVersions != oldSelf.spec.runtimeVersions",
		differs("masterSpec"), differs("workerSpec"), differs("sparkConf"), differs("suspend"),
	}, " || "),
	FieldPath: ".spec.clusterTolerations.instanceConfig.initWorkers",
	Message: "an autoscaler decides how many workers there are, since minWorkers is below maxWorkers: " +
		"edit those, or make them equal to decide by initWorkers",
}

// differs returns an expression that is true if an optional field of the spec has changed. Comparing optional values would
// be shorter, but the API server cannot estimate its cost.
func differs(field string) string {
	return fmt.Sprintf("has(self.spec.%[1]s) != has(oldSelf.spec.%[1]s) || has(self.spec.%[1]s) && self.spec.%[1]s != oldSelf.spec.%[1]s", field)
}
