package sparksubmit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

func TestLocalFilesOfManifestsAreMoved(t *testing.T) {
	for name, test := range map[string]struct {
		manifest, want string
		fields         []string
	}{
		"Apache": {
			`{apiVersion: spark.apache.org/v1, kind: SparkApplication, spec: {jars: "a.jar", files: "local:///x, b.txt#name", sparkConf: {spark.jars: "lib/*.jar,s3a://b/c.jar", spark.x: a.jar, spark.files: ""}}}`,
			`{apiVersion: spark.apache.org/v1, kind: SparkApplication, spec: {jars: "s3a://u/a.jar", files: "local:///x,s3a://u/b.txt#name", sparkConf: {spark.jars: "s3a://u/1.jar,s3a://u/2.jar,s3a://b/c.jar", spark.x: a.jar, spark.files: ""}}}`,
			[]string{"spec.jars", "spec.files", "spec.sparkConf[spark.jars]"},
		},
		"Kubeflow": {
			`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {mainApplicationFile: "file:///a.jar", deps: {jars: ["s3a://b/c.jar", "lib/*.jar", 7], pyFiles: [b.txt], archives: "no list"}}}`,
			`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {mainApplicationFile: "s3a://u/of-root.jar", deps: {jars: ["s3a://b/c.jar", "s3a://u/1.jar", "s3a://u/2.jar", 7], pyFiles: ["s3a://u/b.txt"], archives: "no list"}}}`,
			[]string{"spec.mainApplicationFile", "spec.deps.jars[1]", "spec.deps.archives", "spec.deps.pyFiles[0]"},
		},
		"the early API": {
			`{apiVersion: spark-operator.k8s.io/v1alpha1, kind: SparkApplication, spec: {mainApplicationFile: spark-internal, deps: {jarFiles: [a.jar]}}}`,
			`{apiVersion: spark-operator.k8s.io/v1alpha1, kind: SparkApplication, spec: {mainApplicationFile: spark-internal, deps: {jarFiles: ["s3a://u/a.jar"]}}}`,
			[]string{"spec.deps.jarFiles[0]"},
		},
		"a schedule of Kubeflow": {
			`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: ScheduledSparkApplication, spec: {template: {mainApplicationFile: a.jar}}}`,
			`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: ScheduledSparkApplication, spec: {template: {mainApplicationFile: "s3a://u/a.jar"}}}`,
			[]string{"spec.template.mainApplicationFile"},
		},
		"a schedule of Firesteel": {
			`{apiVersion: firesteel.dev/v1alpha1, kind: ScheduledSparkApplication, spec: {template: {spec: {pyFiles: "a.jar"}}}}`,
			`{apiVersion: firesteel.dev/v1alpha1, kind: ScheduledSparkApplication, spec: {template: {spec: {pyFiles: "s3a://u/a.jar"}}}}`,
			[]string{"spec.template.spec.pyFiles"},
		},
		"R in the image":        {`{apiVersion: spark.apache.org/v1, spec: {sparkRFiles: /opt/a.R}}`, `{apiVersion: spark.apache.org/v1, spec: {sparkRFiles: /opt/a.R}}`, []string{"spec.sparkRFiles"}},
		"a cluster":             {`{apiVersion: spark.apache.org/v1, kind: SparkCluster, spec: {sparkConf: {}}}`, `{apiVersion: spark.apache.org/v1, kind: SparkCluster, spec: {sparkConf: {}}}`, nil},
		"what has no spec":      {`{kind: SparkApplication}`, `{kind: SparkApplication}`, nil},
		"a spec that is a text": {`{apiVersion: spark.apache.org/v1, spec: x}`, `{apiVersion: spark.apache.org/v1, spec: x}`, nil},
	} {
		var got, want sparksubmit.Object
		if err := errors.Join(yaml.Unmarshal([]byte(test.manifest), &got), yaml.Unmarshal([]byte(test.want), &want)); err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, file := range sparksubmit.ManifestFiles(got) {
			fields = append(fields, file.Field)
		}
		sparksubmit.MoveManifestFiles(got, map[string][]string{
			"a.jar": {"s3a://u/a.jar"}, "/a.jar": {"s3a://u/of-root.jar"}, "lib/*.jar": {"s3a://u/1.jar", "s3a://u/2.jar"}, "b.txt": {"s3a://u/b.txt"},
		})
		if diff := cmp.Diff(test.fields, fields); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPropertiesOfAManifest(t *testing.T) {
	manifest := sparksubmit.Object{"apiVersion": "spark.apache.org/v1", "spec": map[string]any{"sparkConf": map[string]any{"spark.a": "b", "spark.c": int64(1)}}}
	if diff := cmp.Diff(map[string]string{"spark.a": "b"}, sparksubmit.ManifestProperties(manifest)); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}
