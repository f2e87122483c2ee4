package submit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// run runs a command line under the name of a program.
func run(t *testing.T, program string, args ...string) (code int, out, errOut string) {
	t.Helper()
	return runUntil(t.Context(), t, program, args...)
}

// runUntil is run with a context that an interrupt ends.
func runUntil(ctx context.Context, t *testing.T, program string, args ...string) (code int, out, errOut string) {
	t.Helper()
	for _, variable := range []string{"KUBECONFIG", "SPARK_HOME", "SPARK_CONF_DIR", "MASTER", "DEPLOY_MODE", "SPARK_REMOTE"} {
		t.Setenv(variable, "")
	}
	t.Setenv("HOME", t.TempDir())
	streams, in, stdout, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString(manifest)
	o := cli.NewOptions(program, streams)
	o.Now = func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }
	code = o.Run(ctx, root.New(o), args)
	return code, stdout.String(), stderr.String()
}

const manifest = `apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {name: pi}
spec:
  mainClass: Pi
  jars: local:///pi.jar
  runtimeVersions: {sparkVersion: 4.1.0}
`

const image = "spark.kubernetes.container.image=apache/spark:4.1.0"

// dry is a command line that needs no cluster.
func dry(args ...string) []string { return append([]string{"submit", "--dry-run=client"}, args...) }

