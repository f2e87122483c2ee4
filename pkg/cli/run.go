package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
	if err != nil && !errors.As(err, &found) && err != context.Canceled { //nolint:errorlint // a wrapped one names what was interrupted
		fmt.Fprintf(o.ErrOut, "%s %s\n", o.Color(o.ErrOut, Bad, "error:"), oneLine(err))
	}
	return exitCode(err)
}

// configure makes a command and its subcommands return errors and not print them. Errors about flags, arguments and unknown verbs become usage
// errors.
func configure(command *cobra.Command) {
	command.SilenceErrors, command.SilenceUsage = true, true
	command.DisableFlagsInUseLine = true
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usage("%v", err) })
	checkArguments := command.Args
	if command.HasSubCommands() && command.RunE == nil && command.Run == nil {
		command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
		checkArguments = unknownVerb
	}
	command.Args = func(command *cobra.Command, args []string) error {
		if checkArguments == nil {
			checkArguments = cobra.ArbitraryArgs
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

// unknownVerb returns an error for an unknown verb. It names similar verbs.
func unknownVerb(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if command.SuggestionsMinimumDistance <= 0 {
		command.SuggestionsMinimumDistance = 2
	}
	if similar := command.SuggestionsFor(args[0]); len(similar) > 0 {
		return Usage("%q is no command of %s: did you mean %s?", args[0], command.CommandPath(), strings.Join(similar, " or "))
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
			return Usage("one %s is expected, and %s are given", noun, strings.Join(args, ", "))
		default:
			return nil
		}
	}
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
