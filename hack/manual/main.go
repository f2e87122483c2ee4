// Command manual writes the pages about kubectl spark from its commands: docs/users/cli.md, man pages and completions.
//
// With -check it only compares docs/users/cli.md. Run it in the module's root.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
)

const page = "docs/users/cli.md"

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if "+page+" is out of date")
	man := flag.String("man", "", "write man pages into this folder, and not the page")
	completion := flag.String("completion", "", "write completions of shells into this folder, and not the page")
	flag.Parse()
	if err := run(*check, *man, *completion); err != nil {
		log.Fatalf("manual: %v", err)
	}
}

func run(check bool, man, completion string) error {
	commands := newRoot(cli.Plugin)
	if man != "" || completion != "" {
		return errors.Join(writeMan(man, commands, newRoot(cli.Sparkctl)), writeCompletion(commands, completion))
	}
	text, err := render(commands)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(page, text, 0o644)
	}
	if current, err := os.ReadFile(page); err != nil || !bytes.Equal(current, text) {
		return errors.Join(err, fmt.Errorf("%s is out of date: run make generate", page))
	}
	return nil
}

// writeMan writes a page for each command. It leaves out the date, which would be that of the build.
func writeMan(folder string, programs ...*cobra.Command) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	never := time.Time{}
	for _, program := range programs {
		header := doc.GenManHeader{Title: strings.ToUpper(program.Name()), Section: "1", Source: "Firesteel " + version.String(), Date: &never}
		if err := doc.GenManTree(program, &header, folder); err != nil {
			return err
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, bytes.Replace(text, []byte(never.Format(`"Jan 2006"`)), []byte(`""`), 1), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeCompletion writes the scripts with which shells complete the command lines of kubectl-spark itself.
func writeCompletion(commands *cobra.Command, folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	named := func(name string) string { return filepath.Join(folder, cli.Plugin+"."+name) }
	return errors.Join(
		commands.GenBashCompletionFileV2(named("bash"), true), commands.GenZshCompletionFile(named("zsh")),
		commands.GenFishCompletionFile(named("fish"), true), commands.GenPowerShellCompletionFileWithDesc(named("ps1")),
	)
}

// newRoot returns the commands of a program without what differs between machines.
func newRoot(program string) *cobra.Command {
	commands := root.New(cli.NewOptions(program, genericiooptions.NewTestIOStreamsDiscard()))
	commands.PersistentFlags().Lookup("cache-dir").DefValue = "$HOME/.kube/cache"
	commands.DisableAutoGenTag = true
	commands.InitDefaultHelpCmd()
	commands.InitDefaultCompletionCmd()
	return commands
}

//go:embed cli.md.tmpl
var pageTemplate string

// verb is a command as the page shows it.
type verb struct {
	Name, Short, Usage, Long, Examples string
	Flags                              []option
}

// option is a flag as the page shows it.
type option struct{ Name, Default, Usage string }

// group is a group of verbs.
type group struct {
	Title string
	Verbs []verb
}

func render(commands *cobra.Command) ([]byte, error) {
	parsed, err := template.New(page).Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, each := range commands.Groups() {
		shown := group{Title: strings.TrimSuffix(each.Title, ":")}
		for _, command := range commands.Commands() {
			if command.GroupID == each.ID {
				shown.Verbs = append(shown.Verbs, verbs(command)...)
			}
		}
		groups = append(groups, shown)
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, struct {
		Groups   []group
		Common   []option
		Sparkctl []verb
	}{groups, options(commands.PersistentFlags()), verbs(newRoot(cli.Sparkctl))})
	return text.Bytes(), err
}

// verbs returns a command and those below it. One that only groups others is left out.
func verbs(command *cobra.Command) []verb {
	var all []verb
	if command.Runnable() {
		all = append(all, verb{
			Name: command.CommandPath(), Short: command.Short, Usage: command.UseLine(), Long: strings.TrimSpace(command.Long),
			Examples: unindented(command.Example), Flags: options(command.NonInheritedFlags()),
		})
	}
	for _, below := range command.Commands() {
		all = append(all, verbs(below)...)
	}
	return all
}

// unindented returns an example without the indent of help texts.
func unindented(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func options(flags *pflag.FlagSet) []option {
	var all []option
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		shown := option{Name: "--" + flag.Name, Usage: strings.ReplaceAll(flag.Usage, "|", `\|`)}
		if flag.Shorthand != "" {
			shown.Name = "-" + flag.Shorthand + ", " + shown.Name
		}
		switch flag.DefValue {
		case "", "[]", "false", "0":
		default:
			shown.Default = "`" + flag.DefValue + "`"
		}
		all = append(all, shown)
	})
	return all
}
