// Package tunnel reaches the pages that Pods serve, through the API server.
//
//	tunnel.go         forwards a port of this machine
//	connect.go        connects to a port of a Pod, without a port of this machine
//	browse.go         opens an address in the browser
//	browse_secret.go  opens a link with a secret, which no other user of this machine sees
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// Flags are the flags of commands that forward a port.
type Flags struct {
	port, remotePort int
	address          string
	browser          bool
}

// loopback is the default of --address.
const loopback = "127.0.0.1"

// Ports returns flags with these ports, for commands whose flags have other names.
func Ports(port, remotePort int) Flags {
	return Flags{port: port, remotePort: remotePort, address: loopback}
}

// AddTo adds the flags to a command. pod is what users call the Pod, such as driver.
func (f *Flags) AddTo(command *cobra.Command, pod string) {
	flags := command.Flags()
	flags.IntVar(&f.port, "port", 0, "The port of this machine; 0 for any that is free.")
	flags.IntVar(&f.remotePort, "remote-port", 0, "The port of the "+pod+"; 0 for that of its UI.")
	flags.StringVar(&f.address, "address", loopback, "The address of this machine at which it listens.")
	flags.BoolVar(&f.browser, "browser", false, "Open the address in the browser.")
}

// Check returns a usage error if a port is invalid.
func (f *Flags) Check() error {
	if err := CheckPort("--port", f.port); err != nil {
		return err
	}
	return CheckPort("--remote-port", f.remotePort)
}

// CheckPort returns a usage error if the value of a flag is no port. Zero is valid: it stands for a free port, or for that of the UI.
func CheckPort(flag string, port int) error {
	const most = 65535
	if port < 0 || port > most {
		return cli.Usage("%s %d is no port: write a number up to %d", flag, port, most)
	}
	return nil
}

// Target is a page that a Pod serves.
type Target struct {
	Pod *corev1.Pod
	// What is what users call the Pod, such as driver.
	What string
	// Port is the port of the page. The flag --remote-port wins over it.
	Port int
}

const (
	// answerTimeout bounds the wait for one answer. startTimeout bounds the wait until a started process serves its page.
	answerTimeout = 5 * time.Second
	startTimeout  = 2 * time.Minute
	pause         = 500 * time.Millisecond
)

// Run forwards a port until the context or the connection ends. It prints the address as soon as the page answers: a driver runs for some seconds
// before its UI does. A connection that the port of the Pod refuses ends the tunnel: then Run opens a new one.
func (f *Flags) Run(ctx context.Context, o *cli.Options, cluster *rest.Config, to Target) error {
	if f.remotePort > 0 {
		to.Port = f.remotePort
	}
	dialer, err := portDialer(cluster, to.Pod.Namespace, to.Pod.Name)
	if err != nil {
		return err
	}
	var open *opened
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for waits := false; ; waits = true {
		if open, err = f.open(ctx, dialer, to); open == nil {
			return err
		}
		if err = requestPage(starting, open.address); err == nil {
			break
		}
		open.close()
		if !waits {
			fmt.Fprintf(o.ErrOut, "Waiting until %s Pod %s answers at port %d.\n", to.What, to.Pod.Name, to.Port)
		}
		select {
		case <-time.After(pause):
		case <-starting.Done():
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("%s Pod %s does not answer at port %d (%w): --remote-port names another one, unless spark.ui.enabled is false", to.What, to.Pod.Name, to.Port, err)
		}
	}
	defer open.close()
	fmt.Fprintln(o.Out, open.address)
	fmt.Fprintf(o.ErrOut, "It is port %d of %s Pod %s, until Ctrl-C.\n", to.Port, to.What, to.Pod.Name)
	if f.browser {
		if err := Browse(open.address); err != nil {
			o.Warn(fmt.Sprintf("no browser can be opened: %v", err))
		}
	}
	select {
	case <-ctx.Done(): // the user ended it
		return nil
	case err := <-open.ended:
		if errors.Is(err, portforward.ErrLostConnectionToPod) || err == nil {
			return fmt.Errorf("%s Pod %s has ended", to.What, to.Pod.Name)
		}
		return err
	}
}

// opened is a port of this machine that is forwarded to a Pod.
type opened struct {
	address string
	ended   chan error
	stop    chan struct{}
}

// close ends the tunnel. After that, the port of this machine is free.
func (p *opened) close() {
	close(p.stop)
	<-p.ended //nolint:errcheck // it ends because it was stopped
}

// open forwards a port. If it cannot, it returns nil with an error; nil without an error if the user has ended the command.
func (f *Flags) open(ctx context.Context, dialer httpstream.Dialer, to Target) (*opened, error) {
	p := &opened{ended: make(chan error, 1), stop: make(chan struct{})}
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(dialer, []string{f.address}, []string{fmt.Sprintf("%d:%d", f.port, to.Port)}, p.stop, ready, io.Discard, io.Discard)
	if err != nil {
		return nil, cli.Usage("--address %s or --port %d cannot be used (%v)", f.address, f.port, err)
	}
	go func() {
		p.ended <- forwarder.ForwardPorts()
		close(p.ended)
	}()
	select {
	case <-ctx.Done():
		close(p.stop)
		return nil, nil
	case err := <-p.ended:
		return nil, fmt.Errorf("the port of Pod %s cannot be forwarded: %w", to.Pod.Name, orClosed(err))
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil || len(ports) == 0 {
		p.close()
		return nil, fmt.Errorf("the port of Pod %s cannot be forwarded: %w", to.Pod.Name, orClosed(err))
	}
	p.address = "http://" + net.JoinHostPort(f.address, strconv.Itoa(int(ports[0].Local)))
	return p, nil
}

// requestPage returns an error if a page does not answer. Each HTTP status is an answer.
func requestPage(ctx context.Context, address string) error {
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(asking, http.MethodHead, address, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func orClosed(err error) error {
	if err != nil {
		return err
	}
	return errors.New("the connection was closed")
}

// portDialer connects to the ports of a Pod: by a web socket or, if the API server is older, by SPDY.
func portDialer(cluster *rest.Config, namespace, pod string) (httpstream.Dialer, error) {
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, err
	}
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(cluster)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	newer, err := portforward.NewSPDYOverWebsocketDialer(url, cluster)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialer(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
