package root_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
)

func TestEachVerbExplainsItself(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	var walk func(command *cobra.Command)
	walk = func(command *cobra.Command) {
		if command.Short == "" || strings.HasSuffix(command.Short, ".") || command.Short != strings.TrimSpace(command.Short) {
			t.Errorf("%s: its short text is %q", command.CommandPath(), command.Short)
		}
		for _, below := range command.Commands() {
			if command.HasParent() == (below.GroupID != "") && below.Name() != "version" && below.Name() != "help" && below.Name() != "completion" {
				t.Errorf("%s is in the group %q", below.CommandPath(), below.GroupID)
			}
			walk(below)
		}
	}
	walk(root.New(cli.NewOptions(cli.Plugin, streams)))
}

func TestTheConnectionFlagsAreKubectls(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	flags := root.New(cli.NewOptions(cli.Plugin, streams)).PersistentFlags()
	for _, name := range []string{"kubeconfig", "context", "namespace", "cluster", "user", "as", "as-group", "token", "server", "request-timeout"} {
		if flags.Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		o := cli.NewOptions(cli.Plugin, streams)
		if code := o.Run(t.Context(), root.New(o), args); code != 0 || strings.TrimSpace(out.String()) == "" {
			t.Errorf("%q exits with %d and prints %q", args, code, out)
		}
	}
}
