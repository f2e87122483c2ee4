package early_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/podannotations"
)

// annotationsOf returns the annotations that a plan gives Pods of a role.
func annotationsOf(properties map[string]string, role string) map[string]string {
	annotations := map[string]string{}
	for key, value := range properties {
		if name, ok := strings.CutPrefix(key, "spark.kubernetes."+role+".annotation."); ok {
			annotations[name] = value
		}
	}
	return annotations
}

func TestPodsHaveTheAnnotationsOfTheEarlyOperator(t *testing.T) {
	app := application(t, `
sparkConfigMap: log4j-files
hadoopConfigMap: hdfs-site
driver:
  driverConfigMaps: [{name: tuning, path: /etc/tuning}]
  driverSecrets: [{name: gcp-service-account, path: /mnt/secrets, secretType: GCPServiceAccount}]
executor:
  executorConfigMaps: [{name: other, path: /etc/other}]
  executorSecrets: [{name: token, path: /mnt/token, secretType: HDFSDelegationToken}, {name: plain, path: /p, secretType: Generic}]`)
	objects, properties := built(t, app, early.NewSettings()), planned(t, app, early.NewSettings()).Properties
	driver := map[string]string{
		"spark-operator.k8s.io/sparkConfigMap":                        "log4j-files",
		"spark-operator.k8s.io/hadoopConfigMap":                       "hdfs-site",
		"spark-operator.k8s.io/configMap.tuning":                      "/etc/tuning",
		"spark-operator.k8s.io/GCPServiceAccount.gcp-service-account": "/mnt/secrets",
	}
	if diff := cmp.Diff(driver, objects.Driver.Annotations); diff != "" {
		t.Errorf("the driver's annotations (-want +got):\n%s", diff)
	}
	executors := map[string]string{
		"spark-operator.k8s.io/sparkConfigMap":  "log4j-files",
		"spark-operator.k8s.io/hadoopConfigMap": "hdfs-site",
		"spark-operator.k8s.io/configMap.other": "/etc/other",
		"spark-operator.k8s.io/secret.token":    "/mnt/token",
		"spark-operator.k8s.io/secret.plain":    "/p",
	}
	if diff := cmp.Diff(executors, annotationsOf(properties, "executor")); diff != "" {
		t.Errorf("annotations of executors (-want +got):\n%s", diff)
	}
	for _, annotations := range []map[string]string{driver, executors} { // the webhook would do the same
		for key := range annotations {
			if _, known := podannotations.AsksFor(key); !known {
				t.Errorf("%s is no annotation of plain spark-submit runs", key)
			}
		}
	}
}

func TestNamesAndPathsThatDoNotFitIntoAnnotationsAreMountedWithoutThem(t *testing.T) {
	app := application(t, `{}`)
	long := strings.Repeat("x", 54)
	app.Spec.Driver.DriverConfigMaps = []v1alpha1.NamePath{{Name: long, Path: "/etc/long"}, {Name: "fits", Path: "/etc/fits"}}
	for i := range 200 {
		path := fmt.Sprintf("/%03d/%s", i, strings.Repeat("y", 1000))
		app.Spec.Driver.DriverConfigMaps = append(app.Spec.Driver.DriverConfigMaps, v1alpha1.NamePath{Name: fmt.Sprintf("c%d", i), Path: path})
	}
	driver, size := built(t, app, early.NewSettings()).Driver, 0
	for key, value := range driver.Annotations {
		size += len(key) + len(value)
	}
	if len(driver.Annotations) < 50 || size > 64<<10 || driver.Annotations["spark-operator.k8s.io/configMap.fits"] != "/etc/fits" {
		t.Errorf("%d annotations of %d bytes", len(driver.Annotations), size)
	}
	mounted := 0
	for _, mount := range driver.Spec.Containers[0].VolumeMounts {
		if mount.MountPath == "/etc/long" || strings.HasSuffix(mount.MountPath, "yyy") {
			mounted++
		}
	}
	if mounted != 201 {
		t.Errorf("%d config maps are mounted", mounted)
	}
}

