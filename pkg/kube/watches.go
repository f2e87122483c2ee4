package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
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
//
// A busy API server ends the watches of clients to which it cannot send fast enough. Those are resumed at once: a list would be
// work that makes it busier, and client-go waits before it, up to a minute.
func withFreshWatches(config *rest.Config) {
	known := &interruptions{byKey: lru.New(maxInterrupted)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return freshWatches{next, known} })
}

type freshWatches struct {
	next          http.RoundTripper
	interruptions *interruptions
}

// errInterrupted makes a reflector list again. client-go resumes a watch after some errors, but not after this one.
var errInterrupted = errors.New("watch is not resumed: the connection to the API server was interrupted")

// RoundTrip fails the first request that would resume an interrupted watch. If the request that resumes a watch is itself interrupted, client-go
// does not see why: it would send the request again, and another API server may answer then.
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
	before, early := f.interruptions.take(key)
	if early && resumes && before == nil {
		return nil, errInterrupted
	}
	sent := time.Now()
	var connection net.Conn
	response, err := f.next.RoundTrip(request.WithContext(httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { connection = info.Conn },
	})))
	if err != nil {
		if resumes && request.Context().Err() == nil && clientRepeats(err) {
			return nil, errInterrupted
		}
		return nil, err
	}
	moved := early && resumes && before != connection
	if response.StatusCode != http.StatusOK {
		if moved {
			connection = nil
		}
		if resumes { // client-go may send the request again later
			f.interruptions.add(key, connection)
		}
		return response, nil
	}
	if moved {
		return nil, errors.Join(errInterrupted, response.Body.Close())
	}
	if seconds, invalid := strconv.Atoi(query.Get("timeoutSeconds")); invalid == nil {
		response.Body = &watchBody{ReadCloser: response.Body, ctx: request.Context(), end: sent.Add(time.Duration(seconds) * time.Second),
			interrupted: func(err error) {
				if err != io.EOF {
					connection = nil
				}
				f.interruptions.add(key, connection)
			}}
	}
	return response, nil
}

// clientRepeats reports whether client-go sends the request for a watch again after an error: in rest.Request.Watch, or in the reflector.
func clientRepeats(err error) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) || utilnet.IsConnectionRefused(err)
}

// WrappedRoundTripper returns the transport below.
func (f freshWatches) WrappedRoundTripper() http.RoundTripper { return f.next }

// watchKey names what a watch shows, whenever it began.
func watchKey(path string, query url.Values) string {
	return path + "?" + url.Values{"labelSelector": query["labelSelector"], "fieldSelector": query["fieldSelector"]}.Encode()
}

// interruptions are the watches that were interrupted or refused, and were not started again since, by their keys.
type interruptions struct {
	mutex sync.Mutex
	byKey *lru.Cache
}

// interruption is one or more watches of a key.
type interruption struct {
	count int
	// connection is the one on which the API server ended or refused all of them itself: as long as it is used, that API server was not restarted. It is
	// nil if there is none.
	connection net.Conn
}

func (i *interruptions) add(key string, connection net.Conn) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	known, ok := i.byKey.Get(key)
	if !ok {
		i.byKey.Add(key, interruption{1, connection})
		return
	}
	before := known.(interruption)
	if before.connection != connection {
		connection = nil
	}
	i.byKey.Add(key, interruption{before.count + 1, connection})
}

// take reports whether a watch of a key was interrupted, and counts it as started again. It returns the connection on which the API server
// ended or refused the watch itself; nil if there is none.
func (i *interruptions) take(key string) (net.Conn, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	known, ok := i.byKey.Get(key)
	if !ok {
		return nil, false
	}
	before := known.(interruption)
	if before.count > 1 {
		i.byKey.Add(key, interruption{before.count - 1, before.connection})
	} else {
		i.byKey.Remove(key)
	}
	return before.connection, true
}

// watchBody is the response to a watch. The API server ends it after the time that the client asked for. If it ends earlier or with an error, and
// the client did not end it, it was interrupted.
type watchBody struct {
	io.ReadCloser
	ctx context.Context
	end time.Time
	// interrupted gets the error with which the response ended, which is io.EOF if the API server ended it.
	interrupted func(error)
	ended       atomic.Bool
}

// Read reads from the response.
func (b *watchBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	inTime := err == io.EOF && !time.Now().Before(b.end)
	if err != nil && b.ctx.Err() == nil && !inTime && !b.ended.Swap(true) {
		b.interrupted(err)
	}
	return n, err
}

// Close closes the response.
func (b *watchBody) Close() error {
	b.ended.Store(true)
	return b.ReadCloser.Close()
}
