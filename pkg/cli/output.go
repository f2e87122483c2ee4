package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
)

// Output is the flag -o.
type Output struct {
	format string
	own    []string
}

const jsonPath = "jsonpath="

// formats are the formats of each command with -o.
var formats = []string{"json", "yaml", "name"}

// AddFlag adds the flag -o to a command. own are further formats, such as wide. The command prints these and the empty format itself.
func (f *Output) AddFlag(command *cobra.Command, own ...string) {
	f.own = own
	all := slices.Concat(formats, own)
	command.Flags().StringVarP(&f.format, "output", "o", "", "Format: "+strings.Join(all, ", ")+" or jsonpath=TEMPLATE.")
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// Format returns the value of -o.
func (f *Output) Format() string { return f.format }

// Own reports whether the command prints the format itself, and must not call Print.
func (f *Output) Own() bool { return f.format == "" || slices.Contains(f.own, f.format) }

// Check returns a usage error if the format is unknown. A command calls it before it does anything.
func (f *Output) Check() error {
	if f.Own() {
		return nil
	}
	_, err := f.printer()
	return err
}

// Print prints an object. Managed fields are left out.
func (f *Output) Print(object runtime.Object, out io.Writer) error {
	printer, err := f.printer()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, out)
}

func (f *Output) printer() (printers.ResourcePrinter, error) {
	var printer printers.ResourcePrinter
	template, isPath := strings.CutPrefix(f.format, jsonPath)
	switch {
	case f.format == "json":
		printer = &printers.JSONPrinter{}
	case f.format == "yaml":
		printer = &printers.YAMLPrinter{}
	case f.format == "name":
		printer = &printers.NamePrinter{}
	case isPath:
		parsed, err := printers.NewJSONPathPrinter(relaxed(template))
		if err != nil {
			return nil, Usage("-o %s is no template (%v)", f.format, err)
		}
		parsed.AllowMissingKeys(true)
		printer = parsed
	default:
		return nil, Usage("-o %s is no format: write one of %s, jsonpath=TEMPLATE", f.format, strings.Join(slices.Concat(formats, f.own), ", "))
	}
	return &printers.OmitManagedFieldsPrinter{Delegate: printer}, nil
}

// relaxed adds the braces and the dot that kubectl lets users leave out.
func relaxed(template string) string {
	if template == "" || strings.ContainsAny(template, "{}") {
		return template
	}
	return "{." + strings.TrimPrefix(template, ".") + "}"
}

// Table returns a writer of columns, as kubectl aligns them. The caller flushes it.
func Table(out io.Writer) *tabwriter.Writer {
	const minimum, tab, padding = 6, 4, 3
	return tabwriter.NewWriter(out, minimum, tab, padding, ' ', 0)
}

// Suggestion returns a command line for messages. namespace is empty if it is that of the kubeconfig.
func Suggestion(verb, name, namespace string) string {
	line := "kubectl spark " + verb + " " + name
	if namespace != "" {
		line += " -n " + namespace
	}
	return line
}

// Warn prints a warning, as kubectl prints those of the API server.
func (o *Options) Warn(text string) {
	fmt.Fprintf(o.ErrOut, "%s %s\n", o.Color(o.ErrOut, Odd, "Warning:"), Printable(text))
}

// Printable returns a text as one line that a terminal prints as it is: control and format characters are escaped as in Go. What is printed about
// manifests holds names that anybody may have chosen.
func Printable(text string) string {
	var printed strings.Builder
	for at, size := 0, 0; at < len(text); at += size {
		var letter rune
		letter, size = utf8.DecodeRuneInString(text[at:])
		switch {
		case letter == utf8.RuneError && size == 1:
			fmt.Fprintf(&printed, `\x%02x`, text[at])
		case strconv.IsPrint(letter):
			printed.WriteRune(letter)
		default:
			printed.WriteString(strings.Trim(strconv.QuoteRune(letter), "'"))
		}
	}
	return printed.String()
}
