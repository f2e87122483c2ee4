package sparkctl_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// server is an API server with the objects of testdata/objects.yaml.
type server struct {
	lock    sync.Mutex
	objects map[string]*unstructured.Unstructured // by path
	writes  []string
}

// listKinds are the kinds of the lists of all collections that it serves.
var listKinds = map[string]string{
	"pods": "PodList", "events": "EventList", "configmaps": "ConfigMapList", "sparkapplications": "SparkApplicationList",
	"scheduledsparkapplications": "ScheduledSparkApplicationList",
}

func newServer(t *testing.T) (*server, string) {
	t.Helper()
	file, err := os.Open("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &server{objects: map[string]*unstructured.Unstructured{}}
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); err != nil {
			break
		}
		version := "apis/" + o.GetAPIVersion()
		if o.GetAPIVersion() == "v1" {
			version = "api/v1"
		}
		s.objects[path.Join("/", version, "namespaces", o.GetNamespace(), strings.ToLower(o.GetKind())+"s", o.GetName())] = o
	}
	if len(s.objects) != 9 {
		t.Fatalf("there are %d objects", len(s.objects))
	}
	serving := httptest.NewServer(s)
	t.Cleanup(serving.Close)
	return s, serving.URL
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)                                                                                                 // an error of the client repeats itself
	if typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil && r.Method == http.MethodPost { // the client wrote protobuf
		body, _ = runtime.Encode(scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion), typed)
	}
	dry := r.URL.Query().Get("dryRun") != ""
	if r.Method != http.MethodGet {
		s.note(r, body, dry)
	}
	collection := listKinds[path.Base(r.URL.Path)] != ""
	switch object := s.objects[r.URL.Path]; {
	case strings.HasSuffix(r.URL.Path, "/log"):
		fmt.Fprintf(w, "log of %s\n", path.Base(path.Dir(r.URL.Path)))
	case collection && r.Method == http.MethodGet:
		s.list(w, r.URL.Path)
	case collection && r.Method == http.MethodPost:
		s.create(w, r.URL.Path, body, dry)
	case object == nil:
		fail(w, http.StatusNotFound, "NotFound")
	case r.Method == http.MethodDelete:
		delete(s.objects, r.URL.Path)
		_ = json.NewEncoder(w).Encode(object)
	default:
		_ = json.NewEncoder(w).Encode(object)
	}
}

// note notes a write.
func (s *server) note(r *http.Request, body []byte, dry bool) {
	text := fmt.Sprintf("%s %s", r.Method, r.URL.Path)
	if dry {
		text += " (dry run)"
	}
	if r.Method != http.MethodDelete {
		o := map[string]any{}
		_ = json.Unmarshal(body, &o) // what is no object is noted as none
		written, _ := json.Marshal(o)
		text += " " + string(written)
	}
	s.writes = append(s.writes, text)
}

func (s *server) list(w io.Writer, at string) {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if path.Dir(key) == at {
			items = append(items, s.objects[key].Object)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": listKinds[path.Base(at)], "metadata": map[string]any{"resourceVersion": "9"}, "items": items})
}

func (s *server) create(w http.ResponseWriter, at string, body []byte, dry bool) {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(body); err != nil && o.GetKind() != "" {
		fail(w, http.StatusBadRequest, "BadRequest")
		return
	}
	o.SetUID("u-created")
	if key := path.Join(at, o.GetName()); s.objects[key] != nil {
		fail(w, http.StatusConflict, "AlreadyExists")
		return
	} else if !dry {
		s.objects[key] = o
	}
	if o.GetName() == "refused" {
		fail(w, http.StatusForbidden, "Forbidden")
		return
	}
	_ = json.NewEncoder(w).Encode(o.Object)
}

func fail(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"it is %s","code":%d}`, reason, reason, code)
}

// run runs a command line on a server of its own.
func run(t *testing.T, args ...string) (s *server, code int, out, errOut string) {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	s, url := newServer(t)
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Sparkctl, streams)
	o.Now = func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	code = o.Run(t.Context(), root.New(o), append([]string{"--server", url}, args...))
	return s, code, stdout.String(), strings.ReplaceAll(stderr.String(), url, "SERVER")
}

// lines are the command lines of the golden file.
var lines = []string{
	"list", "list -n reports", "ls --namespace empty", "list extra",
	"status daily", "status broken", "status new", "status etl -n reports", "status absent", "status", "status daily -k testdata/absent",
	"event etl -n reports", "event daily", "event absent", "event",
	"log etl -n reports", "log etl -n reports -e 1", "log absent", "log", "log etl -e abc",
	"forward new", "forward daily -l 70000", "forward daily -r -1",
	"delete daily", "delete absent", "delete",
	"create testdata/pi.yaml", "create testdata/pi.yaml -n reports", "create testdata/daily.yaml", "create testdata/daily.yaml -d", "create testdata/daily.yaml --delete -n other",
	"create testdata/local.yaml -u s3://bucket -p jars -r eu -e https://s3 -c -o --s3-force-path-style", "create testdata/pi.yaml --upload-to gs://bucket",
	"create testdata/local.yaml", "create testdata/pi.yaml -p jars", "create testdata/pi.yaml -u gs://bucket -r eu", "create testdata/pi.yaml -u /bucket",
	"create testdata/twice.yaml", "create testdata/objects.yaml", "create absent.yaml", "create", "create testdata/refused.yaml -d",
	"create nightly-now --from nightly", "create nightly-now -f absent", "create daily --from nightly", "create daily -d --from nightly",
	"frobnicate", "list --colour", "lst",
}

func TestOutputs(t *testing.T) {
	var all strings.Builder
	for _, line := range lines {
		s, code, out, errOut := run(t, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ sparkctl %s\n%s%s[%d]\n", line, errOut, out, code)
		for _, write := range s.writes {
			fmt.Fprintln(&all, write)
		}
		all.WriteByte('\n')
		if code != 0 && strings.Count(errOut, "\n") != 1+strings.Count(errOut, "Warning: ") {
			t.Errorf("%s: the error is not one line: %q", line, errOut)
		}
	}
	golden.Want(t, "testdata/outputs.golden", all.String())
}

func TestFilesAreUploadedBeforeTheOldApplicationIsDeleted(t *testing.T) {
	programs := t.TempDir()
	program := "#!/bin/sh\necho \"$1\" >> " + filepath.Join(programs, "places") + "\nshift\nfor file; do echo \"{\\\"step\\\":\\\"uploaded\\\",\\\"path\\\":\\\"${file#*=}\\\"}\"; done\n"
	if err := os.WriteFile(filepath.Join(programs, "kubectl-spark-upload"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	folder := t.TempDir()
	main := filepath.Join(folder, "etl.py")
	for name, text := range map[string]string{main: "one", filepath.Join(folder, "daily.yaml"): `apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: daily}
