package codec_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
)

// generated names the clients that client-gen made. The others must decode as they do.
const generated = "generated"

// clientsOf returns clients with each codec, and the generated ones, of a server that answers every request with the same.
func clientsOf(t testing.TB, status int, answer string) map[string]kube.Clients {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	all := map[string]kube.Clients{generated: versioned.NewForConfigOrDie(config)}
	for _, kind := range []codec.Kind{codec.Firesteel, codec.Kubernetes} {
		clients, err := kube.NewClients(config, server.Client(), kind)
		if err != nil {
			t.Fatal(err)
		}
		all[string(kind)] = clients
	}
	return all
}

// sameAsGenerated compares what each codec made of an answer with what the generated clients did.
func sameAsGenerated[Result any](t *testing.T, got map[string]Result) {
	t.Helper()
	for name, result := range got {
		if diff := cmp.Diff(got[generated], result); diff != "" {
			t.Errorf("codec %s (-generated +codec):\n%s", name, diff)
		}
	}
}

// of is an application of a version, with JSON in the place of its spec.
func of(version, spec string) string {
	return `{"apiVersion":"` + version + `","kind":"SparkApplication","metadata":{"annotations":{"kind":"}, {"},"name":"pi"},"spec":` + spec + `}`
}

var answers = map[string]string{
	"as the API server writes it": of("spark.apache.org/v1", `{"mainClass":"Main"}`),
	"with its kind behind":        `{"metadata":{"name":"pi"},"kind":"SparkApplication","spec":{"mainClass":"Main"},"apiVersion":"spark.apache.org/v1"}`,
	"with blanks":                 "{ \"apiVersion\": \"spark.apache.org/v1\",\n\"kind\": \"SparkApplication\", \"metadata\": {\"name\": \"pi\"}}\n",
	"undecodable":                 of("spark.apache.org/v1", `{"mainClass":7}`),
	"with unknown fields":         of("spark.apache.org/v1", `{"mainclass":"Main"}`),
	"of a version that is none":   of("spark.apache.org/v7", `{}`),
	"without metadata":            `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":7}`,
	"cut off":                     of("spark.apache.org/v1", `{"mainClass":"Ma`)[:120],
	"a Status":                    `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"gone","reason":"Expired","code":410}`,
	"nothing":                     ``,
}

func TestAnswersAreDecodedAsByGeneratedClients(t *testing.T) {
	for name, answer := range answers {
		for _, status := range []int{http.StatusOK, http.StatusGone} {
			t.Run(fmt.Sprintf("%s, %d", name, status), func(t *testing.T) {
				got := map[string]any{}
				for name, clients := range clientsOf(t, status, answer) {
					app, err := clients.SparkV1().SparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
					got[name] = outcome{app, err != nil, apierrors.ReasonForError(err)}
				}
				sameAsGenerated(t, got)
			})
		}
	}
}

func TestListsAreDecodedAsByGeneratedClients(t *testing.T) {
	items := strings.Join([]string{answers["as the API server writes it"], answers["undecodable"], answers["with unknown fields"]}, ",")
	list := `{"apiVersion":"spark.apache.org/v1","items":[` + items + `],"kind":"SparkApplicationList","metadata":{"resourceVersion":"7"}}`
	got := map[string]*sparkv1.SparkApplicationList{}
	for name, clients := range clientsOf(t, http.StatusOK, list) {
		var err error
		if got[name], err = clients.SparkV1().SparkApplications("team-a").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	sameAsGenerated(t, got)
	if len(got[generated].Items) != 3 {
		t.Errorf("%d items", len(got[generated].Items))
	}
}

func TestOnlyKnownCodecsAreAccepted(t *testing.T) {
	for text, want := range map[string]codec.Kind{"": "", "firesteel": codec.Firesteel, "kubernetes": codec.Kubernetes} {
		var kind codec.Kind
		if err := kind.UnmarshalText([]byte(text)); err != nil || kind != want {
			t.Errorf("%q is read as %q, %v", text, kind, err)
		}
	}
	var kind codec.Kind
	if err := kind.UnmarshalText([]byte("fast")); err == nil || err.Error() != `there is no codec "fast": write firesteel or kubernetes` {
		t.Errorf("an unknown codec: %v", err)
	}
}

// outcome is the result of a request.
type outcome struct {
	App    *sparkv1.SparkApplication
	Failed bool
	Reason metav1.StatusReason
}

func TestWatchesAreDecodedAsByGeneratedClients(t *testing.T) {
	status := answers["a Status"]
	for name, frames := range map[string][]string{
		"each kind of event": {
			event(watch.Added, answers["as the API server writes it"]), event(watch.Modified, answers["undecodable"]),
			event(watch.Modified, answers["with its kind behind"]), event(watch.Bookmark, of("spark.apache.org/v1", `{}`)),
			event(watch.Deleted, answers["with unknown fields"]), event(watch.Error, status),
		},
		"blanks":             {`{ "type": "ADDED", "object": ` + answers["with blanks"] + `}`, event(watch.Added, answers["as the API server writes it"])},
		"another order":      {`{"object":` + answers["as the API server writes it"] + `,"type":"ADDED"}`},
		"a field more":       {`{"type":"ADDED","object":` + answers["as the API server writes it"] + `,"more":{}}`},
		"no such type":       {event("SEEN", answers["as the API server writes it"])},
		"another's object":   {event(watch.Added, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pi"}}`)},
		"no object":          {`{"type":"ADDED"}`},
		"a text as object":   {event(watch.Added, `"pi"`)},
		"undecodable before": {event(watch.Added, answers["without metadata"]), event(watch.Added, answers["as the API server writes it"])},
		"nothing":            {},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string][]string{}
			for name, clients := range clientsOf(t, http.StatusOK, strings.Join(frames, "\n")) {
				watching, err := clients.SparkV1().SparkApplications("team-a").Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for seen := range watching.ResultChan() {
					text, err := json.Marshal(seen.Object)
					if err != nil {
						t.Fatal(err)
					}
					got[name] = append(got[name], fmt.Sprintf("%s %T %s", seen.Type, seen.Object, text))
				}
			}
			sameAsGenerated(t, got)
		})
	}
}

