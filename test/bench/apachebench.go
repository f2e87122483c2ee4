package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const partApache = "apache"

// apacheManifest is what the benchmark of the Apache operator creates a thousand of, but for the label that says how long
// its driver runs.
const apacheManifest = `apiVersion: spark.apache.org/v1beta1
kind: SparkApplication
metadata:
  name: %s
spec:
  mainClass: "org.apache.spark.examples.DriverSubmissionTest"
  jars: "local:///opt/spark/examples/jars/spark-examples.jar"
  driverArgs: ["0"]
  sparkConf:
    spark.kubernetes.driver.request.cores: "100m"
    spark.kubernetes.driver.request.memory: "100Mi"
    spark.kubernetes.driver.master: "local[1]"
    spark.kubernetes.authenticate.driver.serviceAccountName: "spark"
    spark.kubernetes.container.image: "apache/spark:4.0.0-java21-scala"
    spark.kubernetes.driver.label.` + labelDriverPlan + `: "ends"
  runtimeVersions:
    sparkVersion: "4.0.0"
---
`

// measureApache is the part that does what the benchmark of the Apache operator does, by kubectl: it applies all
// applications, asks every second how many are released, and deletes all. That alone it does in one call: kubectl would
// ask for one deletion after the other, at most five times a second, whichever the operator is.
func (b *bench) measureApache(ctx context.Context) error {
	c, err := b.startController(ctx, setup{})
	if err != nil {
		return err
	}
	defer c.Kill()
	workload, err := b.newWorkload(ctx, apacheKind, ends, nil)
	if err != nil {
		return err
	}
	defer workload.close()
	workload.executors = 0 // its master is local
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "spark"}}
	if _, err := b.Kube.CoreV1().ServiceAccounts(workload.namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	var manifests strings.Builder
	var names []string
	for i := range b.count {
		names = append(names, fmt.Sprintf("test-%05d", i+1))
		fmt.Fprintf(&manifests, apacheManifest, names[i])
	}
	file := filepath.Join(b.dir, "apache.yaml")
	if err := os.WriteFile(file, []byte(manifests.String()), 0o600); err != nil {
		return err
	}

	begin := time.Now()
	if _, err := b.kubectl(ctx, workload, "apply", "--filename="+file); err != nil {
		return err
	}
	for {
		listed, err := b.kubectl(ctx, workload, "get", "sparkapplications.spark.apache.org")
		if err != nil {
			return err
		}
		if strings.Count(listed, "ResourceReleased") >= b.count {
			break
		}
		select {
		case <-time.After(time.Second): // as it does
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	finish := time.Since(begin)
	begin = time.Now()
	all := b.Spark.SparkV1().SparkApplications(workload.namespace)
	if err := all.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	if _, err := workload.untilAll(ctx, names, gone); err != nil {
		return err
	}
	removal := time.Since(begin)
	b.logf("finished in %s, deleted in %s", finish, removal)
	b.Add(partApache, fmt.Sprintf("%d applications", b.count), "finish", "s", finish.Seconds())
	b.Add(partApache, fmt.Sprintf("%d applications", b.count), "delete", "s", removal.Seconds())
	return b.untilEmpty(ctx, workload.namespace)
}

func (b *bench) kubectl(ctx context.Context, c *workload, arguments ...string) (string, error) {
	return b.Plane.Kubectl(ctx, "", append([]string{"--namespace=" + c.namespace}, arguments...)...)
}
