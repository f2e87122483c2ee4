package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// The rate limits of the programs are far beyond what the API server can answer here.
const (
	unlimitedQPS   = "--kube-api-qps=5000"
	unlimitedBurst = "--kube-api-burst=10000"
)

// RunScheduler starts the scheduler. It is killed with the control plane.
func (c *ControlPlane) RunScheduler() error {
	ports, err := process.FreePorts(1)
	if err != nil {
		return err
	}
	return c.Run("kube-scheduler",
		"--kubeconfig="+c.Kubeconfig(), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]),
		"--leader-elect=false", unlimitedQPS, unlimitedBurst)
}

// Kwok returns the program and the arguments that simulate the nodes that a flag of kwok selects, by the stages in a file.
func (c *ControlPlane) Kwok(stages, selection string) (program string, arguments []string) {
	return c.program("kwok"), []string{"--kubeconfig=" + c.Kubeconfig(), "--config=" + stages, selection}
}

// AddNodes makes nodes, named node-0 and so on, for kwok to simulate.
func (c *ControlPlane) AddNodes(ctx context.Context, count int) error {
	for i := range count {
		if err := c.AddNode(ctx, fmt.Sprintf("node-%d", i), nil); err != nil {
			return err
		}
	}
	return nil
}

// AddNode makes a node for kwok to simulate.
func (c *ControlPlane) AddNode(ctx context.Context, name string, labels map[string]string) error {
	kube, err := kubernetes.NewForConfig(c.Admin())
	if err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if _, err := kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	// The API server taints new nodes, and the controller that removes the taint does not run here.
	untainted := []byte(`{"spec": {"taints": null}}`)
	_, err = kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, untainted, metav1.PatchOptions{})
	return err
}
