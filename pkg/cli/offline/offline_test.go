package offline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// run runs a command line, and returns the exit code and what is printed.
func run(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	streams, in, stdout, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	o := cli.NewOptions(cli.Plugin, streams)
	o.Now = func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }
	code = o.Run(t.Context(), root.New(o), args)
	return code, stdout.String(), stderr.String()
}

// TestGoldenOutput keeps what the verbs print.
func TestGoldenOutput(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		code int
	}{
		"lint-text":                {[]string{"lint", "-f", "testdata/broken.yaml", "-f", "testdata/fine"}, 1},
		"lint-mistakes":            {[]string{"lint", "-f", "testdata/mistakes.yaml"}, 1},
		"lint-several":             {[]string{"lint", "-f", "testdata/several.yaml"}, 1},
		"lint-unquoted":            {[]string{"lint", "-f", "testdata/unquoted.yaml"}, 1},
		"lint-causes":              {[]string{"lint", "-f", "testdata/causes.yaml"}, 1},
		"lint-json":                {[]string{"lint", "-f", "testdata/broken.yaml", "-o", "json"}, 1},
		"lint-sarif":               {[]string{"lint", "-f", "testdata/broken.yaml", "-o", "sarif"}, 1},
		"lint-settings":            {[]string{"lint", "-f", "testdata/fine", "--settings", "testdata/settings.yaml"}, 1},
		"plan-apache":              {[]string{"plan", "-f", "testdata/fine/apache.yaml"}, 0},
		"plan-kubeflow-3.5":        {[]string{"plan", "-f", "testdata/fine/kubeflow.yaml", "--spark-version", "3.5.9", "-n", "team-b"}, 0},
		"plan-one-config-map":      {[]string{"plan", "-f", "testdata/fine/kubeflow.yaml", "-n", "team-b", "--settings", "testdata/one-config-map.yaml"}, 0},
		"plan-early":               {[]string{"plan", "-f", "testdata/fine/early.yaml"}, 0},
		"plan-cluster":             {[]string{"plan", "-f", "testdata/fine/cluster.yaml"}, 0},
		"plan-schedule":            {[]string{"plan", "-f", "testdata/fine/schedule.yaml", "-o", "name"}, 0},
		"plan-secrets":             {[]string{"plan", "-f", "testdata/secrets.yaml"}, 0},
		"plan-refused":             {[]string{"plan", "-f", "testdata/broken.yaml"}, 1},
		"convert-kubeflow-apache":  {[]string{"convert", "-f", "testdata/fine/kubeflow.yaml", "--to", "apache"}, 0},
		"convert-kubeflow-early":   {[]string{"convert", "-f", "testdata/fine/kubeflow.yaml", "--to", "early"}, 0},
		"convert-apache-kubeflow":  {[]string{"convert", "-f", "testdata/fine/apache.yaml", "--to", "kubeflow"}, 0},
		"convert-apache-early":     {[]string{"convert", "-f", "testdata/fine/apache.yaml", "--to", "early"}, 0},
		"convert-early-kubeflow":   {[]string{"convert", "-f", "testdata/fine/early.yaml", "--to", "kubeflow"}, 0},
		"convert-early-apache":     {[]string{"convert", "-f", "testdata/fine/early.yaml", "--to", "apache"}, 0},
		"convert-apache-line":      {[]string{"convert", "-f", "testdata/fine/apache.yaml", "--to", "spark-submit"}, 0},
		"convert-kubeflow-line":    {[]string{"convert", "-f", "testdata/fine/kubeflow.yaml", "--to", "spark-submit"}, 1},
		"convert-script-apache":    {[]string{"convert", "-f", "testdata/submit.sh", "--to", "apache"}, 1},
		"convert-script-kubeflow":  {[]string{"convert", "-f", "testdata/submit.sh", "--to", "kubeflow"}, 1},
		"convert-script-early":     {[]string{"convert", "-f", "testdata/submit.sh", "--to", "early", "--spark-version", "4.0.1"}, 1},
		"convert-script-lines":     {[]string{"convert", "-f", "testdata/submit.sh", "--to", "spark-submit"}, 1},
		"convert-placeholders":     {[]string{"convert", "-f", "testdata/placeholders.sh", "--to", "apache", "--spark-version", "4.1.0"}, 1},
		"convert-schedules":        {[]string{"convert", "-f", "testdata/fine/schedule.yaml", "--to", "kubeflow"}, 0},
		"convert-refused":          {[]string{"convert", "-f", "testdata/broken.yaml", "--to", "early"}, 1},
		"convert-secrets-in-clear": {[]string{"convert", "-f", "testdata/secrets.yaml", "--to", "kubeflow"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := run(t, "", test.args...)
			if code != test.code {
				t.Errorf("the exit code is %d, want %d", code, test.code)
			}
			printed := "$ kubectl spark " + strings.Join(test.args, " ") + "\n" + out
			if errOut != "" {
				printed += "--- stderr\n" + errOut
			}
			golden.Want(t, filepath.Join("testdata", name+".golden"), versionless(printed))
		})
	}
}