func TestAnnotationsThatDoNotChangePodsOfApplicationsAreNamed(t *testing.T) {
	for property, parts := range map[string][]string{
		"spark.kubernetes.driver.annotations.spark-operator.k8s.io/configMap.x":           {"write it into spec.driver.configMaps"},
		"spark.kubernetes.driver.annotation.sparkoperator.k8s.io/configmap.x":             {"write it into spec.driver.configMaps"},
		"spark.kubernetes.executor.annotation.spark-operator.k8s.io/secret.x":             {"write it into spec.executor.executorSecrets"},
		"spark.kubernetes.executor.annotation.spark-operator.k8s.io/GCPServiceAccount.x":  {"spec.executor.executorSecrets", "secretType GCPServiceAccount"},
		"spark.kubernetes.executor.annotation.sparkoperator.k8s.io/spark-configmap":       {"write it into spec.sparkConfigMap"},
		"spark.kubernetes.driver.annotation.spark-operator.k8s.io/hadoopConfigMap":        {"write it into spec.hadoopConigMap"},
		"spark.kubernetes.driver.annotation.spark-operator.k8s.io/ownerReference":         {"leave it out"},
		"spark.kubernetes.driver.annotation.spark-operator.k8s.io/affinity":               {"spec.sparkConf[spark.kubernetes.driver.podTemplateFile]"},
		"spark.kubernetes.executor.annotation.spark-operator.k8s.io/tolerations.a":        {"spec.sparkConf[spark.kubernetes.executor.podTemplateFile]"},
		"spark.kubernetes.executor.annotation.spark-operator.k8s.io/volumes.a":            {"spec.sparkConf[spark.kubernetes.executor.podTemplateFile]"},
		"spark.kubernetes.executor.annotation.spark-operator.k8s.io/volumemounts.a":       {"spec.sparkConf[spark.kubernetes.executor.podTemplateFile]"},
		"spark.kubernetes.driver.annotation.spark-operator.k8s.io/configMap.of-the-field": {"write it into spec.driver.configMaps"},
	} {
		app := application(t, `
hadoopConigMap: hdfs-site
driver: {configMaps: [{name: of-the-field, path: /etc/field}]}
executor: {executorSecrets: [{name: a, path: /a}]}`)
		app.Spec.SparkConf = map[string]string{property: "/etc/x"}
		sentences := early.Warnings(app, early.NewSettings()).Sentences()
		wantSentence(t, sentences, append(parts, "spec.sparkConf["+property+"] does not change Pods of applications")...)
		if len(sentences) != 1 {
			t.Errorf("%s: warnings are %q", property, sentences)
		}
	}
}

func TestAnnotationsThatAskForNothingMoreAreNotNamed(t *testing.T) {
	app := application(t, `
sparkConf:
  spark.kubernetes.driver.annotation.spark-operator.k8s.io/configMap.tuning: /etc/tuning
  spark.kubernetes.driver.annotation.spark-operator.k8s.io/team: a
  spark.kubernetes.driver.annotation.example.com/configMap.tuning: /etc/other
driver: {configMaps: [{name: tuning, path: /etc/tuning}]}`)
	if sentences := early.Warnings(app, early.NewSettings()).Sentences(); len(sentences) > 0 {
		t.Errorf("warnings are %q", sentences)
	}
	want := map[string]string{
		"spark-operator.k8s.io/configMap.tuning": "/etc/tuning", "spark-operator.k8s.io/team": "a", "example.com/configMap.tuning": "/etc/other",
	}
	if diff := cmp.Diff(want, built(t, app, early.NewSettings()).Driver.Annotations); diff != "" {
		t.Errorf("the driver's annotations (-want +got):\n%s", diff)
	}
}
