package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// submissionRuns is how many applications each of the two programs submits, by turns.
	submissionRuns = 10
	// driverLimit bounds the wait for a driver Pod after the program has ended.
	driverLimit = time.Minute
)

// submissions are what one program took for a number of applications.
type submissions struct {
	// driver is from the start of the process to the notification of the driver Pod. cpu is that of the process. If the driver is Firesteel's, it
	// has also all that the controller spends until the next one, such as on the end of the driver.
	driver, cpu []time.Duration
}

// measureSubmission submits the same command line with kubectl spark and with the real spark-submit of SPARK_HOME, which needs a JVM. Without
// SPARK_HOME nothing is measured.
func (b *bench) measureSubmission(ctx context.Context, program string) error {
	home := os.Getenv("SPARK_HOME")
	if home == "" {
		b.logf("spark-submit is not measured: SPARK_HOME names no folder of Spark")
		return nil
	}
	namespace, err := b.namespace(ctx)
	if err != nil {
		return err
	}
	c, err := b.startController(ctx, setup{})
	if err != nil {
		return err
	}
	defer c.Kill()
	var firesteels, sparks submissions
	for i := range submissionRuns {
		before, err := b.processorTimes(c)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("ours-%02d", i)
		arguments := append([]string{"submit", "--kubeconfig", b.Plane.Kubeconfig()}, b.submissionLine(namespace, name)...)
		if err := b.submit(ctx, &firesteels, namespace, name, program, arguments); err != nil {
			return fmt.Errorf("%w\n%s", err, c.Tail(20))
		}
		name = fmt.Sprintf("sparks-%02d", i)
		if err := b.submit(ctx, &sparks, namespace, name, filepath.Join(home, "bin/spark-submit"), b.submissionLine(namespace, name)); err != nil {
			return err
		}
		after, err := b.processorTimes(c)
		if err != nil {
			return err
		}
		firesteels.cpu[i] += after["controller"] - before["controller"]
	}
	of := fmt.Sprintf("a command line of Spark %s", filepath.Base(home))
	p50, p90, p99 := b.AddTimes(partCommandLine, of, "submitted to driver Pod", firesteels.driver)
	against(sparks.driver, p50, p90, p99)
	p50, p90, p99 = b.AddTimes(partCommandLine, of, "CPU of process and controller", firesteels.cpu)
	against(sparks.cpu, p50, p90, p99)
	return errors.Join(
		b.Spark.SparkV1().SparkApplications(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		b.Kube.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
		b.untilEmpty(ctx, namespace),
	)
}

// submissionLine is a command line that both programs take.
func (b *bench) submissionLine(namespace, name string) []string {
	return []string{
		"--master", "k8s://" + b.Plane.Admin().Host, "--deploy-mode", "cluster", "--name", name, "--class", mainClass,
		"--conf", "spark.kubernetes.namespace=" + namespace, "--conf", "spark.kubernetes.container.image=" + image,
		"--conf", "spark.kubernetes.submission.waitAppCompletion=false", mainJar,
	}
}

// submit runs a program until it ends, and notes when the driver Pod of the application with that name is there.
func (b *bench) submit(ctx context.Context, to *submissions, namespace, name, program string, arguments []string) error {
	pods, err := b.Kube.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: "spark-role=driver"})
	if err != nil {
		return err
	}
	defer pods.Stop()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+b.Plane.Kubeconfig())
	created := make(chan time.Time, 1)
	go func() {
		defer close(created)
		for event := range pods.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == watch.Added && strings.HasPrefix(pod.Name, name+"-") {
				created <- time.Now()
				return
			}
		}
	}()
	began := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, output)
	}
	select {
	case at, ok := <-created:
		if !ok {
			return errors.New("the watch of drivers has ended")
		}
		to.driver = append(to.driver, at.Sub(began))
		to.cpu = append(to.cpu, command.ProcessState.UserTime()+command.ProcessState.SystemTime())
		return nil
	case <-time.After(driverLimit):
		return fmt.Errorf("%s has ended, and there is no driver Pod of %s after %s", filepath.Base(program), name, driverLimit)
	case <-ctx.Done():
		return ctx.Err()
	}
}
