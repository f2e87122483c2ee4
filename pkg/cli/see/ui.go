package see

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cli/tunnel"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// standardUI is Spark's default of spark.ui.port.
const standardUI = 4040

type uiOptions struct {
	*verbs
	tunnel.Flags
}

func (v *verbs) uiCommand() *cobra.Command {
	u := &uiOptions{verbs: v}
	command := &cobra.Command{
		Use: "ui NAME [flags]", Aliases: []string{"forward"}, Short: "Open the UI of a driver through a port of this machine",
		Long: `Forward a port of this machine to the UI of a driver, and print its address. It ends with Ctrl-C, or with the driver.

` + target.NameHelp,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error { return u.run(command.Context(), args[0]) },
	}
	u.AddTo(command, "driver")
	return command
}

// UI forwards a port to the UI of a driver, as the verb ui does.
func UI(ctx context.Context, o *cli.Options, namespace, name string, flags tunnel.Flags) error {
	v := &verbs{Options: o, connect: func() (*cluster, error) { return connectTo(o, namespace) }}
	return (&uiOptions{verbs: v, Flags: flags}).run(ctx, name)
}

func (u *uiOptions) run(ctx context.Context, name string) error {
	if err := u.Check(); err != nil {
		return err
	}
	c, err := u.connect()
	if err != nil {
		return err
	}
	_, o, err := c.Find(ctx, name, overview.Application)
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
		return fmt.Errorf("%s has no driver (%s): only a driver that runs serves a UI", name, o.StateName())
	case driver.Status.Phase != corev1.PodRunning:
		return fmt.Errorf("the driver Pod %s does not run (%s): %s says why", driver.Name, driver.Status.Phase, c.Suggest("why", name))
	}
	port := uiPort(driver, o.Facts(u.Now(), pods, nil, "").Properties)
	return u.Run(ctx, u.Options, c.REST, tunnel.Target{Pod: driver, What: "driver", Port: port})
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
