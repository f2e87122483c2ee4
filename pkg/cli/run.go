package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Program returns the name under which a process was started, from its first argument.
func Program(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// Run runs a command line and returns the exit code. It prints an error in one line.
func (o *Options) Run(ctx context.Context, root *cobra.Command, args []string) int {
	if o.Program == Completion {
		args = slices.Concat([]string{cobra.ShellCompRequestCmd}, args)
	}
	if o.Program == SparkSubmit {
		args = slices.Concat([]string{"submit"}, args)
	}
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // libraries log what they return as errors, too
	configure(root)
	root.SetArgs(args)
	root.SetIn(o.In)
	root.SetOut(o.Out)
	root.SetErr(o.ErrOut)
	called, err := root.ExecuteContextC(ctx)
	err = asUsage(err)
	var usage *UsageError
	if errors.As(err, &usage) && called != nil {
		usage.command = called.CommandPath()
	}
	var found *FoundError
	if err != nil && !errors.As(err, &found) {
		if line := o.oneLine(err); line != "" {
			fmt.Fprintf(o.ErrOut, "%s %s\n", o.Color(o.ErrOut, Bad, "error:"), line)
		}
	}
	return exitCode(err)
}

// configure makes a command and its subcommands return errors and not print them. Errors about flags, arguments and unknown verbs become usage
// errors.
func configure(command *cobra.Command) {
	command.SilenceErrors, command.SilenceUsage = true, true
	command.DisableFlagsInUseLine = true
	command.SetFlagErrorFunc(flagError)
	checkArguments := command.Args
	if command.HasSubCommands() && command.RunE == nil && command.Run == nil {
		command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
		checkArguments = unknownVerb
	}
	command.Args = func(command *cobra.Command, args []string) error {
		if checkArguments == nil {
			checkArguments = cobra.ArbitraryArgs
		}
		if err := pasted(command, args); err != nil {
			return err
		}
		err := checkArguments(command, args)
		var usage *UsageError
		if err != nil && !errors.As(err, &usage) {
			return Usage("%v", err)
		}
		return err
	}
	for _, below := range command.Commands() {
		configure(below)
	}
}

// unknownVerb returns an error for an unknown verb. It names the verb that is probably meant.
func unknownVerb(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	verbs := map[string]string{}
	for _, below := range command.Commands() {
		for _, name := range slices.Concat([]string{below.Name()}, below.Aliases, below.SuggestFor) {
			if below.IsAvailableCommand() {
				verbs[name] = below.Name()
			}
		}
	}
	if similar := finding.SimilarName(slices.Collect(maps.Keys(verbs)), args[0]); similar != "" {
		return Usage("%q is no command of %s: did you mean %s?", args[0], command.CommandPath(), verbs[similar])
	}
	return Usage("%q is no command of %s", args[0], command.CommandPath())
}

// One is for the field Args of commands that take the name of one object.
func One(noun string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return Usage("the name of the %s is missing", noun)
		case len(args) > 1:
			return Usage("one %s is expected, and %s are given%s", noun, strings.Join(args, ", "), expanded(args))
		default:
			return nil
		}
	}
}

// expanded returns the remedy for arguments that a shell has probably put in the place of a *.
func expanded(args []string) string {
	const few = 3 // of which no user writes the names by chance
	files := slices.IndexFunc(args, func(name string) bool {
		_, err := os.Lstat(name)
		return err != nil
	})
	if files >= 0 && files < few || len(args) < few {
		return ""
	}
	return ": they are files of this folder, which the shell puts in the place of *, so write what has a * in quotes"
}

// None is for the field Args of commands that take no arguments.
func None(command *cobra.Command, args []string) error {
	if len(args) > 0 && command.Flags().Lookup("filename") != nil {
		return Usage("%q is not expected: write -f %s for a file", args[0], args[0])
	}
	if len(args) > 0 {
		return Usage("%q is not expected: only flags are", args[0])
	}
	return nil
}
