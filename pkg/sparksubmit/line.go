package sparksubmit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// ClusterMaster is the master that a Pod of a cluster can reach.
const ClusterMaster = "k8s://https://kubernetes.default.svc"

// Files are the names of the files with pod templates, which a command line cannot hold itself.
type Files struct{ DriverTemplate, ExecutorTemplate string }

// Line returns the arguments of spark-submit for a submission. Each group is an option with its value; the last one is the application file with its
// arguments. Parse and Resolve make the same submission of them.
func (s *Submission) Line(files Files) [][]string {
	master := ClusterMaster
	if url := s.Client[MasterKey]; url != "" {
		master = "k8s://" + url
	}
	groups := [][]string{{optionMaster, master}, {optionDeployMode, "cluster"}}
	add := func(option, value string) {
		if value != "" {
			groups = append(groups, []string{option, value})
		}
	}
	if s.Named {
		add(optionName, s.Name)
	}
	add(optionClass, s.MainClass)
	add(optionProxyUser, s.ProxyUser)
	conf := s.submitted(files)
	for _, option := range Options {
		if value := conf[option.Property]; option.Property != "" && value != "" {
			add(option.Name, value)
			delete(conf, option.Property)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		add(optionConf, key+"="+conf[key])
	}
	return append(groups, append([]string{s.Resource}, s.Arguments...))
}

// submitted returns the properties for options and --conf.
func (s *Submission) submitted(files Files) map[string]string {
	conf := maps.Clone(s.Properties)
	for key, value := range s.Client {
		if key != MasterKey {
			conf[key] = value
		}
	}
	if s.Namespace != "" {
		conf[NamespaceKey] = s.Namespace
	}
	for key, template := range map[string]struct {
		given *corev1.PodTemplateSpec
		file  string
	}{
		driverTemplateKey:   {s.DriverTemplate, files.DriverTemplate},
		executorTemplateKey: {s.ExecutorTemplate, files.ExecutorTemplate},
	} {
		if template.given != nil {
			conf[key] = template.file
		}
	}
	return conf
}

// Shell returns a command line for a POSIX shell, with a line for each group. Control and format characters are escaped in $'...', which bash, ksh and
// zsh know.
func Shell(command string, groups [][]string) string {
	lines := []string{command}
	for _, group := range groups {
		var quoted []string
		for _, argument := range group {
			quoted = append(quoted, quote(argument))
		}
		lines = append(lines, strings.Join(quoted, " "))
	}
	return strings.Join(lines, " \\\n  ")
}

// plain matches an argument that needs no quotes.
var plain = lazy.Regexp(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quote(argument string) string {
	switch {
	case plain().MatchString(argument):
		return argument
	case strings.ContainsFunc(argument, isUnprintable):
		return "$'" + escaped(argument) + "'"
	default:
		return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
	}
}

// isUnprintable reports whether a terminal would not print a character. This is so for bytes that are no UTF-8, too.
func isUnprintable(letter rune) bool { return letter == utf8.RuneError || !strconv.IsPrint(letter) }

// escaped returns a text for $'...'. Bytes that a terminal would not print are octal numbers: these have a fixed length.
func escaped(text string) string {
	var printed strings.Builder
	for at, size := 0, 0; at < len(text); at += size {
		var letter rune
		letter, size = utf8.DecodeRuneInString(text[at:])
		switch {
		case letter == '\n':
			printed.WriteString(`\n`)
		case letter == '\t':
			printed.WriteString(`\t`)
		case letter == '\'' || letter == '\\':
			printed.WriteString(`\` + string(letter))
		case isUnprintable(letter):
			for _, octet := range []byte(text[at : at+size]) {
				fmt.Fprintf(&printed, `\%03o`, octet)
			}
		default:
			printed.WriteRune(letter)
		}
	}
	return printed.String()
}
