package see

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// standardUI is Spark's default of spark.ui.port.
const standardUI = 4040

type uiOptions struct {
	*verbs
	port       int
	remotePort int
	address    string
	browser    bool
}

func (v *verbs) uiCommand() *cobra.Command {
	u := &uiOptions{verbs: v}
	command := &cobra.Command{
		Use: "ui NAME [flags]", Aliases: []string{"forward"}, Short: "Open the UI of a driver through a port of this machine",
		Long: `Forward a port of this machine to the UI of a driver, and print its address. It ends with Ctrl-C, or with the driver.

` + nameHelp,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return u.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	flags.IntVar(&u.port, "port", 0, "The port of this machine; 0 for any that is free.")
	flags.IntVar(&u.remotePort, "remote-port", 0, "The port of the driver; 0 for that of its UI.")
	flags.StringVar(&u.address, "address", "127.0.0.1", "The address of this machine at which it listens.")
	flags.BoolVar(&u.browser, "browser", false, "Open the address in the browser.")
	return command
}

func (u *uiOptions) run(ctx context.Context, name string) error {
	const most = 65535
	switch {
	case u.port < 0 || u.port > most:
		return cli.Usage("--port %d is no port", u.port)
	case u.remotePort < 0 || u.remotePort > most:
		return cli.Usage("--remote-port %d is no port", u.remotePort)
	}
	c, err := u.connect()
	if err != nil {
		return err
	}
	_, o, err := c.find(ctx, name, overview.Application)
	if err != nil {
		return err
	}
	pods, err := c.pods(ctx, o)
	if err != nil {
		return err
	}
	driver := pods.Driver
	switch {
	case driver == nil:
		return fmt.Errorf("%s has no driver (%s): only a driver that runs serves a UI", name, stateOf(o))
	case driver.Status.Phase != corev1.PodRunning:
		return fmt.Errorf("the driver Pod %s does not run (%s): kubectl spark why %s says why", driver.Name, driver.Status.Phase, name)
	}
	remote := u.remotePort
	if remote == 0 {
		remote = uiPort(driver, o.Facts(u.Now(), pods, nil, "").Properties)
	}
	return u.forward(ctx, c, driver, remote)
}

// uiPort returns the port of a driver's UI: that of its container, or that of the properties.
func uiPort(driver *corev1.Pod, properties map[string]string) int {
	for _, container := range driver.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "spark-ui" {
				return int(port.ContainerPort)
			}
		}
	}
	if port, err := strconv.ParseUint(properties["spark.ui.port"], 10, 16); err == nil && port > 0 {
		return int(port)
	}
	return standardUI
}

// forward forwards a port until the context or the connection ends.
func (u *uiOptions) forward(ctx context.Context, c *cluster, driver *corev1.Pod, remote int) error {
	dialer, err := c.portDialer(driver)
	if err != nil {
		return err
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(dialer, []string{u.address}, []string{fmt.Sprintf("%d:%d", u.port, remote)}, stop, ready, io.Discard, u.ErrOut)
	if err != nil {
		return cli.Usage("--address %s or --port %d cannot be used (%v)", u.address, u.port, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	defer close(stop)
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return fmt.Errorf("the port of Pod %s cannot be forwarded: %w", driver.Name, orClosed(err))
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil || len(ports) == 0 {
		return fmt.Errorf("the port of Pod %s cannot be forwarded: %w", driver.Name, orClosed(err))
	}
	address := fmt.Sprintf("http://%s:%d", u.address, ports[0].Local)
	fmt.Fprintln(u.Out, address)
	fmt.Fprintf(u.ErrOut, "It is port %d of driver Pod %s, until Ctrl-C.\n", remote, driver.Name)
	if u.browser {
		if err := browse(address); err != nil {
			u.Warn(fmt.Sprintf("no browser can be opened: %v", err))
		}
	}
	select {
	case <-ctx.Done(): // the user ended it
		return nil
	case err := <-ended:
		if errors.Is(err, portforward.ErrLostConnectionToPod) || err == nil {
			return fmt.Errorf("driver Pod %s has ended", driver.Name)
		}
		return err
	}
}

func orClosed(err error) error {
	if err != nil {
		return err
	}
	return errors.New("the connection was closed")
}

// portDialer connects to the ports of a Pod: by a web socket or, if the API server is older, by SPDY.
func (c *cluster) portDialer(pod *corev1.Pod) (httpstream.Dialer, error) {
	url := c.kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(c.rest)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	newer, err := portforward.NewSPDYOverWebsocketDialer(url, c.rest)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialer(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// browse opens an address in the browser.
func browse(address string) error {
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open"}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return exec.Command(opener[0], append(opener[1:], address)...).Start() //nolint:gosec // the program is one of these, and the address is our own
}

// stateOf returns the state of an object, as people read it.
func stateOf(o *overview.Object) string {
	if o.State == "" {
		return "New"
	}
	return o.State
}
