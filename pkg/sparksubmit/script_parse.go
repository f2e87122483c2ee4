package sparksubmit

import (
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// Parse reads the command line of a script. What only the run of the script knows cannot be read: dropped are the expansions and the ellipses that stand
// in the place of options, and are left out.
func (c *Command) Parse() (line *CommandLine, dropped []string, err error) {
	arguments := slices.Clone(c.Arguments)
	for i := 1; i < len(arguments); i++ {
		if arguments[i-1] == optionDeployMode && slices.Contains(c.Unknown, arguments[i]) {
			arguments[i] = "cluster" // as all that is converted
		}
	}
	for {
		line, err = Parse(arguments, nil)
		if err != nil || line.Action != Submit || line.Resource == "" {
			return line, dropped, err
		}
		at := len(arguments) - len(line.Arguments) - 1
		if at < 0 || arguments[at] != line.Resource || !c.standsForOptions(line.Resource, line.Arguments) {
			return line, dropped, nil
		}
		dropped = append(dropped, line.Resource)
		arguments = slices.Delete(arguments, at, at+1)
	}
}

// standsForOptions reports whether an argument in the place of the application file is probably not one, but stands for options. rest are those after it.
func (c *Command) standsForOptions(argument string, rest []string) bool {
	if argument == "..." {
		return true
	}
	if !slices.Contains(c.Several, argument) {
		return false
	}
	return isList(argument) || len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || isApplication().MatchString(rest[0]) || isList(rest[0]))
}

// isList reports whether an expansion is of all elements of an array, or of all arguments of the script.
func isList(expansion string) bool {
	return strings.HasSuffix(expansion, "[@]}") || expansion == "$@" || expansion == "$*"
}

// isApplication matches what is certainly an application file, and no argument of an application.
var isApplication = lazy.Regexp(`^(local|file|s3a?|gs|abfss?|hdfs|https?)://|\.(jar|py|[rR])$`)

// IsOfPlace reports whether an expansion says only where the application runs, and not what it is.
func (c *Command) IsOfPlace(expansion string) bool {
	for i, argument := range c.Arguments {
		isOption := i > 0 && (c.Arguments[i-1] == optionMaster || c.Arguments[i-1] == optionDeployMode)
		isPlace := isOption || slices.ContainsFunc([]string{optionMaster, optionDeployMode, MasterKey}, func(name string) bool { return strings.HasPrefix(argument, name+"=") })
		if strings.Contains(argument, expansion) && !isPlace {
			return false
		}
	}
	return true
}

// LineOf returns the line of an option, of an option with the key of its property, or of another text of the command line.
func (c *Command) LineOf(option string) int {
	name, key, ofProperty := strings.Cut(option, " ")
	at := slices.IndexFunc(c.Arguments, func(argument string) bool {
		if ofProperty && name == optionConf {
			return strings.HasPrefix(strings.TrimPrefix(argument, optionConf+"="), key+"=")
		}
		return argument == option || strings.HasPrefix(argument, option+"=")
	})
	if at < 0 && option != "" {
		at = slices.IndexFunc(c.Arguments, func(argument string) bool { return strings.Contains(argument, option) })
	}
	if at < 0 {
		return c.Line
	}
	return c.Lines[at]
}