// versionless replaces the version of the program, which is another for each commit.
func versionless(text string) string {
	_, rest, found := strings.Cut(text, "the defaults of Firesteel ")
	if !found {
		return text
	}
	end := strings.IndexAny(rest, ";\"\n")
	return strings.ReplaceAll(strings.ReplaceAll(text, rest[:end], "VERSION"), `"version": "(devel)"`, `"version": "VERSION"`)
}

func TestMistakesOfCommandLinesHaveARemedy(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes.yaml")
	if err := os.WriteFile(notes, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const pi = "testdata/fine/apache.yaml"
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":                          {[]string{"lint"}, 2, "no file is named: write -f FILE"},
		"an absent file":                   {[]string{"plan", "-f", "absent.yaml"}, 1, "absent.yaml:1:1: error: absent.yaml cannot be read (no such file or directory): name a file or a folder with manifests"},
		"stdin twice":                      {[]string{"lint", "-f", "-", "-f", "-"}, 2, "-f - is given twice"},
		"no manifest":                      {[]string{"lint", "-f", notes}, 1, "no file has a manifest of Spark: name one after -f"},
		"no manifest to plan":              {[]string{"plan", "-f", notes}, 1, "no file has a manifest of Spark: name one after -f"},
		"a format of lint":                 {[]string{"lint", "-f", pi, "-o", "xml"}, 2, "-o xml is no format: write text, json or sarif"},
		"a format of plan":                 {[]string{"plan", "-f", pi, "-o", "sarif"}, 2, "-o sarif is no format: write one of json, yaml, name, jsonpath=TEMPLATE"},
		"flags that contradict":            {[]string{"plan", "-f", pi, "--diff", "-o", "yaml"}, 2, "--diff and -o yaml contradict each other: leave one out"},
		"an unknown version":               {[]string{"plan", "-f", pi, "--spark-version", "2.4.0"}, 2, `--spark-version "2.4.0" is no version of Spark that Firesteel knows: write one of 3.5, 4.0, 4.1, 4.2, 4.3, or a patch release of them such as 4.1.0 (kubectl`},
		"settings that are none":           {[]string{"lint", "-f", pi, "--settings", notes}, 1, "holds none of the ConfigMaps config-admission, config-archive, config-clusters, config-console"},
		"settings that are absent":         {[]string{"lint", "-f", pi, "--settings", "absent"}, 1, "absent cannot be read"},
		"settings that are wrong":          {[]string{"lint", "-f", pi, "--settings", "testdata/wrong-settings.yaml"}, 1, `config-defaults: there is no key "imgae": write one of`},
		"a format of a command line":       {[]string{"convert", "-f", pi, "--to", "spark-submit", "-o", "yaml"}, 2, "-o yaml is for manifests, and --to spark-submit prints command lines: leave one of them out"},
		"no API":                           {[]string{"convert", "-f", pi}, 2, "no API is named: write --to with one of apache, kubeflow, early"},
		"an unknown API":                   {[]string{"convert", "-f", pi, "--to", "v2"}, 2, "--to v2 is no API: write one of apache, kubeflow, early"},
		"a kind that has no other API":     {[]string{"convert", "-f", "testdata/fine/cluster.yaml", "--to", "kubeflow"}, 1, `kind "SparkCluster" is a kind of spark.apache.org alone: convert applications and schedules`},
		"a schedule for the early API":     {[]string{"convert", "-f", "testdata/fine/schedule.yaml", "--to", "early"}, 1, "is no kind of spark-operator.k8s.io: convert it to apache or kubeflow"},
		"an argument that is no flag":      {[]string{"lint", pi}, 2, `"testdata/fine/apache.yaml" is not expected: write -f testdata/fine/apache.yaml for a file`},
		"a cluster that cannot be reached": {[]string{"plan", "-f", pi, "--settings", "cluster", "--server", "http://127.0.0.1:1"}, 1, "read the settings in the namespace firesteel-system: the API server http://127.0.0.1:1 does not answer"},
	} {
		code, _, errOut := run(t, "", test.args...)
		if code != test.code || !strings.Contains(errOut, test.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%s: it exits with %d and %q, want %d and %q", name, code, errOut, test.code, test.want)
		}
	}
}

