package integration

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// faultyServer stands between one controller and the API server. It shows the controller one namespace only, so that
// several can run beside each other, and it is where requests get lost.
type faultyServer struct {
	server *httptest.Server

	mutex  sync.Mutex
	writes map[string][]string
	traps  map[string]trap
	closed []string
	// delayed are called before reads of their paths are answered, once.
	delayed map[string]func()
	// followed are the Pods that were listed or watched one by one.
	followed []string
	losing   loss
}

// loss is a number of requests that get the response 404. The paths of the requests have a suffix.
type loss struct {
	end   string
	times int
	done  chan struct{}
}

// trap acts once, at a write about an application.
type trap struct {
	// at is the number of the write, from 1; 0 for none.
	at int
	// answered means that the API server executes the write, and only its response is lost.
	answered bool
	// late means that the response is not lost, but delayed until the trap's action is over.
	late bool
	// spring is called while the write waits.
	spring func()
}

// clusterWide are the paths of the controller's lists and watches.
var clusterWide = []string{"/apis/spark.apache.org/v1/sparkapplications", "/api/v1/pods"}

func newFaultyServer(config *rest.Config, namespace string) (*faultyServer, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: config.TLSClientConfig})
	if err != nil {
		return nil, err
	}
	p := &faultyServer{writes: map[string][]string{}, traps: map[string]trap{}, delayed: map[string]func(){}}
	p.server = httptest.NewServer(&httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			if slices.Contains(clusterWide, r.Out.URL.Path) {
				group, resource := path.Split(r.Out.URL.Path)
				r.Out.URL.Path = group + "namespaces/" + namespace + "/" + resource
			}
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+config.BearerToken) // clients don't send one without TLS
		},
		ModifyResponse: func(response *http.Response) error {
			if until, _ := response.Request.Context().Value(delayKey{}).(func()); until != nil {
				until()
			}
			if sprung, _ := response.Request.Context().Value(sprungKey{}).(*trap); sprung != nil {
				sprung.spring()
				if !sprung.late {
					panic(http.ErrAbortHandler)
				}
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	forward := p.server.Config.Handler
	p.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		p.serve(forward, w, request)
	})
	return p, nil
}

func (p *faultyServer) close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// config returns the configuration that connects a controller to it.
func (p *faultyServer) config() *rest.Config {
	return &rest.Config{Host: p.server.URL}
}

// setTrap sets the trap of an application. It replaces the previous one.
func (p *faultyServer) setTrap(application string, t trap) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.traps[application] = t
}

// delay delays the response to the next read of a path with this suffix until a function returns.
func (p *faultyServer) delay(end string, until func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.delayed[end] = until
}

// recordRead records a read, and returns the function to call before its response.
func (p *faultyServer) recordRead(request *http.Request) func() {
	if request.Method != http.MethodGet {
		return nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if pod, one := strings.CutPrefix(request.URL.Query().Get("fieldSelector"), "metadata.name="); one {
		p.followed = append(p.followed, pod)
	}
	for end, until := range p.delayed {
		if strings.HasSuffix(request.URL.Path, end) {
			delete(p.delayed, end)
			return until
		}
	}
	return nil
}

// follows reports whether a single Pod was listed or watched.
func (p *faultyServer) follows(pod string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Contains(p.followed, pod)
}

// refuse responds with 503 to requests for paths with such a suffix, from now on.
func (p *faultyServer) refuse(ends ...string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.closed = ends
}

// answerNotFound answers so many of the requests of paths with an end with 404, as if there were no such thing. What it returns is closed
// with the last.
func (p *faultyServer) answerNotFound(end string, times int) (done <-chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.losing = loss{end, times, make(chan struct{})}
	return p.losing.done
}

func (p *faultyServer) answersNotFound(path string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.losing.times == 0 || !strings.HasSuffix(path, p.losing.end) {
		return false
	}
	if p.losing.times--; p.losing.times == 0 {
		close(p.losing.done)
	}
	return true
}

// cutConnections cuts all connections.
func (p *faultyServer) cutConnections() { p.server.CloseClientConnections() }

func (p *faultyServer) refuses(path string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.ContainsFunc(p.closed, func(end string) bool { return strings.HasSuffix(path, end) })
}

// written returns the writes about an application until now.
func (p *faultyServer) written(application string) []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.writes[application])
}

type (
	sprungKey struct{}
	delayKey  struct{}
)

func (p *faultyServer) serve(forward http.Handler, w http.ResponseWriter, request *http.Request) {
	sprung := p.recordWrite(request)
	if until := p.recordRead(request); until != nil {
		request = request.WithContext(context.WithValue(request.Context(), delayKey{}, until))
	}
	switch {
	case p.refuses(request.URL.Path):
		w.WriteHeader(http.StatusServiceUnavailable)
	case p.answersNotFound(request.URL.Path):
		http.NotFound(w, request)
	case sprung == nil:
		forward.ServeHTTP(w, request)
	case sprung.answered:
		forward.ServeHTTP(w, request.WithContext(context.WithValue(context.WithoutCancel(request.Context()), sprungKey{}, sprung)))
	default:
		sprung.spring()
		panic(http.ErrAbortHandler)
	}
}

// recordWrite counts a write. Kubernetes Events are no step of a life: they are sent beside it, and may be lost.
func (p *faultyServer) recordWrite(request *http.Request) *trap {
	rest := shortPath(request.URL.Path)
	if request.Method == http.MethodGet || strings.HasPrefix(rest, "events") {
		return nil
	}
	application := subject(request, rest)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.writes[application] = append(p.writes[application], request.Method+" "+rest)
	armed := p.traps[application]
	if armed.at != len(p.writes[application]) {
		return nil
	}
	return &armed
}

// shortPath returns the path after the namespace.
func shortPath(long string) string {
	_, rest, _ := strings.Cut(long, "/namespaces/")
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}

var (
	ofApplication = regexp.MustCompile(`^sparkapplications/([^/]+)`)
	ofDriver      = regexp.MustCompile(`^pods/(.+)-\d+-driver$`)
)

// subject returns the application that a write is about, from its path or from the labels of the object that it creates.
func subject(request *http.Request, path string) string {
	for _, pattern := range []*regexp.Regexp{ofApplication, ofDriver} {
		if found := pattern.FindStringSubmatch(path); found != nil {
			return found[1]
		}
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return ""
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	return labelled(body)
}

// labelled returns the value of the label that names the application, in an object in Protobuf. The field's number and its length
// precede it.
func labelled(body []byte) string {
	_, after, found := bytes.Cut(body, []byte(apache.LabelApplication))
	if !found || len(after) < 2 || len(after) < 2+int(after[1]) {
		return ""
	}
	return string(after[2 : 2+after[1]])
}