spec: {type: Python, sparkVersion: 4.0.1, image: spark, mainApplicationFile: ` + main + `, driver: {}, executor: {}}
`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, code, out, errOut := run(t, strings.Fields("create "+filepath.Join(folder, "daily.yaml")+" -d -u s3://bucket -p /team/a -r eu -e https://s3 --s3-force-path-style -o")...)
	place, err := os.ReadFile(filepath.Join(programs, "places"))
	if want := "s3://bucket/team/a?endpoint=https%3A%2F%2Fs3&region=eu&use_path_style=true\n"; err != nil || string(place) != want {
		t.Errorf("files are sent to %q, want %q: %v", place, want, err)
	}
	const url = "s3a://bucket/team/a/sha256/7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed/etl.py"
	want := "Warning: --override has no effect: a file with another content has another name\netl.py uploaded, 3 bytes: " + url + "\n"
	if code != 0 || out != "SparkApplication \"daily\" created\n" || errOut != want {
		t.Errorf("%d %s%s", code, out, errOut)
	}
	const at = " /apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications"
	for i, begin := range []string{"POST" + at + " (dry run) ", "DELETE" + at + "/daily", "POST" + at + " "} {
		if len(s.writes) != 3 || !strings.HasPrefix(s.writes[i], begin) || i != 1 && !strings.Contains(s.writes[i], url) {
			t.Fatalf("it writes\n%s", strings.Join(s.writes, "\n"))
		}
	}
}

func TestHadoopsConfigurationBecomesAConfigMapOfTheApplication(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"core-site.xml": "<configuration/>", "keys": "\xff\xfe"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HADOOP_CONF_DIR", folder)
	const configMaps = "POST /api/v1/namespaces/default/configmaps "
	s, code, _, errOut := run(t, "create", "testdata/pi.yaml")
	if code != 0 || len(s.writes) != 3 || !strings.Contains(s.writes[0], configMaps) || !strings.Contains(s.writes[0], `"binaryData":{"keys":"//4="},"data":{"core-site.xml":"\u003cconfiguration/\u003e"}`) ||
		!regexp.MustCompile(`"hadoopConfigMap":"pi-hadoop-config-[a-z0-9]{5}"`).MatchString(s.writes[1]) || !strings.Contains(s.writes[2], `"ownerReferences":[{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","name":"pi","uid":"u-created"}]`) {
		t.Errorf("%d %s: it writes\n%s", code, errOut, strings.Join(s.writes, "\n"))
	}
	s, code, _, _ = run(t, "create", "testdata/refused.yaml")
	if last := s.writes[len(s.writes)-1]; code != 1 || !strings.HasPrefix(last, "DELETE /api/v1/namespaces/default/configmaps/refused-hadoop-config-") {
		t.Errorf("%d: after a refusal it writes %s", code, last)
	}
	odd := t.TempDir()
	if err := os.WriteFile(filepath.Join(odd, "core-site.xml~"), []byte("<configuration/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ folder, file, want string }{
		"a name of no key":   {odd, "pi", `its file "core-site.xml~" has no name that a ConfigMap can hold`},
		"an absent folder":   {filepath.Join(folder, "absent"), "pi", "cannot be used (open "},
		"an empty folder":    {filepath.Join(folder, "below"), "pi", "it has no file): name a folder with Hadoop's configuration, or unset it"},
		"two configurations": {folder, "hadoop", `and the manifest's ConfigMap "mine" are two configurations of Hadoop: leave one of them out`},
	} {
		t.Setenv("HADOOP_CONF_DIR", test.folder)
		s, code, _, errOut := run(t, "create", "testdata/"+test.file+".yaml")
		if code != 1 || !strings.Contains(errOut, test.want) || len(s.writes) > 0 {
			t.Errorf("%s: %d %s", name, code, errOut)
		}
	}
}
