package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/bench/peers/result"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// operator is one of those that are compared.
type operator struct {
	// name is the one that results have.
	name string
	// manifests are patterns of files in config, and largeCRDs files, that are applied to its control plane.
	manifests, largeCRDs []string
	// start starts it on a control plane.
	start func(ctx context.Context, w *env) (*process.Process, error)
	// profileURL is where the operator's Go profiles are once it runs; empty if it has none.
	profileURL string
}

// buildFiresteel builds the controller into a folder.
func buildFiresteel(ctx context.Context, root, dir string) (*operator, error) {
	if err := firesteel.Build(ctx, root, dir, "cmd/controller"); err != nil {
		return nil, err
	}
	o := &operator{name: result.Firesteel, manifests: firesteel.Manifests}
	o.start = func(ctx context.Context, w *env) (*process.Process, error) {
		kubeconfig, err := w.writeKubeconfig(ctx, firesteel.SystemNamespace, "controller")
		if err != nil {
			return nil, err
		}
		started, ports, err := firesteel.Controller{Program: filepath.Join(dir, "controller"), Kubeconfig: kubeconfig}.Start(w.log())
		o.profileURL = fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/", ports.Profiling)
		return started, err
	}
	return o, nil
}

// apacheProperties are the operator's own settings. All others have their defaults.
const apacheProperties = `spark.kubernetes.operator.name=%[1]s
spark.kubernetes.operator.namespace=%[1]s
spark.kubernetes.operator.watchedNamespaces=%[2]s
spark.kubernetes.operator.metrics.port=%[3]d
spark.kubernetes.operator.health.probePort=%[4]d
`

// apacheLogging is what its chart sets.
const apacheLogging = `rootLogger.level=INFO
rootLogger.appenderRef.stdout.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{yy/MM/dd HH:mm:ss} %p %X{resource.name} %X{resource.namespace} %C{1.} %m%n%ex
`

// apacheAccount is the namespace of the Apache operator, and its name there.
const apacheAccount = "spark-kubernetes-operator"

// operator returns the built operator. It runs with the JVM arguments of its chart and the heap that they result in there,
// without a limit of CPU time.
func (b *apacheBuild) operator() *operator {
	start := func(ctx context.Context, w *env) (*process.Process, error) {
		if err := w.addApacheAccount(ctx); err != nil {
			return nil, err
		}
		kubeconfig, err := w.writeKubeconfig(ctx, apacheAccount, apacheAccount)
		if err != nil {
			return nil, err
		}
		ports, err := process.FreePorts(2)
		if err != nil {
			return nil, err
		}
		properties, logging := filepath.Join(w.dir, "operator.properties"), filepath.Join(w.dir, "log4j2.properties")
		text := fmt.Sprintf(apacheProperties, apacheAccount, namespace, ports[0], ports[1])
		if err := os.WriteFile(properties, []byte(text), 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(logging, []byte(apacheLogging), 0o600); err != nil {
			return nil, err
		}
		arguments := append([]string{
			"-cp", b.classPath(), "-Dlog4j.configurationFile=" + logging,
			"-Dspark.kubernetes.operator.basePropertyFileName=" + properties,
			fmt.Sprintf("-XX:MaxRAM=%dm", b.memory), // the percentages of the chart are of its container's limit
		}, b.jvmArguments...)
		return process.Start(w.log(), []string{
			"KUBECONFIG=" + kubeconfig, "SPARK_USER=spark", "OPERATOR_NAMESPACE=" + apacheAccount, "OPERATOR_NAME=" + apacheAccount,
			"POD_NAME=" + apacheAccount, "HOST_IP=127.0.0.1", "POD_IP=127.0.0.1",
		}, b.java, append(arguments, "org.apache.spark.k8s.operator.SparkOperator")...)
	}
	return &operator{name: result.Apache, largeCRDs: b.crds, start: start}
}

// addApacheAccount makes a service account that may do everything: what its chart allows takes no less time to check.
func (w *env) addApacheAccount(ctx context.Context) error {
	if err := w.AddNamespace(ctx, apacheAccount); err != nil {
		return err
	}
	if err := w.addServiceAccount(ctx, apacheAccount, apacheAccount); err != nil {
		return err
	}
	_, err := w.Kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: apacheAccount},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: apacheAccount, Name: apacheAccount}},
	}, metav1.CreateOptions{})
	return err
}