func TestACommandLineIsReadFromTheStandardInput(t *testing.T) {
	const line = "spark-submit --class A --conf spark.kubernetes.container.image=spark:4.1.0 --name a local:///a.jar 1 2"
	code, out, errOut := run(t, line, "convert", "-f", "-", "--to", "apache")
	if code != 0 || errOut != "" || !strings.Contains(out, "  driverArgs:\n  - \"1\"\n  - \"2\"\n") {
		t.Errorf("it exits with %d and prints %q and %q", code, out, errOut)
	}
	code, again, errOut := run(t, out, "convert", "-f", "-", "--to", "spark-submit")
	if code != 0 {
		t.Errorf("it exits with %d: %s", code, errOut)
	}
	if code, twice, _ := run(t, again, "convert", "-f", "-", "--to", "apache"); code != 0 || twice != out {
		t.Errorf("there and back it is\n%s\nand was\n%s", twice, out)
	}
	for script, want := range map[string]string{
		"spark-submit --class A local:///a.jar": "<stdin>:1:1: error: no image is named: write --conf spark.kubernetes.container.image=IMAGE, such as apache/spark:4.1.0\n",
		"spark-submit --class A --conf spark.kubernetes.container.image=a local:///a.jar": "<stdin>:1:1: error: the version of Spark in the image is not known: " +
			"write --spark-version, such as --spark-version 4.1.0\n",
		"\nspark-submit 'a": "<stdin>:2:1: error: a single quote is not closed: close it\n",
		"echo spark-submit": "<stdin>:1:1: error: the manifest is no object with apiVersion and kind",
	} {
		if code, _, errOut := run(t, script, "convert", "-f", "-", "--to", "apache"); code != 1 || !strings.HasPrefix(errOut, want) {
			t.Errorf("%q: it exits with %d and prints %q", script, code, errOut)
		}
	}
}

func TestFoldersOfConfigurationOfACommandLineAreConvertedToConfigMaps(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "core-site.xml"), []byte("<configuration/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := "export HADOOP_CONF_DIR=" + folder + "\nspark-submit --class A --conf spark.kubernetes.container.image=spark:4.1.0 --name a local:///a.jar"
	for api, want := range map[string]string{"apache": "  configMapSpecs:\n  - data:\n      core-site.xml: <configuration/>\n    name: a-hadoop-config\n", "kubeflow": "  core-site.xml: <configuration/>\nkind: ConfigMap\n", "early": "kind: ConfigMap\n"} {
		code, out, errOut := run(t, line, "convert", "-f", "-", "--to", api)
		if code != 0 || errOut != "" || !strings.Contains(out, want) || !strings.Contains(out, "spark.kubernetes.hadoop.configMapName: a-hadoop-config\n") {
			t.Errorf("%s: it exits with %d and prints %q and %q", api, code, out, errOut)
		}
	}
}

func TestAFileOfACommandLineThatNobodyUploadsIsNamedOnce(t *testing.T) {
	const line = "spark-submit --class A --conf spark.kubernetes.container.image=spark:4.1.0 /a.jar"
	if code, _, errOut := run(t, line, "convert", "-f", "-", "--to", "apache"); code != 0 || strings.Count(errOut, "is a file of the submitting host") != 1 {
		t.Errorf("it exits with %d and prints %q", code, errOut)
	}
}

func TestAKeyThatIsGivenTwiceIsRefused(t *testing.T) {
	const app = "apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata: {name: pi}\nspec:\n  mainClass: Pi\n  jars: local:///pi.jar\n  runtimeVersions: {sparkVersion: 4.1.0}\n  mainClass: Other\n"
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.ReplaceAll(app, "  mainClass: Other\n", ""), "\n", "\n  ") + "\n- " + strings.ReplaceAll(app, "\n", "\n  ")
	for _, verb := range [][]string{{"plan", "-f", "-"}, {"convert", "--to", "kubeflow", "-f", "-"}, {"convert", "--to", "spark-submit", "-f", "-"}} {
		code, out, errOut := run(t, app, verb...)
		if code != 1 || errOut != "<stdin>:8:3: error: spec.mainClass is set on line 5 already: remove one of them\n" || strings.Contains(out, "Other") {
			t.Errorf("%v: it exits with %d and prints %q and %q", verb, code, out, errOut)
		}
		code, out, errOut = run(t, list, verb...)
		if code != 1 || !strings.Contains(errOut, ": error: spec.mainClass is set on line") || strings.Contains(out, "Other") || !strings.Contains(out, "Pi") {
			t.Errorf("%v of a list: it exits with %d and prints %q and %q", verb, code, out, errOut)
		}
	}
}

