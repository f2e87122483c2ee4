package offline

import (
	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// Commands returns the verbs of this package.
func Commands(o *cli.Options) []*cobra.Command {
	return []*cobra.Command{planCommand(o), lintCommand(o), convertCommand(o)}
}