// A change is not held back until the next one. If the connection breaks, the watch ends as a complete one does, without the
// frame that was cut off: after an error the informer would list all objects again.
func TestWatchReportsEachChangeAtOnce(t *testing.T) {
	seen := make(chan struct{})
	frame := event(watch.Modified, answers["as the API server writes it"]) + "\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		for _, part := range []string{frame[:40], frame[40:]} {
			fmt.Fprint(w, part)
			w.(http.Flusher).Flush()
		}
		select {
		case <-seen:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, frame[:len(frame)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	clients, err := kube.NewClients(&rest.Config{Host: server.URL}, server.Client(), codec.Firesteel)
	if err != nil {
		t.Fatal(err)
	}
	watching, err := clients.SparkV1().SparkApplications("team-a").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watching.Stop)
	if first := <-watching.ResultChan(); first.Type != watch.Modified {
		t.Fatalf("saw %v", first)
	}
	close(seen)
	for more := range watching.ResultChan() {
		t.Errorf("saw %v", more)
	}
}

// The objects of Firesteel's codec are those of the generated clients without managed fields.
func TestManagedFieldsAreNotDecoded(t *testing.T) {
	const managed = `[{"manager":"kubectl","operation":"Update","apiVersion":"spark.apache.org/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:mainClass":{}}}}]`
	for name, metadata := range map[string]string{
		"as the API server writes it": `{"annotations":{"a":"\"managedFields\":["},"labels":{"managedFields":"x"},"managedFields":` + managed + `,"name":"pi","uid":"7"}`,
		"as the last field":           `{"name":"pi", "managedFields" : ` + managed + ` }`,
		"with none":                   `{"name":"pi","managedFields":[]}`,
		"with null":                   `{"name":"pi","managedFields":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			answer := `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":` + metadata +
				`,"spec":{"mainClass":"Main","driverSpec":{"podTemplateSpec":{"metadata":{"labels":{"a":"b"}}}}},"status":{"firesteel":{"sequence":7}}}`
			got := map[string][]*sparkv1.SparkApplication{}
			for name, clients := range clientsOf(t, http.StatusOK, answer) {
				app, err := clients.SparkV1().SparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				got[name] = append(got[name], app)
			}
			for name, clients := range clientsOf(t, http.StatusOK, event(watch.Modified, answer)) {
				watching, err := clients.SparkV1().SparkApplications("team-a").Watch(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for seen := range watching.ResultChan() {
					got[name] = append(got[name], seen.Object.(*sparkv1.SparkApplication))
				}
			}
			if firesteel := got[string(codec.Firesteel)]; len(firesteel) != 2 || len(firesteel[0].ManagedFields)+len(firesteel[1].ManagedFields) > 0 {
				t.Errorf("the objects are %v", firesteel)
			}
			for _, apps := range got {
				for _, app := range apps {
					app.ManagedFields = nil
				}
			}
			sameAsGenerated(t, got)
		})
	}
}

func event(name watch.EventType, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, name, object)
}

// BenchmarkWatch measures what each change of an application costs a client.
func BenchmarkWatch(b *testing.B) {
	app, err := os.ReadFile("testdata/application.json")
	if err != nil {
		b.Fatal(err)
	}
	frame := event(watch.Modified, strings.TrimSpace(string(app))) + "\n"
	for _, name := range []codec.Kind{codec.Kubernetes, codec.Firesteel} {
		b.Run(string(name), func(b *testing.B) {
			clients := clientsOf(b, http.StatusOK, strings.Repeat(frame, b.N))[string(name)]
			watching, err := clients.SparkV1().SparkApplications("team-a").Watch(b.Context(), metav1.ListOptions{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			b.ResetTimer()
			for range watching.ResultChan() {
			}
		})
	}
}
