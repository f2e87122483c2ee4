package controlplane

import (
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// Replica is one more API server of the control plane. The test may kill it and start it again. It writes no audit log.
type Replica struct {
	plane  *ControlPlane
	folder string
	port   int
}

// NewReplica prepares one more API server, with a port of its own.
func (c *ControlPlane) NewReplica() (*Replica, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	return &Replica{plane: c, folder: fmt.Sprintf("pki-%d", ports[0]), port: ports[0]}, nil
}

// Start runs the API server. Its output goes to a file named log.
func (r *Replica) Start(log string) (*process.Process, error) {
	return process.Start(log, environment, r.plane.program("kube-apiserver"), r.plane.apiserver(r.folder, r.port)...)
}

// Admin returns a client configuration for a user who may do everything. It is usable once the API server runs.
func (r *Replica) Admin() *rest.Config {
	config := r.plane.Admin()
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", r.port)
	config.CAFile = r.plane.path(r.folder, "apiserver.crt")
	return config
}
