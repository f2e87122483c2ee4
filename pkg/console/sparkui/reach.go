package sparkui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
)

// Forward connects to a port of a Pod, through the API server and with the user's own identity.
type Forward func(ctx context.Context, namespace, pod string, port int) (net.Conn, error)

// reach returns the address by which the transport reaches the UI of a driver, or why the console serves no UI: the address of its Pod or, if connections
// are forwarded, the name of its Pod.
func (s *SparkUIs) reach(ref Ref, driver *Driver) (string, error) {
	if err := driver.served(); err != nil {
		return "", err
	}
	if s.Forward == nil {
		return driver.address()
	}
	if driver.Pod == "" {
		return "", errNoAddress
	}
	return net.JoinHostPort(driver.Pod+"."+ref.Namespace, strconv.Itoa(driver.Port)), nil
}

// dialPod connects to a Pod whose address reach has returned.
func (s *SparkUIs) dialPod(ctx context.Context, _, address string) (net.Conn, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(number)
	dot := strings.LastIndexByte(host, '.') // names of Pods have dots, those of namespaces have none
	if err != nil || dot < 0 {
		return nil, fmt.Errorf("%q is no port of a Pod", address)
	}
	ctx, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	return s.Forward(ctx, host[dot+1:], host[:dot], port)
}

// mayReach returns nil if a user may have connections to a driver forwarded, or if that is not needed.
func (s *SparkUIs) mayReach(ctx context.Context, user console.Reader, ref Ref, driver *Driver) error {
	if s.Forward == nil {
		return nil
	}
	err := user.Check(ctx, access.Right{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: ref.Namespace, Name: driver.Pod})
	if errors.Is(err, access.ErrNotAllowed) {
		return &refusal{http.StatusForbidden, "The Spark UI cannot be reached with your rights: " + err.Error() + "."}
	}
	return err
}