func TestNamesOfAManifestDoNotReachTheTerminalAsTheyAre(t *testing.T) {
	const names = `spark.kubernetes.container.image: spark:4.1.0, spark.kubernetes.authenticate.driver.serviceAccountName: spark,
    "spark.kubernetes.driver.label.\e[31mx\ny": a b, "\nFAKE.yaml:1:1: error: x": b, "\e[2Jfoo\u202e": c`
	const app = "kind: SparkApplication\napiVersion: spark.apache.org/v1\nmetadata: {name: etl}\nspec:\n  mainClass: A\n  jars: local:///a.jar\n" +
		"  runtimeVersions: {sparkVersion: 4.1.0}\n  sparkConf: {" + names + "}\n"
	for name, text := range map[string]string{
		"keys": app, "its kind": "apiVersion: \"spark.apache.org/v1\\e[2J\"\nkind: \"Spark\\e[31m\\nApplication\"\nmetadata: {name: x}\n",
		"a key twice": app + "  \"\\e[2J\": a\n  \"\\e[2J\": b\n",
	} {
		for _, verb := range [][]string{{"lint"}, {"plan"}, {"convert", "--to", "kubeflow"}, {"convert", "--to", "spark-submit"}} {
			_, out, errOut := run(t, text, append(verb, "-f", "-")...)
			if slices.Contains(verb, "kubeflow") {
				out = "" // YAML, which has escapes of its own
			}
			if strings.ContainsAny(out+errOut, "\x1b\u202e") || strings.Contains("\n"+out+errOut, "\nFAKE") || strings.Contains("\n"+errOut, "\ny") {
				t.Errorf("%s: %v prints\n%q\n%q", name, verb, out, errOut)
			}
		}
	}
	code, out, errOut := run(t, strings.Replace(app, "foo", "\\0", 1), "convert", "--to", "spark-submit", "-f", "-")
	if want := `an argument of --conf ("\x1b[2J\x00\u202e") has a NUL character, which no command line can hold: remove it`; code != 1 || out != "" || !strings.Contains(errOut, want) {
		t.Errorf("a NUL character: it exits with %d and prints %q and %q", code, out, errOut)
	}
}

// misspelt is an application with fields that it does not have.
const misspelt = "apiVersion: spark.apache.org/v1\nkind: SparkApplication\nmetadata:\n  name: pi\n  lables: {a: b}\nspec:\n  mainclass: A\n  jars: local:///a.jar\n" +
	"  sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: spark}\n  runtimeVersions: {sparkVersion: 4.1.0}\n"

func TestAFieldThatMetadataDoesNotHaveIsNamed(t *testing.T) {
	want := "<stdin>:5:3: error: unknown field \"metadata.lables\" is refused by kubectl, and dropped without it: correct its spelling to labels\n"
	if code, out, _ := run(t, misspelt, "lint", "-f", "-"); code != 1 || !strings.Contains(out, want) {
		t.Errorf("lint exits with %d and prints %q", code, out)
	}
	want = "# Warning: unknown field \"metadata.lables\" is dropped: correct its spelling to labels\n"
	if _, out, _ := run(t, strings.Replace(misspelt, "mainclass", "mainClass", 1), "plan", "-f", "-"); !strings.Contains(out, want) {
		t.Errorf("plan prints %q", out)
	}
}

