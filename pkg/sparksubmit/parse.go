package sparksubmit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// MaxBytes bounds a command line, each file that it names, and the properties of all: the API server takes no larger objects.
const MaxBytes = 1 << 20

// Action is what a command line asks for.
type Action int

// What a command line can ask for.
const (
	Submit Action = iota
	Kill
	Status
	PrintVersion
	PrintHelp
	// PrintUsage is help because of an error.
	PrintUsage
)

func (a Action) String() string {
	return [...]string{"SUBMIT", "KILL", "REQUEST_STATUS", "PRINT_VERSION", "HELP", "USAGE_ERROR"}[a]
}

// CommandLine is a command line of spark-submit as it is written.
type CommandLine struct {
	Action Action
	// SubmissionID is the one that --kill or --status names.
	SubmissionID string
	// Verbose is --verbose.
	Verbose bool
	// Resource is the application file; empty if none is named.
	Resource string
	// Arguments are those of the application.
	Arguments []string

	// options are the values by the name of their option. A later one wins.
	options map[string]string
	// conf are the properties of --conf. A later one wins.
	conf                 map[string]string
	extraPropertiesFiles []string
}

// Empty reports whether the command line has no option of spark-submit and no application file.
func (c *CommandLine) Empty() bool {
	return c.Action == Submit && c.Resource == "" && len(c.options) == 0 && len(c.conf) == 0 && len(c.extraPropertiesFiles) == 0
}

// Foreign handles an option that is not spark-submit's: the first of the arguments. taken is the number of arguments that belong to the option; 0 if
// it is unknown.
type Foreign func(arguments []string) (taken int, err error)

// equalsForm matches an option with its value in one argument.
var equalsForm = lazy.Regexp(`(?s)^(--[^=]+)=(.+)$`)

// mixing are the classes whose arguments may stand between options of spark-submit.
var mixing = map[string]bool{
	"org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver": true,
	"org.apache.spark.sql.hive.thriftserver.HiveThriftServer2": true,
}

// Parse reads arguments of spark-submit. The first one that is no option is the application file, and the rest are the application's arguments.
// foreign may be nil.
func Parse(arguments []string, foreign Foreign) (*CommandLine, error) {
	if err := bounded(arguments); err != nil {
		return nil, err
	}
	c := &CommandLine{options: map[string]string{}, conf: map[string]string{}}
	for len(arguments) > 0 && c.Action != PrintVersion {
		taken, err := c.option(arguments, foreign)
		if err != nil {
			return nil, err
		}
		switch {
		case taken > 0:
			arguments = arguments[taken:]
		case mixing[c.options[optionClass]] && arguments[0] != submission.NoResource:
			c.Resource = submission.NoResource
			c.Arguments = append(c.Arguments, arguments[0])
			arguments = arguments[1:]
		case strings.HasPrefix(arguments[0], "-"):
			name, _ := split(arguments[0])
			return nil, unrecognized(name)
		case text.Pasted(arguments[0]) != "":
			return nil, errors.New(redact.Text(text.Pasted(arguments[0])))
		default:
			c.Resource = arguments[0]
			c.Arguments = append(c.Arguments, arguments[1:]...)
			arguments = nil
		}
	}
	if c.Resource == "" && mixing[c.options[optionClass]] {
		c.Resource = submission.NoResource
	}
	return c, nil
}

// unrecognized returns the error for an unknown option. It names a similar one.
func unrecognized(name string) error {
	names := make([]string, len(Options))
	for i, option := range Options {
		names[i] = option.Name
	}
	if similar := finding.SimilarName(names, name); similar != "" && strings.HasPrefix(name, "--") {
		return fmt.Errorf("unrecognized option: %s: did you mean %s?", shown(name), similar)
	}
	return fmt.Errorf("unrecognized option: %s", shown(name))
}

func bounded(arguments []string) error {
	size := 0
	for _, argument := range arguments {
		size += len(argument) + 1
	}
	if size > MaxBytes {
		return fmt.Errorf("the command line has %d bytes, and an application can hold %d: write properties or arguments into a file", size, MaxBytes)
	}
	return nil
}

// split divides --option=value.
func split(argument string) (name, value string) {
	if parts := equalsForm().FindStringSubmatch(argument); parts != nil {
		return parts[1], parts[2]
	}
	return argument, ""
}

// option reads the option with which arguments begin. taken is 0 if they do not begin with an option.
func (c *CommandLine) option(arguments []string, foreign Foreign) (taken int, err error) {
	name, value := split(arguments[0])
	option, known := optionOf(name)
	switch {
	case !known && foreign != nil && len(name) > 1 && strings.HasPrefix(name, "-"):
		return foreign(arguments)
	case !known:
		return 0, nil
	case option.Value == "":
		return 1, c.handle(option.Name, "")
	case value != "":
		return 1, c.handle(option.Name, value)
	case len(arguments) == 1:
		return 0, fmt.Errorf("missing argument for option '%s'", name)
	default:
		return 2, c.handle(option.Name, arguments[1])
	}
}

func (c *CommandLine) handle(name, value string) error {
	switch name {
	case optionConf:
		return c.setProperty(value)
	case optionExtraPropertiesFile:
		c.extraPropertiesFiles = append(c.extraPropertiesFiles, value)
	case optionDeployMode:
		if value != "client" && value != "cluster" {
			return fmt.Errorf(`--deploy-mode must be either "client" or "cluster", not %q`, text.Clip(value, maxShown))
		}
	case optionKill:
		return c.manage(Kill, value)
	case optionStatus:
		return c.manage(Status, value)
	case optionVersion:
		c.Action = PrintVersion
	case optionHelp:
		c.Action = PrintHelp
	case optionUsageError:
		c.Action = PrintUsage
	case optionVerbose:
		c.Verbose = true
	}
	c.options[name] = value
	return nil
}

func (c *CommandLine) setProperty(pair string) error {
	key, value, found := strings.Cut(pair, "=")
	if problem := text.Pasted(key); problem != "" {
		return fmt.Errorf("--conf %s", problem)
	}
	if !found {
		return fmt.Errorf("invalid argument to --conf: %s: write PROPERTY=VALUE", shown(pair))
	}
	c.conf[key] = value
	return nil
}

func (c *CommandLine) manage(action Action, id string) error {
	switch {
	case c.Action != Submit && c.Action != PrintHelp && c.Action != PrintUsage:
		return fmt.Errorf("action cannot be both %s and %s: write one of --kill and --status, once", c.Action, action)
	case id == "":
		return fmt.Errorf("the submission ID is empty: write NAMESPACE:NAME, with the name of the application or of its driver Pod")
	}
	c.Action, c.SubmissionID = action, id
	return nil
}

const maxShown = 128

// shown returns an argument for an error message, redacted and clipped.
func shown(argument string) string { return redact.Text(text.Clip(argument, maxShown)) }
