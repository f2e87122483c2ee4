package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Wrap makes the transport of clients whose informers are to sync without a kind, and to list it when it appears. The clients
// must accept JSON.
//
// Each request goes to the API server. Only if that answers 404, and the kind is absent, the answer is another:
//   - A list is empty. It has no resource version, so what is listed or watched next is the most recent state.
//   - A watch that begins there, or asks for what exists first, waits until the kind appears. Then it ends with 410 Gone, after
//     which an informer lists again.
//   - A watch that goes on from an earlier state ends with 410 at once: what the informer has is deleted.
func (k *Kinds) Wrap(next http.RoundTripper) http.RoundTripper { return transport{k, next} }

type transport struct {
	kinds *Kinds
	next  http.RoundTripper
}

// RoundTrip answers for an absent kind.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusNotFound {
		return response, err
	}
	kind, found := t.kinds.kinds[collection(request)]
	if !found {
		return response, nil
	}
	appeared, absent := t.kinds.absent(request.Context(), kind)
	if !absent {
		return response, nil
	}
	if err := response.Body.Close(); err != nil {
		return nil, fmt.Errorf("close the answer that there is no %s: %w", kind.crd(), err)
	}
	return okResponse(request, kind.answer(request, appeared)), nil
}

// WrappedRoundTripper returns the transport below.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// collection is the resource that a request lists or watches; empty for any other request. The path may begin with that of a
// proxy.
func collection(request *http.Request) schema.GroupVersionResource {
	_, path, found := strings.Cut(request.URL.Path, "/apis/")
	if !found || request.Method != http.MethodGet {
		return schema.GroupVersionResource{}
	}
	parts := strings.Split(path, "/")
	if len(parts) == 5 && parts[2] == "namespaces" {
		parts = append(parts[:2], parts[4])
	}
	if len(parts) != 3 {
		return schema.GroupVersionResource{}
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

func okResponse(request *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{"Content-Type": {runtime.ContentTypeJSON}},
		Request: request, Body: body, ContentLength: -1,
	}
}

// answer is what a request for an absent kind is answered with.
func (k *kind) answer(request *http.Request, appeared <-chan struct{}) io.ReadCloser {
	query := request.URL.Query()
	if !enabled(query.Get("watch")) {
		return io.NopCloser(strings.NewReader(k.emptyList()))
	}
	initial := enabled(query.Get("sendInitialEvents"))
	if !initial && query.Get("resourceVersion") != "" {
		return io.NopCloser(strings.NewReader(k.gone()))
	}
	begin := ""
	if initial {
		begin = k.initialEventsEnd()
	}
	return newWait(request.Context(), begin, appeared, k.gone())
}

func enabled(parameter string) bool {
	value, err := strconv.ParseBool(parameter)
	return err == nil && value
}

func (k *kind) emptyList() string {
	return encode(map[string]any{
		"apiVersion": k.GroupVersion().String(), "kind": k.Kind + "List", "metadata": map[string]any{}, "items": []any{},
	})
}

// initialEventsEnd is the event that closes the initial events of a watch.
func (k *kind) initialEventsEnd() string {
	return event(watch.Bookmark, map[string]any{
		"apiVersion": k.GroupVersion().String(), "kind": k.Kind,
		"metadata": map[string]any{"annotations": map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
	})
}

// gone is the event that has an informer list again.
func (k *kind) gone() string {
	status := apierrors.NewResourceExpired("list again: " + k.crd() + " has appeared or disappeared").Status()
	status.Kind, status.APIVersion = "Status", "v1"
	return event(watch.Error, status)
}

func event(name watch.EventType, object any) string {
	return encode(map[string]any{"type": name, "object": object}) + "\n"
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of texts
	}
	return string(text)
}

// waiting is the body of a watch that waits.
type waiting struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// newWait makes the body of a watch: what it begins with, and, once the kind appeared, what it ends with.
func newWait(ctx context.Context, begin string, appeared <-chan struct{}, end string) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	reader, writer := io.Pipe()
	go func() {
		if begin != "" {
			_, _ = io.WriteString(writer, begin) // fails only if the body is closed, which cancels the context
		}
		select {
		case <-ctx.Done():
			writer.CloseWithError(ctx.Err())
			return
		case <-appeared:
		}
		_, err := io.WriteString(writer, end)
		writer.CloseWithError(err)
	}()
	return waiting{reader, cancel}
}

// Close ends the wait.
func (w waiting) Close() error {
	w.cancel()
	return w.PipeReader.Close()
}
