package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/client/informers/externalversions"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// driverPlan is what a driver does; testdata/stages.yaml explains it.
type driverPlan string

const (
	ends            driverPlan = "ends"
	runs            driverPlan = "runs"
	held            driverPlan = "held"
	labelDriverPlan            = "bench/driver"
)

const (
	mainClass = "org.apache.spark.examples.SparkPi"
	mainJar   = "local:///opt/spark/examples/jars/spark-examples.jar"
	image     = "apache/spark:4.1.1"
	version   = "4.1.1"
	// executorsEach is the number of executors that each driver makes.
	executorsEach = 2
)

// kind is a kind of applications, and how it is used.
type kind struct {
	name   string
	create func(ctx context.Context, clients versioned.Interface, namespace, name string, plan driverPlan) (dialect.Application, error)
	remove func(ctx context.Context, clients versioned.Interface, namespace, name string) error
	// informer follows those of the namespace that a factory is for.
	informer func(externalversions.SharedInformerFactory) cache.SharedIndexInformer
	// finished means that all is done that follows from the end of its driver.
	finished func(dialect.Application) bool
	// keepsPods means that its Pods stay once it has finished.
	keepsPods bool
}

var apacheKind = kind{
	name: "Apache",
	create: func(ctx context.Context, clients versioned.Interface, namespace, name string, plan driverPlan) (dialect.Application, error) {
		return clients.SparkV1().SparkApplications(namespace).Create(ctx, apacheApplication(name, plan), metav1.CreateOptions{})
	},
	remove: func(ctx context.Context, clients versioned.Interface, namespace, name string) error {
		return clients.SparkV1().SparkApplications(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	},
	informer: func(factory externalversions.SharedInformerFactory) cache.SharedIndexInformer {
		return factory.Spark().V1().SparkApplications().Informer()
	},
	// What is left to do then is to remove the finalizer, which is the last write for an application.
	finished: func(app dialect.Application) bool {
		return state(app) == lifecycle.ResourceReleased && len(app.GetFinalizers()) == 0
	},
}

func apacheApplication(name string, plan driverPlan) *sparkv1.SparkApplication {
	return &sparkv1.SparkApplication{
		TypeMeta:   metav1.TypeMeta{APIVersion: sparkv1.SchemeGroupVersion.String(), Kind: "SparkApplication"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: sparkv1.ApplicationSpec{
			MainClass: mainClass, Jars: mainJar,
			RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: version},
			SparkConf: map[string]string{
				"spark.kubernetes.container.image":                 image,
				"spark.executor.instances":                         fmt.Sprint(executorsEach),
				"spark.kubernetes.driver.label." + labelDriverPlan: string(plan),
			},
		},
	}
}

var kubeflowKind = kind{
	name: "Kubeflow", keepsPods: true,
	create: func(ctx context.Context, clients versioned.Interface, namespace, name string, plan driverPlan) (dialect.Application, error) {
		app := &v1beta2.SparkApplication{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1beta2.SparkApplicationSpec{
				Type: v1beta2.ScalaApplication, Mode: v1beta2.ClusterMode, Image: image, SparkVersion: version,
				MainClass: mainClass, MainApplicationFile: mainJar,
			},
		}
		app.Spec.Driver.Labels = map[string]string{labelDriverPlan: string(plan)}
		instances := int32(executorsEach)
		app.Spec.Executor.Instances = &instances
		return clients.SparkoperatorV1beta2().SparkApplications(namespace).Create(ctx, app, metav1.CreateOptions{})
	},
	remove: func(ctx context.Context, clients versioned.Interface, namespace, name string) error {
		return clients.SparkoperatorV1beta2().SparkApplications(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	},
	informer: func(factory externalversions.SharedInformerFactory) cache.SharedIndexInformer {
		return factory.Sparkoperator().V1beta2().SparkApplications().Informer()
	},
	// Its driver is kept. What is left to do is to remove the finalizer.
	finished: func(app dialect.Application) bool {
		return state(app).Terminated() && len(app.GetFinalizers()) == 0
	},
}

// state is the state of an application; empty if no operator has reconciled it.
func state(app dialect.Application) lifecycle.State {
	if app.GetRecord() == nil {
		return ""
	}
	return lifecycle.CurrentState(app.GetRecord())
}

// executor is an executor as the driver makes it.
func executor(driver *corev1.Pod, number int) *corev1.Pod {
	labels := map[string]string{
		"spark-role": "executor", "spark-exec-id": fmt.Sprint(number), "spark-exec-resourceprofile-id": "0", "spark-version": version,
		submission.LabelApplicationID: driver.Labels[submission.LabelApplicationID], "spark-app-name": driver.Labels["spark-app-name"],
	}
	for key, value := range driver.Labels {
		if strings.HasPrefix(key, "sparkoperator.k8s.io/") || strings.HasPrefix(key, "spark.operator/") {
			labels[key] = value
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-exec-%d", strings.TrimSuffix(driver.Name, "-driver"), number), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(driver)},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "spark-kubernetes-executor", Image: image, Args: []string{"executor"},
				Env: []corev1.EnvVar{
					{Name: "SPARK_DRIVER_URL", Value: "spark://CoarseGrainedScheduler@" + driver.Name + "-svc." + driver.Namespace + ".svc:7078"},
					{Name: "SPARK_EXECUTOR_CORES", Value: "1"},
					{Name: "SPARK_EXECUTOR_MEMORY", Value: "1024m"},
					{Name: "SPARK_APPLICATION_ID", Value: driver.Labels[submission.LabelApplicationID]},
					{Name: "SPARK_EXECUTOR_ID", Value: fmt.Sprint(number)},
				},
				Ports: []corev1.ContainerPort{{Name: "blockmanager", ContainerPort: 7079}},
			}},
		},
	}
}
