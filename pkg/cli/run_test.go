package cli_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// run runs a command line of a root with a command that returns an error, and returns the exit code and what is printed.
func run(t *testing.T, program string, failure error, args ...string) (code int, out, errOut string) {
	t.Helper()
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(program, streams)
	root := &cobra.Command{Use: "kubectl-spark", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"}}
	var dryRun cli.DryRun
	var output cli.Output
	get := &cobra.Command{Use: "get NAME", Short: "Get one", Args: cli.One("application"), RunE: func(*cobra.Command, []string) error {
		if err := output.Check(); err != nil {
			return err
		}
		return failure
	}}
	get.SuggestFor = []string{"fetch"}
	get.Flags().Int("tail", 0, "")
	get.Flags().Duration("since", 0, "")
	get.Flags().Bool("all", false, "")
	dryRun.AddFlag(get)
	output.AddFlag(get, "wide")
	group := &cobra.Command{Use: "schedule", Short: "Schedules"}
	group.AddCommand(&cobra.Command{Use: "list", Args: cli.None, RunE: func(*cobra.Command, []string) error { return failure }})
	root.AddCommand(get, group)
	code = o.Run(t.Context(), root, args)
	return code, stdout.String(), stderr.String()
}

func TestErrorsAreOneLineWithACodeAndARemedy(t *testing.T) {
	applications := schema.GroupResource{Group: "spark.apache.org", Resource: "sparkapplications"}
	for name, test := range map[string]struct {
		failure error
		args    []string
		code    int
		want    string
	}{
		"none":                    {nil, []string{"get", "pi"}, 0, ""},
		"of a command":            {errors.New("broken:\n\tfirst\n\tsecond"), []string{"get", "pi"}, 1, "error: broken:; first; second\n"},
		"with a secret":           {errors.New("password=hunter2222 is wrong"), []string{"get", "pi"}, 1, "error: password=*********(redacted) is wrong\n"},
		"a failed application":    {cli.ApplicationFailed("pi failed"), []string{"get", "pi"}, 3, "error: pi failed\n"},
		"what is printed already": {&cli.FoundError{}, []string{"get", "pi"}, 1, ""},
		"Ctrl-C":                  {fmt.Errorf("wait: %w", context.Canceled), []string{"get", "pi"}, 130, "error: interrupted: wait\n"},
		"no name":                 {nil, []string{"get"}, 2, "error: the name of the application is missing (kubectl spark get --help shows the usage)\n"},
		"two names":               {nil, []string{"get", "a", "b"}, 2, "error: one application is expected, and a, b are given (kubectl spark get --help"},
		"an unknown flag":         {nil, []string{"get", "pi", "--colour"}, 2, "error: unknown flag: --colour (kubectl spark get --help"},
		"an unknown verb":         {nil, []string{"gte"}, 2, `error: "gte" is no command of kubectl spark: did you mean get? (kubectl spark --help`},
		"another name of a verb":  {nil, []string{"fetch"}, 2, `error: "fetch" is no command of kubectl spark: did you mean get? (kubectl spark --help`},
		"one with a flag":         {nil, []string{"fetch", "-x", "pi"}, 2, `error: "fetch" is no command of kubectl spark: did you mean get? (kubectl spark --help`},
		"no verb at all":          {nil, []string{"xyzzy"}, 2, `error: "xyzzy" is no command of kubectl spark (kubectl spark --help`},
		"a misspelt flag":         {nil, []string{"get", "pi", "--ouptut=json"}, 2, "error: unknown flag: --ouptut: did you mean --output? (kubectl spark get --help"},
		"a flag with no number":   {nil, []string{"get", "pi", "--tail=abc"}, 2, `error: --tail "abc" is no whole number: write one such as 2 (kubectl`},
		"a flag with no time":     {nil, []string{"get", "pi", "--since=5"}, 2, `error: --since "5" is no duration: write one such as 30s, 5m or 1h (kubectl`},
		"a flag with no switch":   {nil, []string{"get", "pi", "--all=maybe"}, 2, `error: --all "maybe" is neither true nor false: write one of them (kubectl`},
		"a pasted dash":           {nil, []string{"get", "pi", "–output=json"}, 2, "error: –output begins with a typographic dash (–): write --output (kubectl"},
		"what a shell expanded":   {nil, []string{"get", "doc.go", "run.go", "run_test.go"}, 2, "error: one application is expected, and doc.go, run.go, run_test.go are given: they are files of this folder"},
		"one below a verb":        {nil, []string{"schedule", "pause"}, 2, `error: "pause" is no command of kubectl spark schedule (kubectl spark schedule --help`},
		"arguments too many":      {nil, []string{"schedule", "list", "x"}, 2, `error: "x" is not expected: only flags are (kubectl spark schedule list --help`},
		"a bad dry run":           {nil, []string{"get", "pi", "--dry-run=maybe"}, 2, `error: --dry-run "maybe" cannot be read: write none, client or server (kubectl`},
		"an unknown format":       {nil, []string{"get", "pi", "-o", "xml"}, 2, "error: -o xml is no format: write one of json, yaml, name, wide, jsonpath=TEMPLATE (kubectl"},
		"a broken template":       {nil, []string{"get", "pi", "-o", "jsonpath={.x"}, 2, "is no template"},
		"no right": {
			apierrors.NewForbidden(applications, "pi", errors.New(`User "a" cannot get`)), []string{"get", "pi"}, 1,
			`error: sparkapplications.spark.apache.org "pi" is forbidden: User "a" cannot get: ask for the right, or choose another user by --context`,
		},
		"no log-in": {apierrors.NewUnauthorized("who are you"), []string{"get", "pi"}, 1, "error: the API server does not accept your credentials (who are you): log in again"},
		"no such kind": {
			&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "spark.apache.org", Kind: "SparkApplication"}}, []string{"get", "pi"}, 1,
			"the CustomResourceDefinition is not in this cluster, so apply it",
		},
		"no such object": {apierrors.NewNotFound(applications, "pi"), []string{"get", "pi"}, 1, `error: sparkapplications.spark.apache.org "pi" not found` + "\n"},
	} {
		code, _, printed := run(t, cli.Plugin, test.failure, test.args...)
		if code != test.code || !strings.HasPrefix(printed, test.want) && (test.want == "" || !strings.Contains(printed, test.want)) || strings.Count(printed, "\n") > 1 {
			t.Errorf("%s: it exits with %d and %q, want %d and %q", name, code, printed, test.code, test.want)
		}
	}
}

