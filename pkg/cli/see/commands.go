package see

import (
	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// Commands returns the verbs.
func Commands(o *cli.Options) []*cobra.Command {
	return commands(&verbs{Options: o, connect: func() (*cluster, error) { return connect(o) }})
}

// verbs is what all verbs use.
type verbs struct {
	*cli.Options
	// connect returns the clients. Tests have their own.
	connect func() (*cluster, error)
}

func commands(v *verbs) []*cobra.Command {
	return []*cobra.Command{
		v.listCommand(), v.getCommand(), v.whyCommand(), v.eventsCommand(), v.logsCommand(), v.uiCommand(), v.topCommand(), v.usageCommand(),
	}
}