func TestConvertNamesTheFieldsThatItDrops(t *testing.T) {
	want := "Warning: <stdin>:5:3: unknown field \"metadata.lables\" is dropped: correct its spelling to labels\n" +
		"Warning: <stdin>:7:3: unknown field \"spec.mainclass\" is dropped: correct its spelling to mainClass\n"
	for _, api := range []string{"apache", "kubeflow", "spark-submit"} {
		_, _, errOut := run(t, misspelt, "convert", "-f", "-", "--to", api)
		for line := range strings.Lines(want) {
			if strings.Count(errOut, line) != 1 {
				t.Errorf("to %s it prints %q, want %q", api, errOut, line)
			}
		}
	}
	early, err := os.ReadFile("testdata/fine/early.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, _, errOut := run(t, strings.Replace(string(early), "\nspec:\n", "\nspec:\n  restartPolice: {type: Never}\n", 1), "convert", "-f", "-", "--to", "apache")
	if strings.Count(errOut, `unknown field "spec.restartPolice" is dropped`) != 1 {
		t.Errorf("of the early API it prints %q", errOut)
	}
}

func TestASignalEndsACommandThatReads(t *testing.T) {
	terminal, writer := io.Pipe() // nobody writes
	defer writer.Close()
	for _, args := range [][]string{{"lint"}, {"plan"}, {"convert", "--to", "apache"}, {"submit", "--dry-run=client"}} {
		streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
		streams.In = terminal
		o := cli.NewOptions(cli.Plugin, streams)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if code := o.Run(ctx, root.New(o), append(args, "-f", "-")); code != 130 || stdout.String()+stderr.String() != "" {
			t.Errorf("%v exits with %d and prints %q and %q", args, code, stdout, stderr)
		}
	}
}

func TestManifestsAreReadFromTheStandardInput(t *testing.T) {
	text, err := os.ReadFile("testdata/broken.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ := run(t, string(text), "lint", "-f", "-"); code != 1 || !strings.Contains(out, "\n<stdin>:") {
		t.Errorf("it exits with %d and prints %q", code, out)
	}
}

func TestNoSecretIsPrintedButOnDemand(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		shown bool
	}{
		"plan":         {[]string{"plan"}, false},
		"plan as JSON": {[]string{"plan", "-o", "json"}, false},
		"lint":         {[]string{"lint"}, false},
		"shown":        {[]string{"plan", "--show-secrets"}, true},
		"converted":    {[]string{"convert", "--to", "kubeflow"}, true},
	} {
		_, out, errOut := run(t, "", append(test.args, "-f", "testdata/secrets.yaml")...)
		for _, secret := range []string{"hunter2222", "s3cr3tk3y", "t0k3nt0k3n"} {
			if strings.Contains(out+errOut, secret) != test.shown {
				t.Errorf("%s: %s is shown: %v, want %v", name, secret, !test.shown, test.shown)
			}
		}
	}
}

func TestReportsFollowTheSARIFSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/sarif-2.1.0-subset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"findings":                    {[]string{"testdata/broken.yaml", "testdata/fine"}, `"ruleId": "Refused"`},
		"a file that cannot be read":  {[]string{"testdata/broken.yaml", "absent.yaml"}, `"text": "absent.yaml cannot be read (no such file or directory)`},
		"a file beside one":           {[]string{"absent.yaml", "testdata/broken.yaml"}, `"ruleId": "Refused"`},
		"a folder without any object": {[]string{t.TempDir()}, `"results": []`},
	} {
		args := []string{"lint", "-o", "sarif"}
		for _, file := range test.files {
			args = append(args, "-f", file)
		}
		code, out, _ := run(t, "", args...)
		var report any
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 || !strings.Contains(out, test.want) {
			t.Fatalf("%s: it exits with %d and prints (%v) %s", name, code, err, out)
		}
		if err := schema.Validate(report); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReportsNameFilesBelowTheFolderOfTheProcessByTheirRelativePath(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	below, beside := filepath.Join(folder, "a b.yaml"), filepath.Join(t.TempDir(), "c.yaml")
	for _, file := range []string{below, beside} {
		if err := os.WriteFile(file, []byte("apiVersion: spark.apache.org/v1\nkind: SparkApplication\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{below: `"uri": "a%20b.yaml"`, beside: `"uri": "file://` + beside + `"`} {
		if _, out, _ := run(t, "", "lint", "-f", file, "-o", "sarif"); !strings.Contains(out, want) {
			t.Errorf("%s is not %s in\n%s", file, want, out)
		}
	}
}

func TestExamplesAreFine(t *testing.T) {
	for _, folder := range []string{"", "/kubeflow", "/object-storage"} {
		if code, out, errOut := run(t, "", "lint", "-f", "../../../examples"+folder); code != 0 || !strings.Contains(out, " 0 errors, 0 warnings") {
			t.Errorf("of examples%s it exits with %d:\n%s%s", folder, code, out, errOut)
		}
	}
}

func TestCommandLinesOfOneNameAreNamed(t *testing.T) {
	const line = "spark-submit --conf spark.kubernetes.container.image=a:4.1.0 --conf spark.kubernetes.namespace=%s local:///a.py\n"
	for script, want := range map[string]int{
		fmt.Sprintf(line+line+line, "x", "y", "x"): 1,
		fmt.Sprintf(line+line, "x", "y"):           0,
	} {
		code, _, errOut := run(t, script, "convert", "-f", "-", "--to", "kubeflow")
		if got := strings.Count(errOut, `"a" is the name of an earlier command line's application, too`); code != 0 || got != want {
			t.Errorf("%q: exit code %d, named %d times, want %d: %s", script, code, got, want, errOut)
		}
	}
}
