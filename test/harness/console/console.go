// Package console serves an archive in memory to clients of the console's API, with the console's own handler.
package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
)

// Token is the token that may read everything. Others may read nothing.
const Token = "reader"

// Console is a console that runs.
type Console struct {
	URL     string
	Archive *archive.Archive
}

// New starts a console, and ends it with the test.
func New(t testing.TB) *Console {
	t.Helper()
	c := &Console{Archive: archive.New(memblob.OpenBucket(nil))}
	server := httptest.NewServer(console.NewHandler(c, c, zap.NewNop().Sugar()))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Cluster returns the configuration of a user who may read the archive. No API server is behind it.
func (c *Console) Cluster() *rest.Config {
	return &rest.Config{Host: "https://api-server.invalid", BearerToken: Token}
}

// Of returns the archive.
func (c *Console) Of(context.Context, string) (*archive.Archive, error) { return c.Archive, nil }

// Namespaces returns the archived namespaces.
func (c *Console) Namespaces(ctx context.Context) ([]string, error) { return c.Archive.Namespaces(ctx) }

// Reader authenticates by Token.
func (c *Console) Reader(request *http.Request) (console.Reader, error) {
	if request.Header.Get("Authorization") != "Bearer "+Token {
		return nil, access.ErrUnauthenticated
	}
	return reader{}, nil
}

type reader struct{}

func (reader) Name() string { return Token }

func (reader) Key() string { return Token }

func (reader) Ask(context.Context, access.Right) error { return nil }

func (reader) Check(context.Context, access.Right) error { return nil }

func (reader) Namespace(_ context.Context, name string) (archive.Namespace, error) {
	return namespaceOf(name), nil
}

func namespaceOf(name string) archive.Namespace {
	return archive.Namespace{Name: name, UID: types.UID("uid-of-" + name)}
}

// Ended is what is archived of the last attempt of an application.
type Ended struct {
	Object *unstructured.Unstructured
	// Resource is the plural of the kind.
	Resource string
	Attempt  int64
	At       time.Time
	State    string
	Message  string
	// Logs hold the text of each log: lines with timestamps.
	Logs []Log
	Pods []corev1.Pod
	// Missing is what could not be archived.
	Missing []archive.Missing
}

// Log is an archived log.
type Log struct {
	archive.Log
	Text string
}

// Store archives an application that has failed.
func (c *Console) Store(t testing.TB, ended Ended) {
	t.Helper()
	object := ended.Object
	namespace := namespaceOf(object.GetNamespace())
	app := archive.Application{
		Namespace: namespace.Name, NamespaceUID: namespace.UID, Resource: ended.Resource + "." + object.GroupVersionKind().Group,
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), UID: object.GetUID(), Labels: object.GetLabels(),
		Created: object.GetCreationTimestamp().Time, Ended: &ended.At, Attempt: ended.Attempt, State: ended.State, Outcome: "Failed", Message: ended.Message,
	}
	check(t, c.Archive.WriteApplication(t.Context(), app))
	stored := c.Archive.Attempt(app.ID(), ended.Attempt)
	manifest := &archive.Manifest{
		Attempt: ended.Attempt, Began: app.Created, Ended: ended.At, Archived: ended.At, State: app.State, Outcome: app.Outcome, Message: app.Message, Missing: ended.Missing,
	}
	put := func(file, kind, name string, object any) {
		content, err := json.Marshal(object)
		check(t, err)
		check(t, stored.Put(t.Context(), content, "objects", file))
		manifest.Objects = append(manifest.Objects, archive.Object{File: file, Kind: kind, Name: name})
	}
	put("application.json.gz", object.GetKind(), object.GetName(), object.Object)
	for _, pod := range ended.Pods {
		put("pod-"+pod.Name+".json.gz", "Pod", pod.Name, pod)
	}
	for _, log := range ended.Logs {
		log.Bytes = int64(len(log.Text))
		check(t, stored.File("logs", log.Pod, string(log.PodUID), log.Container, "0").Append(t.Context(), 0, []byte(log.Text)))
		manifest.Logs = append(manifest.Logs, log.Log)
	}
	_, err := stored.WriteManifest(t.Context(), manifest)
	check(t, err)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