func TestAConnectionThatIsMissingIsExplained(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/absent")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("HOME", t.TempDir())
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	if _, err := o.Dynamic(); err == nil || clientcmd.IsEmptyConfig(err) || !strings.Contains(err.Error(), "set KUBECONFIG") {
		t.Errorf("without a kubeconfig the error is %v", err)
	}
}

func TestKubectlCompletesCommandLines(t *testing.T) {
	code, out, _ := run(t, cli.Completion, nil, "sch")
	if code != 0 || !strings.Contains(out, "schedule\tSchedules\n") {
		t.Errorf("it exits with %d and prints %q", code, out)
	}
	if _, out, _ := run(t, cli.Completion, nil, "get", "pi", "--dry-run="); !strings.Contains(out, "client\n") {
		t.Errorf("the values of a flag are %q", out)
	}
}

func TestHelpIsShownWithoutAVerb(t *testing.T) {
	code, out, errOut := run(t, cli.Plugin, nil)
	if code != 0 || errOut != "" || !strings.Contains(out, "kubectl spark [command]") {
		t.Errorf("it exits with %d and prints %q and %q", code, out, errOut)
	}
}

func TestWhatATerminalDoesNotPrintIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain: é 漢 \"quoted\" it's": "plain: é 漢 \"quoted\" it's", "\x1b[2J": `\x1b[2J`, "a\nb\tc\r": `a\nb\tc\r`, "\u202e\u200b\ufeff": `\u202e\u200b\ufeff`, "\xff\u009b": `\xff\u009b`,
	} {
		if got := cli.Printable(text); got != want {
			t.Errorf("%q is printed as %q", text, got)
		}
	}
	_, _, printed := run(t, cli.Plugin, errors.New("bad \x1b[31m\u202ename"), "get", "pi")
	if want := `error: bad \x1b[31m\u202ename` + "\n"; printed != want {
		t.Errorf("an error is printed as %q", printed)
	}
}

func TestObjectsArePrintedAsKubectlPrintsThem(t *testing.T) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "pi", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}},
	}
	for format, want := range map[string]string{
		"name": "pod/pi\n", "yaml": "  name: pi\n", "json": `"name": "pi"`, "jsonpath={.metadata.name}": "pi", "jsonpath=metadata.name": "pi", "jsonpath={.spec.none}": "",
	} {
		var output cli.Output
		command := &cobra.Command{}
		output.AddFlag(command)
		if err := command.ParseFlags([]string{"-o", format}); err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		if err := output.Print(pod.DeepCopy(), &printed); err != nil || !strings.Contains(printed.String(), want) || strings.Contains(printed.String(), "kubectl") {
			t.Errorf("%s: %v, %q", format, err, printed.String())
		}
	}
}

func TestColoursAreForTerminalsOnly(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	if got := o.Color(o.Out, cli.Bad, "failed"); got != "failed" {
		t.Errorf("it is %q", got)
	}
}

func TestTheProgramIsKnownByItsName(t *testing.T) {
	for path, want := range map[string]string{"/usr/bin/kubectl-spark": cli.Plugin, "./kubectl_complete-spark": cli.Completion, "spark-submit.exe": cli.SparkSubmit} {
		if got := cli.Program(path); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
}
