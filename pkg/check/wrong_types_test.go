package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// explained are the findings about a manifest, with each value of a wrong type.
func explained(manifest []byte) finding.List {
	return check.ExplainUndecodable(findings(manifest, settings(), now), manifest)
}

func TestEachValueOfAWrongTypeIsFoundAtItsField(t *testing.T) {
	const (
		quotes, bare = "a text: write it in quotes.", ": write it without quotes."
		list         = "a list: write each entry in a line of its own that begins with a hyphen, or all in brackets."
		pod          = "spec.driverSpec.podTemplateSpec."
	)
	for _, test := range []struct {
		version, kind, spec string
		want                []string
	}{
		{
			"spark.apache.org/v1", "SparkApplication",
			apache + `  driverSpec:
    podTemplateSpec:
      metadata: {labels: {d: 1, 'a.b/c': true}}
      spec:
        nodeSelector: {a: true}
        hostNetwork: 'true'
        securityContext: {runAsUser: -5, fsGroup: '185'}
        containers:
        - name: spark-kubernetes-driver
          env: [{name: A, value: ok}, {name: B, value: 12}]
          command: sleep 10
          ports: [{containerPort: '4040'}, {containerPort: x}, {containerPort: 5000000000}]
`,
			[]string{
				pod + "metadata.labels[a.b/c] is a boolean and not " + quotes,
				pod + "metadata.labels[d] is a number and not " + quotes,
				pod + "spec.containers[0].command is a text and not " + list,
				pod + "spec.containers[0].env[1].value is a number and not " + quotes,
				pod + "spec.containers[0].ports[0].containerPort is a text and not a whole number" + bare,
				pod + "spec.containers[0].ports[1].containerPort is a text and not a whole number: write a whole number.",
				pod + "spec.containers[0].ports[2].containerPort is a number out of bounds: write one that fits into 32 bits.",
				pod + "spec.hostNetwork is a text and not a boolean" + bare,
				pod + "spec.nodeSelector[a] is a boolean and not " + quotes,
				pod + "spec.securityContext.fsGroup is a text and not a whole number" + bare,
			},
		},
		{
			"spark.apache.org/v1", "SparkCluster",
			cluster + `  masterSpec: {serviceMetadata: {labels: {a: 1}}, statefulSetSpec: {replicas: three, template: {spec: {containers: {name: master}}}}}
`,
			[]string{
				"spec.masterSpec.serviceMetadata.labels[a] is a number and not " + quotes,
				"spec.masterSpec.statefulSetSpec.replicas is a text and not a whole number: write a whole number.",
				"spec.masterSpec.statefulSetSpec.template.spec.containers is an object and not " + list,
			},
		},
		{
			"sparkoperator.k8s.io/v1beta2", "SparkApplication",
			kubeflow + "  hadoopConf: {a: 1, b: [x]}\n  restartPolicy: {type: Never, onFailureRetries: x}\n  volumes: [{name: v, emptyDir: {sizeLimit: true}}]\n",
			[]string{
				"spec.hadoopConf[b] is a list and not a text: write a text.",
				"spec.restartPolicy.onFailureRetries is a text and not a whole number: write a whole number.",
				"spec.volumes[0].emptyDir.sizeLimit is a boolean and not a quantity: write one such as 500m, 2, 1.5 or 10Gi.",
			},
		},
		{
			"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication",
			"  schedule: '@daily'\n  template:\n" + indented(2, kubeflow+"  driver: {env: [{name: A, value: 1}]}\n"),
			[]string{"spec.template.driver.env[0].value is a number and not " + quotes},
		},
		{
			"firesteel.dev/v1alpha1", "ScheduledSparkApplication",
			"  schedule: '@daily'\n  template:\n    spec:\n" + indented(4, apache+"  driverArgs: [1]\n"),
			[]string{"spec.template.spec.driverArgs[0] is a number and not " + quotes},
		},
		{
			"spark.apache.org/v1", "SparkApplication", apache + "  driverArgs: [" + strings.Repeat("1,", 100) + "]\n",
			func() (all []string) {
				for i := range 10 {
					all = append(all, fmt.Sprintf("spec.driverArgs[%d] is a number and not %s", i, quotes))
				}
				return all
			}(),
		},
	} {
		found := explained(manifest(t, test.version, test.kind, test.spec)).Sentences()
		if !slices.Equal(found, test.want) {
			t.Errorf("%s of %s: it finds\n%s\nwant\n%s", test.kind, test.version, strings.Join(found, "\n"), strings.Join(test.want, "\n"))
		}
	}
}
