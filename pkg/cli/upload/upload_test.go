package upload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

// behaviour is the variable that selects what the program of a test does.
const behaviour = "TEST_UPLOAD"

// TestMain is the program that uploads, if it is started under its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == upload.Program {
		os.Exit(pretend(os.Getenv(behaviour), os.Args[2:]))
	}
	os.Exit(m.Run())
}

// pretend prints what the program would print.
func pretend(behaviour string, args []string) int {
	lines := json.NewEncoder(os.Stdout)
	for i, argument := range args {
		file, err := upload.ParseFile(argument)
		if err != nil {
			return 2
		}
		switch {
		case behaviour == "refused":
			_ = lines.Encode(upload.Event{Step: upload.Failed, Path: "other", Interrupted: true, Message: "it was interrupted"})
			_ = lines.Encode(upload.Event{Step: upload.Failed, Path: file.Path, Message: "a.jar cannot be uploaded: AccessDenied"})
			return 1
		case behaviour == "broken":
			fmt.Fprintln(os.Stderr, "panic: broken")
			return 2
		case behaviour == "other":
			fmt.Fprintln(os.Stdout, "hello")
		case behaviour == "forgetful" && i > 0:
		case behaviour == "slow" && i > 0:
			interrupted := make(chan os.Signal, 1)
			signal.Notify(interrupted, os.Interrupt)
			_ = lines.Encode(upload.Event{Step: upload.Sending, Path: file.Path, Sent: 1, Size: 2})
			<-interrupted
			return 1
		case i == 0:
			_ = lines.Encode(upload.Event{Step: upload.Present, Path: file.Path})
		default:
			_ = lines.Encode(upload.Event{Step: upload.Sending, Path: file.Path, Sent: 1, Size: 2})
			_ = lines.Encode(upload.Event{Step: upload.Uploaded, Path: file.Path})
		}
	}
	return 0
}

