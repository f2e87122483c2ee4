package tunnel

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
)

// Connect connects to a port of a Pod. No port of this machine is opened, so that nobody else on it can use the connection.
func Connect(ctx context.Context, cluster *rest.Config, namespace, pod string, port int) (net.Conn, error) {
	dialer, err := portDialer(cluster, namespace, pod)
	if err != nil {
		return nil, err
	}
	connection, err := dial(ctx, dialer)
	if err != nil {
		return nil, fmt.Errorf("the port %d of Pod %s cannot be reached: %w", port, pod, err)
	}
	failures, data, err := streams(connection, port)
	if err != nil {
		_ = connection.Close() // it failed
		return nil, fmt.Errorf("the port %d of Pod %s cannot be reached: %w", port, pod, err)
	}
	here, there := net.Pipe()
	// The connection has one pair of streams. Each of its ends is that of all.
	end := func() {
		_ = connection.Close()
		_ = there.Close()
	}
	go func() {
		if failure, _ := io.ReadAll(io.LimitReader(failures, 1)); len(failure) > 0 { // such as a refused connection
			end()
		}
	}()
	go func() {
		defer end()
		_, _ = io.Copy(data, there) // this side has closed it
	}()
	go func() {
		defer end()
		_, _ = io.Copy(there, data) // the Pod has closed it
	}()
	return here, nil
}

// dial opens a connection of the protocol of forwarded ports. It goes on if the caller leaves, and is closed then.
func dial(ctx context.Context, dialer httpstream.Dialer) (httpstream.Connection, error) {
	type answer struct {
		connection httpstream.Connection
		err        error
	}
	dialed := make(chan answer)
	go func() {
		var a answer
		a.connection, _, a.err = dialer.Dial(portforward.PortForwardProtocolV1Name)
		select {
		case dialed <- a:
		case <-ctx.Done():
			if a.err == nil {
				_ = a.connection.Close() // nobody uses it
			}
		}
	}()
	select {
	case a := <-dialed:
		return a.connection, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// streams returns the two streams of a forwarded connection: one for what fails, and one for data.
func streams(connection httpstream.Connection, port int) (failures, data httpstream.Stream, err error) {
	header := http.Header{}
	header.Set(corev1.PortHeader, strconv.Itoa(port))
	header.Set(corev1.PortForwardRequestIDHeader, "0")
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	if failures, err = connection.CreateStream(header); err != nil {
		return nil, nil, err
	}
	if err := failures.Close(); err != nil { // nothing is sent on it
		return nil, nil, err
	}
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err = connection.CreateStream(header)
	return failures, data, err
}
