package console_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/console"
)

func TestBadFlagsAreUsageErrors(t *testing.T) {
	for want, args := range map[string]string{
		"--port 70000 is no port":                  "--port 70000",
		"--spark-ui-port -1 is no port":            "--spark-ui-port -1",
		"--port and --spark-ui-port are both 80: ": "--port 80 --spark-ui-port 80",
		`"team-a" is not expected: only flags are`: "team-a",
		"unknown flag: --address":                  "--address 0.0.0.0",
	} {
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		o := cli.NewOptions(cli.Plugin, streams)
		root := &cobra.Command{Use: cli.Plugin}
		root.AddCommand(console.Commands(o)...)
		code := o.Run(t.Context(), root, append([]string{"console"}, strings.Fields(args)...))
		if code != 2 || !strings.Contains(errOut.String(), want) || strings.Count(errOut.String(), "\n") != 1 {
			t.Errorf("%s: %d %q, want %q", args, code, errOut, want)
		}
	}
}
