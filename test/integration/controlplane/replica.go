package controlplane

import (
	"fmt"

	"k8s.io/client-go/rest"
)

// Replica is one more API server of the control plane. Whoever starts it may kill it and start it again. It keeps no
// audit log.
type Replica struct {
	plane  *ControlPlane
	folder string
	port   int
}

// NewReplica finds a place for one more API server.
func (c *ControlPlane) NewReplica() (*Replica, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return nil, err
	}
	return &Replica{plane: c, folder: fmt.Sprintf("pki-%d", ports[0]), port: ports[0]}, nil
}

// Start runs the API server. Its output goes to a file named log.
func (r *Replica) Start(log string) (*Process, error) {
	return StartProcess(log, environment, r.plane.program("kube-apiserver"), r.plane.apiserver(r.folder, r.port)...)
}

// Admin is how a user who may do everything reaches it, once it runs.
func (r *Replica) Admin() *rest.Config {
	config := r.plane.Admin()
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", r.port)
	config.CAFile = r.plane.path(r.folder, "apiserver.crt")
	return config
}
