package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// flagError returns the error about a flag as a usage error. It names the flag that is probably meant, or what to write as its value.
func flagError(command *cobra.Command, err error) error {
	if command.HasSubCommands() && len(command.Flags().Args()) > 0 { // the flags are those of an unknown verb
		return unknownVerb(command, command.Flags().Args())
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		command.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if similar := finding.SimilarName(names, unknown.GetSpecifiedName()); similar != "" {
			return Usage("%v: did you mean --%s?", err, similar)
		}
	}
	return Usage("%v", FlagValue(err))
}

// wantedValues are the remedies for values of flags, by the types of the flags.
var wantedValues = map[string]string{
	"int": "is no whole number: write one such as 2", "int64": "is no whole number: write one such as 2",
	"bool": "is neither true nor false: write one of them", "duration": "is no duration: write one such as 30s, 5m or 1h",
}

// FlagValue returns the error about the value of a flag with the remedy. It returns any other error as it is.
func FlagValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag, value := invalid.GetFlag(), text.Clip(invalid.GetValue(), maxShownValue)
	if wanted, known := wantedValues[flag.Value.Type()]; known {
		return fmt.Errorf("--%s %q %s", flag.Name, value, wanted)
	}
	return fmt.Errorf("--%s %q cannot be read: %w", flag.Name, value, invalid.Unwrap())
}

// maxShownValue bounds the value of a flag in a message.
const maxShownValue = 128

// pasted returns a usage error if an argument of a command begins with a typographic dash or quote.
func pasted(command *cobra.Command, args []string) error {
	if command.DisableFlagParsing { // some are another program's
		return nil
	}
	for _, argument := range args {
		if problem := text.Pasted(argument); problem != "" {
			return Usage("%s", problem)
		}
	}
	return nil
}