// installed puts the program into PATH.
func installed(t *testing.T, how string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(own, filepath.Join(folder, upload.Program)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	t.Setenv(behaviour, how)
}

// planned is a plan to upload two files.
func planned(t *testing.T) *Plan {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	var files []sparksubmit.LocalFile
	for _, name := range []string{"a.jar", "b.jar"} {
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, sparksubmit.LocalFile{Field: "--jars", Written: name, Path: name})
	}
	plan, err := (&Flags{to: "s3://bucket/folder/?region=eu-1"}).Plan(t.Context(), files, sparksubmit.Receiver{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestWhatIsUploadedIsPrintedOnce(t *testing.T) {
	installed(t, "")
	plan := planned(t)
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	for range 2 {
		if err := plan.Send(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	want := "a.jar is there already: " + plan.URLs["a.jar"][0] + "\nb.jar uploaded, 5 bytes: " + plan.URLs["b.jar"][0] + "\n"
	if out.String() != "" || errOut.String() != want {
		t.Errorf("it prints %q and\n%s\nwant\n%s", out, errOut, want)
	}
}

func TestErrorsOfTheProgram(t *testing.T) {
	for how, want := range map[string]string{
		"refused":   "s3://bucket/folder/: a.jar cannot be uploaded: AccessDenied",
		"broken":    "has failed (exit status 2): panic: broken",
		"other":     `has failed (it printed "hello"): it has printed no reason`,
		"forgetful": "has uploaded 1 of 2 files: install that of the same version as kubectl-spark",
	} {
		installed(t, how)
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		if err := planned(t).Send(t.Context(), cli.NewOptions(cli.Plugin, streams)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", how, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	want := "--upload-to needs kubectl-spark-upload, which is neither beside kubectl-spark nor in PATH: install it ("
	if err := planned(t).Send(t.Context(), cli.NewOptions(cli.Plugin, streams)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("without the program: %v", err)
	}
}

// signalling is a stream that ends a context once something is printed to it.
type signalling struct {
	strings.Builder
	interrupt func()
}

func (s *signalling) Write(text []byte) (int, error) {
	s.interrupt()
	return s.Builder.Write(text)
}

func TestAnInterruptSaysWhatIsUploaded(t *testing.T) {
	installed(t, "slow")
	plan := planned(t)
	ctx, interrupt := context.WithCancel(t.Context())
	printed := &signalling{interrupt: interrupt}
	o := cli.NewOptions(cli.Plugin, genericiooptions.IOStreams{In: strings.NewReader(""), Out: printed, ErrOut: printed})
	if err := plan.Send(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("it ends with %v", err)
	}
	want := "Warning: nothing was created, and 1 of 2 files are in s3://bucket/folder/: the next run does not send them again\n"
	if !strings.HasSuffix(printed.String(), want) {
		t.Errorf("it prints %s\nwant %s", printed, want)
	}
}

func TestPlaces(t *testing.T) {
	account := func(name string) string { return map[string]string{accountVariable: "acct"}[name] }
	none := func(string) string { return "" }
	for _, test := range []struct {
		to, as      string
		environment func(string) string
		want        string
	}{
		{"s3://b?endpoint=http://h:1", "", none, "s3a://b"},
		{"s3://b/a/b/", "", none, "s3a://b/a/b"},
		{"s3://b/a", "s3://b/a/", none, "s3://b/a"},
		{"gs://b/a%20b", "", none, "gs://b/a%20b"},
		{"azblob://c/a", "", account, "abfss://c@acct.dfs.core.windows.net/a"},
		{"azblob://c?storage_account=x", "", account, "abfss://c@x.dfs.core.windows.net"},
		{"azblob://c/a", "", none, `--upload-to "azblob://c/a" names no storage account: set AZURE_STORAGE_ACCOUNT, or write --upload-as abfss://`},
		{"file:///data", "local:///data", none, "local:///data"},
		{"file:///data", "", none, `--upload-to "file:///data" is a folder of this machine: write by --upload-as where Spark finds it, such as local:///data`},
		{"file://data", "local:///data", none, `--upload-to "file://data" is no folder: write file:///FOLDER`},
		{"s3:///b", "", none, `--upload-to "s3:///b" names no bucket: write s3://BUCKET/FOLDER`},
		{"s3a://b", "", none, `--upload-to "s3a://b" is no place that is known: write s3://BUCKET/FOLDER, `},
		{"/data", "", none, `--upload-to "/data" is no place that is known: `},
		{"pvc://data/jars", "", none, "local:///mnt/data/jars"},
		{"pvc://other/my jars", "local:///x", none, "local:///x"},
		{"pvc://other/jars", "", none, `--upload-to "pvc://other/jars" is a folder of a claim that the driver does not mount: write --conf spark.kubernetes.driver.volumes.persistentVolumeClaim.uploads.options.claimName=other `},
		{"pvc:///jars", "", none, `--upload-to "pvc:///jars" is no folder of a claim: write pvc://CLAIM/FOLDER`},
		{"pvc://data/a/../b", "", none, `--upload-to "pvc://data/a/../b" is no folder of a claim`},
		{"s3://AKIA:hunter2@b", "", none, "--upload-to holds credentials: leave them out"},
		{"s3://b\x7f", "", none, "--upload-to is no URL: "},
		{"s3://b", "/data", none, `--upload-as "/data" is no URL that Spark can read in the cluster: write one such as s3a://BUCKET/FOLDER`},
		{"s3://b", "s3a://b,c", none, `--upload-as "s3a://b,c" is no URL`},
	} {
		got, err := placeOf(test.to, test.as, test.environment, sparksubmit.ClaimMount{Claim: "data", Path: "/mnt/data"})
		if err != nil && (!strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2")) || err == nil && got.as != test.want {
			t.Errorf("%s as %q: %q, %v\nwant %s", test.to, test.as, got.as, err, test.want)
		}
	}
}

func TestThePropertyOfSparkSubmitNamesAPlace(t *testing.T) {
	for path, want := range map[string]Flags{
		"s3a://b/a": {to: "s3://b/a?endpoint=https%3A%2F%2Fh%3A1&region=eu&use_path_style=true", as: "s3a://b/a"},
		"gs://b":    {to: "gs://b", as: "gs://b"},
		"abfss://c@acct.dfs.core.windows.net/a/b": {to: "azblob://c/a/b?storage_account=acct", as: "abfss://c@acct.dfs.core.windows.net/a/b"},
		"abfss://acct.dfs.core.windows.net/a":     {}, "hdfs://n/a": {}, "file:///a": {}, "/a": {}, "": {}, "s3a://b\x7f": {},
	} {
		properties := map[string]string{
			PathKey: path, "spark.hadoop.fs.s3a.endpoint": "h:1", "spark.hadoop.fs.s3a.path.style.access": "true", "spark.hadoop.fs.s3a.endpoint.region": "eu",
		}
		got := FlagsOfSpark(properties)
		if got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestFilesThatCannotBeUploaded(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, folder := range []string{"folder", "jars/folder.jar"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const remedy = "name a file of this machine, or write local:///path for a file in the image"
	for path, want := range map[string]string{
		"none.jar":   `--jars "none.jar" cannot be uploaded (no such file or directory): ` + remedy,
		"folder":     `--jars "folder" cannot be uploaded (it is no file, and folders are not uploaded): ` + remedy,
		"none/*.jar": `--jars "none/*.jar" cannot be uploaded (no such file or directory): ` + remedy,
		"jars/*.jar": `--jars "jars/*.jar" cannot be uploaded (jars/folder.jar is no file, and folders are not uploaded): ` + remedy,
		"[":          `--jars "[" cannot be uploaded (no such file or directory): ` + remedy,
	} {
		_, err := (&Flags{to: "s3://b"}).Plan(t.Context(), []sparksubmit.LocalFile{{Field: "--jars", Written: path, Path: path, Pattern: true}}, sparksubmit.Receiver{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
	}
}

func TestAPatternIsEachOfItsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"1.jar": "one", "2.jar": "two", "a.R": "r"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	jars := sparksubmit.LocalFile{Path: "*.jar", Pattern: true}
	files := []sparksubmit.LocalFile{jars, jars, {Path: "1.jar"}, {Path: "/opt/none.R", OfImage: true}}
	plan, err := (&Flags{to: "gs://b"}).Plan(t.Context(), files, sparksubmit.Receiver{})
	if err != nil {
		t.Fatal(err)
	}
	one := "gs://b/sha256/7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed/1.jar"
	two := "gs://b/sha256/3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3/2.jar"
	if diff := cmp.Diff(map[string][]string{"*.jar": {one, two}, "1.jar": {one}}, plan.URLs); diff != "" || len(plan.files) != 2 {
		t.Errorf("%d files, with the URLs (-want +got):\n%s", len(plan.files), diff)
	}
}

func TestSizesArePrintedForPeople(t *testing.T) {
	for size, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB", 3 << 50: "3072.0 TiB"} {
		if got := bytes(size); got != want {
			t.Errorf("%d is %s", size, got)
		}
	}
}