func TestACommandLineBecomesAManifestOfEachAPI(t *testing.T) {
	template := filepath.Join(t.TempDir(), "driver.yaml")
	if err := os.WriteFile(template, []byte("metadata: {labels: {a: b}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"apache":   {"--conf", "spark.kubernetes.driver.podTemplateFile=" + template, "--proxy-user", "alice"},
		"kubeflow": {"--api", "kubeflow", "--conf", "spark.kubernetes.driver.podTemplateFile=" + template, "--proxy-user", "alice"},
		"early":    {"--api", "spark-operator.k8s.io"},
	} {
		all := append(dry("-oyaml", "-n", "team-a", "--name", "pi", "--class", "a.B", "--driver-memory", "2g", "--conf", image), args...)
		code, out, errOut := run(t, cli.Plugin, append(all, "local:///pi.jar", "-n", "10")...)
		if code != 0 || errOut != "" {
			t.Errorf("%s: %d %s", name, code, errOut)
		}
		golden.Want(t, filepath.Join("testdata", name+".yaml.golden"), out)
	}
}

func TestTheHelpIsThatOfSparkSubmitAndOfKubectl(t *testing.T) {
	_, out, _ := run(t, cli.Plugin, "submit", "--help")
	out = strings.ReplaceAll(out, os.Getenv("HOME"), "$HOME")
	golden.Want(t, filepath.Join("testdata", "help.txt.golden"), out)
}

func TestNamesOfObjects(t *testing.T) {
	for _, test := range []struct {
		program, name string
		// prefix is the beginning, and unique whether more follows.
		prefix string
		unique bool
	}{
		{cli.Plugin, "etl", "etl", false},
		{cli.Plugin, "Spark Pi", "spark-pi", true},
		{cli.Plugin, "", "b-c", true},
		{cli.SparkSubmit, "etl", "etl", true},
	} {
		args := []string{"--dry-run", "--class", "a.BC", "--conf", image}
		if test.name != "" {
			args = append(args, "--name", test.name)
		} else {
			args = append(args, "--class", "a.bC")
		}
		if test.program == cli.Plugin {
			args = append([]string{"submit"}, args...)
		}
		code, out, errOut := run(t, test.program, append(args, "local:///pi.jar")...)
		name := strings.TrimSuffix(strings.TrimPrefix(out, "sparkapplications.spark.apache.org/"), " created (dry run)\n")
		if code != 0 || !strings.HasPrefix(name, test.prefix) || (len(name) > len(test.prefix)) != test.unique {
			t.Errorf("%+v: %q %s", test, out, errOut)
		}
	}
}

func TestErrorsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	twice := filepath.Join(t.TempDir(), "twice.yaml")
	if err := os.WriteFile(twice, []byte(manifest+"  mainClass: Other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(t.TempDir(), "local.yaml")
	if err := os.WriteFile(local, []byte(strings.Replace(withFiles, "etl.py", "none.py", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	const jar = "local:///pi.jar"
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"submit"}, 2, "error: Must specify a primary resource (JAR or Python or R file): write it after the options"},
		{[]string{"submit", "--clas", "B", jar}, 2, "error: unrecognized option: --clas: did you mean --class? (kubectl spark submit --help shows the usage)\n"},
		{[]string{"submit", "-n"}, 2, "error: missing argument for option '-n' (kubectl"},
		{[]string{"submit", "--watch=maybe", jar}, 2, `error: --watch "maybe" is neither true nor false: write one of them (kubectl`},
		{[]string{"submit", "-o", "xml", jar}, 2, "error: -o xml is no format: write one of json, yaml, name, jsonpath=TEMPLATE (kubectl"},
		{dry("--spark-version", "banana", "--class", "B", "--conf", image, jar), 2, `error: --spark-version "banana" is no version: write that of Spark in the image, such as 4.1.0 (kubectl`},
		{dry("–class", "B", "--conf", image, jar), 2, "error: –class begins with a typographic dash (–): write --class (kubectl"},
		{dry("--class", "B", "--conf", "“spark.executor.cores=1”", "--conf", image, jar), 2, "error: --conf “spark.executor.cores begins with a typographic quote (“): write ' or \" (kubectl"},
		{[]string{"submit", "--usage-error"}, 2, "error: this is no command line of spark-submit (kubectl spark submit --help shows the usage)\n"},
		{dry("--api", "other", "--conf", image, "--class", "B", jar), 2, `error: --api "other" is no API: write one of apache, kubeflow, early (kubectl`},
		{dry("--class", "B", "--conf", "spark.kubernetes.container.image=etl:latest", jar), 2, "error: the version of Spark in the image is not known: write --spark-version, such as --spark-version 4.1.0 (kubectl"},
		{dry("--class", "B", jar), 2, "error: no image is named: write --conf spark.kubernetes.container.image=IMAGE, such as apache/spark:4.1.0 (kubectl"},
		{dry("--class", "B", "--conf", image, "/home/me/pi.jar"), 2, `error: the application file "/home/me/pi.jar" is a file of the submitting host, which an operator cannot read: write --upload-to s3://BUCKET/FOLDER to upload it, or local:///path for a file in the image (kubectl`},
		{dry("--class", "B", "--conf", image, "--jars", "a.jar", jar), 2, `error: --jars "a.jar" is a file of the submitting host, which an operator cannot read: write --upload-to s3://BUCKET/FOLDER to upload it, or local:///path`},
		{dry("--class", "B", "--conf", image, "--driver-memory", "1.5g", jar), 2, `error: --driver-memory "1.5g" is not a`},
		{dry("--class", "B", "--conf", image, "--conf", "spark.executor.cores=many", jar), 2, `error: --conf spark.executor.cores "many" is`},
		{dry("--class", "B", "--conf", image, "-n", "a", "--conf", "spark.kubernetes.namespace=b", jar), 2, `error: --namespace "a" contradicts spark.kubernetes.namespace "b": leave one of them out (kubectl`},
		{dry("--api", "early", "--proxy-user", "u", "--class", "B", "--conf", image, jar), 2, `error: --proxy-user "u" has no field in spark-operator.k8s.io: choose another API, such as --api sparkoperator.k8s.io (kubectl`},
		{[]string{"submit", "-f", "none.yaml"}, 1, "error: none.yaml cannot be read (no such file or directory): name a file"},
		{[]string{"submit", "-f", bad}, 1, "error: " + bad + ":1: the manifest is no object with apiVersion and kind"},
		{[]string{"submit", "-f", twice}, 1, "error: " + twice + ":8: spec.mainClass is set on line 5 already: remove one of them\n"},
		{[]string{"submit", "-f", bad, jar}, 2, "error: -f names a manifest, which cannot go with options of spark-submit or an application file: leave one of them out (kubectl"},
		{[]string{"submit", "--conf", "spark.kubernetes.authenticate.submission.oauthTokenFile=none", "--conf", image, "--class", "B", jar}, 1, "error: --conf spark.kubernetes.authenticate.submission.oauthTokenFile cannot be read ("},
		{[]string{"submit", "--logs", "-w", jar}, 2, "error: --logs and --watch print to the same place: leave one of them out (kubectl"},
		{dry("--upload-to", "s3://b", "--class", "B", "--conf", image, "none.jar"), 1, `error: the application file "none.jar" cannot be uploaded (no such file or directory): name a file of this machine, or write local:///path for a file in the image` + "\n"},
		{dry("--upload-to", "s3a://b", "--class", "B", "--conf", image, jar), 2, `error: --upload-to "s3a://b" is no place that is known: write s3://BUCKET/FOLDER`},
		{dry("--upload-as", "s3a://b", "--class", "B", "--conf", image, jar), 2, "error: --upload-as is the URL of what --upload-to uploads, which is missing: write --upload-to, too (kubectl"},
		{[]string{"submit", "--upload-to", "s3://b", "-f", local}, 1, "error: " + local + `:1: spec.mainApplicationFile "none.py" cannot be uploaded (no such file or directory): name a file`},
		{[]string{"submit", "-f", local}, 1, "error: " + local + `:1: spec.deps.jars (spark.jars) "lib.jar" is a file of the submitting host, which an operator cannot read: write --upload-to s3://BUCKET/FOLDER to upload it`},
		{[]string{"submit", "--kill", "ns:"}, 2, `error: submission ID "ns:" names no driver: write NAMESPACE:NAME (kubectl`},
		{[]string{"submit", "--kill", "a", "--conf", "spark.kubernetes.appKillPodDeletionGracePeriod=soon"}, 2, `error: --conf spark.kubernetes.appKillPodDeletionGracePeriod "soon" is no number of seconds: write one such as 30 (kubectl`},
	} {
		code, out, errOut := run(t, cli.Plugin, test.args...)
		lines := strings.SplitAfter(errOut, "\n")
		if code != test.code || !strings.HasPrefix(errOut, test.want) || len(lines) != 2 || out != "" {
			t.Errorf("%q: %d %s%s\nwant %d %s", test.args, code, out, errOut, test.code, test.want)
		}
	}
}

func TestWarningsDoNotStopASubmission(t *testing.T) {
	code, out, errOut := run(t, cli.Plugin, dry("--queue", "q", "--name", "pi", "--class", "B", "--conf", image, "local:///pi.jar")...)
	if code != 0 || out != "sparkapplications.spark.apache.org/pi created (dry run)\n" || !strings.HasPrefix(errOut, `Warning: --queue "q" has no effect on Kubernetes`) {
		t.Errorf("%d %s%s", code, out, errOut)
	}
}

func TestATemplateAtAURLIsLeftToTheSettingsOfTheCluster(t *testing.T) {
	const key = "spark.kubernetes.driver.podTemplateFile"
	args := []string{"--name", "pi", "--class", "B", "--conf", image, "local:///pi.jar"}
	code, _, errOut := run(t, cli.Plugin, append(dry("--conf", key+"=https://example.com/driver.yaml"), args...)...)
	if code != 0 || errOut != "" {
		t.Errorf("%d %s", code, errOut)
	}
	code, _, errOut = run(t, cli.Plugin, append(dry("--conf", key+"=ftp://example.com/driver.yaml"), args...)...)
	if code != 2 || !strings.Contains(errOut, "--conf "+key) || !strings.Contains(errOut, ", or name a file of this machine (kubectl") {
		t.Errorf("%d %s", code, errOut)
	}
}

func TestWarningsArePrintedOnceIfANameIsTaken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case err != nil:
			t.Error(err)
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"spark.apache.org/v1","resources":[{"name":"sparkapplications"}]}`)
		case strings.Contains(string(body), `"name":"pi"`):
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409}`)
		default:
			_, _ = w.Write(body)
		}
	}))
	defer server.Close()
	code, out, errOut := run(t, cli.Plugin, "submit", "--server", server.URL, "-n", "a", "--name", "pi", "--class", "B", "--spark-version", "9.9", "--conf", image, "local:///pi.jar")
	if code != 0 || !strings.HasPrefix(out, "sparkapplications.spark.apache.org/pi-") || strings.Count(errOut, `"9.9" is not known`) != 1 ||
		!strings.Contains(errOut, "pi exists already, so this run is pi-") {
		t.Errorf("%d %s%s", code, out, errOut)
	}
}

func TestADryRunUploadsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"etl.py", "lib.zip"} {
		if err := os.WriteFile(name, []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := dry("--upload-to", "s3://apps/a", "-o", "jsonpath={.spec.pyFiles} {.spec.sparkConf.spark\\.submit\\.pyFiles}", "--conf", image, "--py-files", "lib.zip,local:///b.py", "etl.py")
	code, out, errOut := run(t, cli.Plugin, args...)
	const folder = "s3a://apps/a/sha256/7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed/"
	want := "etl.py is not uploaded (dry run), 3 bytes: " + folder + "etl.py\nlib.zip is not uploaded (dry run), 3 bytes: " + folder + "lib.zip\n"
	if code != 0 || out != folder+"etl.py "+folder+"lib.zip,local:///b.py" || errOut != want {
		t.Errorf("%d %s\n%s", code, out, errOut)
	}
}

const withFiles = `apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: etl, namespace: a}
spec: {type: Python, sparkVersion: 4.1.0, image: spark, mainApplicationFile: etl.py, driver: {}, executor: {}, deps: {jars: [lib.jar, "s3a://b/c.jar"]}}
`

// uploading puts a program into PATH that says that it uploads, and files with a manifest that names them into the current folder.
func uploading(t *testing.T) {
	t.Helper()
	folder, programs := t.TempDir(), t.TempDir()
	program := "#!/bin/sh\nshift\nfor file; do echo \"{\\\"step\\\":\\\"uploaded\\\",\\\"path\\\":\\\"${file#*=}\\\"}\"; done\n"
	if err := os.WriteFile(filepath.Join(programs, "kubectl-spark-upload"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	t.Chdir(folder)
	for name, text := range map[string]string{"etl.py": "one", "lib.jar": "one", "etl.yaml": withFiles} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesOfAManifestAreUploadedOnceItIsChecked(t *testing.T) {
	uploading(t)
	const folder = "s3a://apps/a/sha256/7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed/"
	line := []string{"submit", "-f", "etl.yaml", "--upload-to", "s3://apps/a", "-o", "jsonpath={.spec.mainApplicationFile} {.spec.deps.jars}"}
	want := folder + `etl.py ["` + folder + `lib.jar","s3a://b/c.jar"]`
	code, out, errOut := run(t, cli.Plugin, append(line, "--dry-run=client")...)
	if code != 0 || out != want || strings.Count(errOut, " is not uploaded (dry run), 3 bytes: "+folder) != 2 {
		t.Errorf("dry run: %d %s\n%s", code, out, errOut)
	}
	for name, test := range map[string]struct {
		check, creation int
		want            string
		code            int
	}{
		"created":            {http.StatusCreated, http.StatusCreated, "lib.jar uploaded, 3 bytes: " + folder + "lib.jar\n", 0},
		"refused before":     {http.StatusForbidden, http.StatusCreated, "", 1},
		"refused afterwards": {http.StatusCreated, http.StatusForbidden, "Warning: 2 of 2 files are in s3://apps/a: the next run does not send them again\n", 1},
	} {
		server, requests := fakeServer(t, func(request string) (int, string) {
			code := test.creation
			if strings.Contains(request, "dryRun=All") {
				code = test.check
			}
			if code == http.StatusForbidden {
				return code, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"it is refused","code":403}`
			}
			return code, `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"etl","namespace":"a","uid":"u"}}`
		})
		code, _, errOut := run(t, cli.Plugin, append(line, "--server", server)...)
		sent := strings.Count(errOut, " uploaded, ")
		if code != test.code || !strings.Contains(errOut, test.want) || (sent == 2) != (test.check != http.StatusForbidden) {
			t.Errorf("%s: %d %s\nwant %d %s\nrequests:\n%s", name, code, errOut, test.code, test.want, requests())
		}
	}
}

// fakeServer answers each request, which is written as METHOD path?query. The code 0 closes the connection without an answer.
func fakeServer(t *testing.T, answer func(request string) (code int, body string)) (url string, requests func() string) {
	t.Helper()
	var mutex sync.Mutex
	var all strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		request := r.Method + " " + r.URL.RequestURI()
		fmt.Fprintln(&all, request)
		code, body := answer(request)
		if code == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() string {
		mutex.Lock()
		defer mutex.Unlock()
		return all.String()
	}
}

const notThere = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`

func TestAPatternIsLookedForOnAllPages(t *testing.T) {
	page := func(next, name string) string {
		return fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":%q},"items":[{"metadata":{"name":%q}},{"metadata":{"name":"other"}}]}`, next, name)
	}
	for verb, want := range map[string]string{"--status": "pod name: ", "--kill": "Deleting driver pod: "} {
		server, _ := fakeServer(t, func(request string) (int, string) {
			if strings.Contains(request, "continue=second") {
				return http.StatusOK, page("", "etl-2")
			}
			return http.StatusOK, page("second", "etl-1")
		})
		code, out, errOut := run(t, cli.Plugin, "submit", "--server", server, verb, "a:etl-*", "--dry-run=client")
		if code != 0 || strings.Count(out, want) != 2 || !strings.Contains(out, want+"etl-1") || !strings.Contains(out, want+"etl-2") {
			t.Errorf("%s: %d %s%s", verb, code, out, errOut)
		}
	}
}

// Spark needs no right to applications.
func TestKillDeletesTheDriverOfAnApplicationThatTheUserMayNotChange(t *testing.T) {
	server, requests := fakeServer(t, func(request string) (int, string) {
		switch {
		case strings.HasPrefix(request, "GET /api/v1/namespaces/a/pods?"):
			return http.StatusOK, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"pi-0-driver","namespace":"a","uid":"u",
				"ownerReferences":[{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","name":"pi","uid":"x"}]}}]}`
		case strings.HasPrefix(request, "GET /apis/spark.apache.org"):
			return http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"you may not","code":403}`
		case strings.HasPrefix(request, "DELETE "):
			return http.StatusOK, `{"kind":"Status","apiVersion":"v1","status":"Success"}`
		default:
			return http.StatusNotFound, notThere
		}
	})
	code, out, errOut := run(t, cli.Plugin, "submit", "--server", server, "--kill", "a:pi-0-driver")
	if code != 0 || out != "Deleting driver pod: pi-0-driver.\n" || !strings.Contains(errOut, "its restart policy may start it again") ||
		!strings.Contains(requests(), "DELETE /api/v1/namespaces/a/pods/pi-0-driver") {
		t.Errorf("%d %s%s\n%s", code, out, errOut, requests())
	}
}

func TestKillStopsAnApplicationWithoutDriverUnlessAStopDoesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		metadata, spec, out, errOut string
		patched                     bool
	}{
		"one that waits":             {`{}`, `{}`, "Stopping application: sparkapplications.spark.apache.org/pi.\n", "", true},
		"one that is stopped":        {`{"firesteel.dev/stop":"wrong day"}`, `{}`, "Stopping application: sparkapplications.spark.apache.org/pi.\n", "", false},
		"one that cannot be decoded": {`{}`, `{"driverSpec":7}`, "", "pi has no driver Pod: kubectl spark delete pi -n a removes it", false},
	} {
		server, requests := fakeServer(t, func(request string) (int, string) {
			switch {
			case strings.HasPrefix(request, "GET /api/v1/namespaces/a/pods?"):
				return http.StatusOK, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`
			case strings.Contains(request, " /apis/spark.apache.org/v1/namespaces/a/sparkapplications/pi"):
				return http.StatusOK, fmt.Sprintf(`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication",
					"metadata":{"name":"pi","namespace":"a","uid":"u","annotations":%s},"spec":%s}`, test.metadata, test.spec)
			default:
				return http.StatusNotFound, notThere
			}
		})
		_, out, errOut := run(t, cli.Plugin, "submit", "--server", server, "--kill", "a:pi")
		if out != test.out || !strings.Contains(errOut, test.errOut) || strings.Contains(requests(), "PATCH ") != test.patched {
			t.Errorf("%s: %s%s\n%s", name, out, errOut, requests())
		}
	}
}

func TestAManifestOfTheStandardInput(t *testing.T) {
	code, out, errOut := run(t, cli.Plugin, dry("-f", "-", "-o", "jsonpath={.metadata.namespace}/{.metadata.name}")...)
	if code != 0 || out != "default/pi" || errOut != "" {
		t.Errorf("%d %s%s", code, out, errOut)
	}
}

func TestAFieldThatMetadataDoesNotHaveIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pi.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(manifest, "{name: pi}", "{name: pi, lables: {a: b}}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := run(t, cli.Plugin, dry("-f", file)...)
	if want := `Warning: unknown field "metadata.lables" is dropped: correct its spelling to labels` + "\n"; code != 0 || errOut != want {
		t.Errorf("it exits with %d and prints %q", code, errOut)
	}
}

func TestVersionAndHelpAreOptionsOfSparkSubmit(t *testing.T) {
	for _, option := range []string{"--version", "--help"} {
		if code, out, errOut := run(t, cli.SparkSubmit, option); code != 0 || out == "" || errOut != "" {
			t.Errorf("%s: %d %s%s", option, code, out, errOut)
		}
	}
}

func TestOptionsAreCompleted(t *testing.T) {
	_, out, _ := run(t, cli.Completion, "submit", "--dr")
	want := "--dry-run\n--driver-memory\n--driver-java-options\n--driver-library-path\n--driver-class-path\n--driver-cores\n--driver-default-class-path\n:4\n"
	var names strings.Builder
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		names.WriteString(name + "\n")
	}
	if names.String() != want {
		t.Errorf("they are\n%s", out)
	}
}

func TestServiceAccountsOfPropertiesAreFieldsOfTheKubeflowAPI(t *testing.T) {
	const account = "spark.kubernetes.authenticate.%s.serviceAccountName"
	args := dry("--api", "kubeflow", "--class", "B", "--conf", image, "-o", "jsonpath={.spec.driver.serviceAccount} {.spec.executor.serviceAccount} {.spec.sparkConf}",
		"--conf", fmt.Sprintf(account, "driver")+"=drivers", "--conf", fmt.Sprintf(account, "executor")+"=executors", "local:///pi.jar")
	code, out, errOut := run(t, cli.Plugin, args...)
	if code != 0 || !strings.HasPrefix(out, "drivers executors {") || strings.Contains(out, "serviceAccountName") || errOut != "" {
		t.Errorf("%d %s%s", code, out, errOut)
	}
}
