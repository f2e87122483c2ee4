package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
)

// maxInterrupted bounds the interrupted watches that are remembered. There is one for each informer, and for each namespace if the
// controller may read only some.
const maxInterrupted = 4096

// withFreshWatches makes the informers of a configuration list again after the API server was away.
//
// Without it they resume their watches at the last resource version that they know. An API server that was restored from an
// older backup uses that version again later, for another change. Until then it accepts the watch and sends nothing, and it
// reports no error.
func withFreshWatches(config *rest.Config) {
	known := &interruptions{counts: lru.New(maxInterrupted)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return freshWatches{next, known} })
}

type freshWatches struct {
	next          http.RoundTripper
	interruptions *interruptions
}

// errInterrupted makes a reflector list again. client-go resumes a watch after some errors, but not after this one.
var errInterrupted = errors.New("watch is not resumed: the connection to the API server was interrupted")

// RoundTrip fails the first request that would resume an interrupted watch. It also hides from a watch that its connection was
// refused: client-go would resume the watch after that error.
func (f freshWatches) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet { // most requests are writes: their queries are not parsed
		return f.next.RoundTrip(request)
	}
	query := request.URL.Query()
	if !query.Has("watch") {
		return f.next.RoundTrip(request)
	}
	key := watchKey(request.URL.Path, query)
	resumes := query.Get("resourceVersion") != "" && query.Get("sendInitialEvents") != "true"
	if f.interruptions.take(key) && resumes {
		return nil, errInterrupted
	}
	sent := time.Now()
	response, err := f.next.RoundTrip(request)
	if err != nil {
		if utilnet.IsConnectionRefused(err) {
			err = errors.New("watch is not resumed: " + err.Error()) // if it were wrapped, client-go would find it
		}
		return response, err
	}
	if seconds, invalid := strconv.Atoi(query.Get("timeoutSeconds")); invalid == nil && response.StatusCode == http.StatusOK {
		response.Body = &watchBody{ReadCloser: response.Body, ctx: request.Context(), end: sent.Add(time.Duration(seconds) * time.Second),
			interrupted: func() { f.interruptions.add(key) }}
	}
	return response, nil
}

// WrappedRoundTripper returns the transport below.
func (f freshWatches) WrappedRoundTripper() http.RoundTripper { return f.next }

// watchKey names what a watch shows, whenever it began.
func watchKey(path string, query url.Values) string {
	return path + "?" + url.Values{"labelSelector": query["labelSelector"], "fieldSelector": query["fieldSelector"]}.Encode()
}

// interruptions counts the watches that ended before their time and were not started again since, by their keys.
type interruptions struct {
	mutex  sync.Mutex
	counts *lru.Cache
}

func (i *interruptions) add(key string) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	count, _ := i.counts.Get(key)
	before, _ := count.(int)
	i.counts.Add(key, before+1)
}

// take reports whether a watch of a key was interrupted, and counts it as started again.
func (i *interruptions) take(key string) bool {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	count, ok := i.counts.Get(key)
	if !ok {
		return false
	}
	if before := count.(int); before > 1 {
		i.counts.Add(key, before-1)
	} else {
		i.counts.Remove(key)
	}
	return true
}

// watchBody is the response to a watch. The API server ends it after the time that the client asked for. If it ends earlier, and
// the client did not end it, the connection was interrupted.
type watchBody struct {
	io.ReadCloser
	ctx         context.Context
	end         time.Time
	interrupted func()
	ended       atomic.Bool
}

// Read reads from the response.
func (b *watchBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil && b.ctx.Err() == nil && time.Now().Before(b.end) && !b.ended.Swap(true) {
		b.interrupted()
	}
	return n, err
}

// Close closes the response.
func (b *watchBody) Close() error {
	b.ended.Store(true)
	return b.ReadCloser.Close()
}
