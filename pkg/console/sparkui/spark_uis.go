package sparkui

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// Options are what SparkUIs needs.
type Options struct {
	Key     *session.Key
	Users   session.Users
	Drivers Drivers
	Pages   session.Problems
	// Histories know the event logs of applications, and HistoryServer returns the address of the History Server, such as
	// http://history; empty if there is none.
	Histories     Histories
	HistoryServer func() string
	// Runs are the applications that the API lists.
	Runs Runs
	// Actions reports whether users may end jobs and stages from the UIs, if they have the right to update the application.
	Actions func() bool
	// Address returns the origin of the UIs, such as https://*.spark-ui.example.com, in which * stands for a name of each application; empty if they are
	// not served.
	Address func() string
	Clock   clock.PassiveClock
	Logger  *zap.SugaredLogger
	// Dial connects to the addresses of drivers; nil for a connection by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Forward connects to drivers if the console cannot reach their addresses, nor a History Server; nil if it can.
	Forward Forward
}

// SparkUIs serves the UIs of drivers.
type SparkUIs struct {
	Options
	transport *http.Transport
	// slots has a place for each request under way.
	slots chan struct{}
	// lists has the slots of maxLists, by reader.
	lists *fairshare.Limiter

	// mutex guards used and running. used are the tickets that were redeemed, and running counts the requests under way, by visit.
	mutex   sync.Mutex
	used    *cache.LRUExpireCache
	running map[string]int
}

// New returns SparkUIs.
func New(options Options) *SparkUIs {
	s := &SparkUIs{
		Options: options, slots: make(chan struct{}, maxRequests), running: map[string]int{},
		lists: fairshare.NewShared(maxLists, maxListsOfReader, 1), used: cache.NewLRUExpireCacheWithClock(maxTickets, options.Clock),
	}
	dial := options.Dial
	switch {
	case options.Forward != nil:
		dial = s.dialPod
	case dial == nil:
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	s.transport = &http.Transport{ // no proxy: a driver is in the cluster
		DialContext: dial, ResponseHeaderTimeout: headerTimeout, MaxResponseHeaderBytes: maxHeaderBytes, DisableCompression: true,
		IdleConnTimeout: idleTimeout, MaxIdleConns: maxRequests, MaxIdleConnsPerHost: 4, ForceAttemptHTTP2: false,
	}
	return s
}

// Link returns the path of the stable link to the UI of an application, below the console's prefix.
func Link(namespace, resource, name string) string {
	return "/spark-ui/" + namespace + "/" + resource + "/" + name
}

// The parameters of the stable link: they ask for the event log of an attempt, or of one of the applications that had the name.
const paramUID, paramAttempt = "uid", "attempt"

// Open serves the stable link: GET /spark-ui/{namespace}/{resource}/{name} of the console's origin. It leads to the driver's UI while the driver
// runs, and else to the History Server's page. Require of package session guards it.
func (s *SparkUIs) Open() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := session.Of(r.Context())
		resource := schema.ParseGroupResource(r.PathValue("resource"))
		ref := Ref{Resource: resource.Resource, Group: resource.Group, Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		h, err := s.opened(r, user, ref)
		var refusal *refusal
		switch {
		case errors.As(err, &refusal):
			s.Pages.Problem(w, r, refusal.status, refusal.message)
			return
		case err != nil:
			s.Logger.Debugw("Spark UI cannot be opened", "namespace", ref.Namespace, "name", ref.Name, zap.Error(err))
			s.Pages.Problem(w, r, http.StatusServiceUnavailable, "The API server cannot be asked what you may read. Try again later.")
			return
		}
		now := s.Clock.Now()
		ends := now.Add(session.MaxLife)
		if !user.Ends.IsZero() && user.Ends.Before(ends) {
			ends = user.Ends
		}
		h.Secret, h.Ref, h.Token, h.Until, h.Ends = newSecret(), ref, user.Token, now.Add(ticketLife).Unix(), ends.Unix()
		ticket, err := s.seal(forTickets, h)
		if err != nil {
			s.Logger.Errorw("ticket cannot be made", zap.Error(err))
			s.Pages.Problem(w, r, http.StatusInternalServerError, "The Spark UI cannot be opened. The log of the console says why.")
			return
		}
		http.Redirect(w, r, s.originOf(h.UID)+"/open?"+url.Values{"ticket": {ticket}}.Encode(), http.StatusSeeOther)
	})
}

// refusal is why a UI is not opened.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

// opened returns what a ticket hands over: the driver's UI or the History Server's page.
func (s *SparkUIs) opened(r *http.Request, user *session.Session, ref Ref) (h handover, err error) {
	absent := &refusal{http.StatusNotFound, "There is no such application, or you may not read it: that needs " + ref.right("get").String() + "."}
	err = user.Check(r.Context(), ref.right("get"))
	wanted := Wanted{UID: types.UID(r.URL.Query().Get(paramUID)), Attempt: r.URL.Query().Get(paramAttempt)}
	driver, found := s.Drivers.Driver(ref)
	if found && wanted.UID != "" && wanted.UID != driver.UID {
		found = false
	}
	switch {
	case errors.Is(err, access.ErrNotAllowed), err == nil && !found && s.HistoryServer() == "":
		return h, absent
	case err != nil:
		return h, err
	case s.Address() == "":
		return h, &refusal{http.StatusNotFound, "This console serves no Spark UIs: the key spark-uis of the ConfigMap config-console gives them an address. kubectl spark ui opens one."}
	}
	gone := "the driver is gone"
	if found && wanted.Attempt == "" {
		if _, err := s.reach(ref, driver); err == nil {
			return handover{UID: driver.UID}, s.mayReach(r.Context(), user, ref, driver)
		} else if gone = err.Error(); driver.Runs || s.HistoryServer() == "" {
			return h, &refusal{http.StatusNotFound, "There is no Spark UI: " + gone + "."}
		}
	}
	past, found, err := s.Histories.History(r.Context(), user, ref, wanted)
	if err != nil || !found {
		return h, cmp.Or[error](err, absent)
	}
	id, err := s.find(r.Context(), past.IDs)
	switch {
	case err != nil:
		s.Logger.Errorw("History Server does not answer", zap.Error(err))
		return h, &refusal{http.StatusBadGateway, "The driver is gone, and the History Server does not answer: try again later."}
	case id == "":
		return h, &refusal{http.StatusNotFound, "There is no Spark UI: " + gone + ", and the History Server has no event log of it. It shows an event log a minute after the driver has written it. " +
			"The annotation firesteel.dev/event-logs lets a driver write one."}
	}
	return handover{UID: past.UID, Past: id, Namespace: past.Namespace}, nil
}

// originOf returns the origin of the UI of an application.
func (s *SparkUIs) originOf(uid types.UID) string {
	return strings.Replace(s.Address(), "*", label(uid), 1)
}

// Handler serves the origin of the UIs.
func (s *SparkUIs) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open", s.begin)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "There is nothing here. Open the Spark UI by its link in the console.")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Path) > maxPathBytes {
			refuse(w, http.StatusRequestURITooLong, "The address is too long.")
			return
		}
		// A mux would redirect to a clean path: drivers have their own rules for paths.
		if rest, found := strings.CutPrefix(r.URL.Path, "/ui/"); found {
			if secret, _, more := strings.Cut(rest, "/"); more {
				r.SetPathValue("secret", secret)
				s.visit(w, r)
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// refuse writes a page of the console's own on the origin of the UIs.
func refuse(w http.ResponseWriter, status int, message string) {
	setOwnHeaders(w.Header())
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(message + "\n")) //nolint:gosec // it is plain text; if it fails, the client has left
}

const (
	// maxRequests bounds the requests under way, and maxOfVisit those of one visit.
	maxRequests, maxOfVisit = 256, 32
	// dialTimeout, forwardTimeout and headerTimeout bound the wait for a driver, and answerTimeout a whole answer.
	dialTimeout    = 5 * time.Second
	forwardTimeout = 20 * time.Second
	headerTimeout  = 30 * time.Second
	answerTimeout  = 5 * time.Minute
	idleTimeout    = 30 * time.Second
	// maxHeaderBytes bounds the header of an answer, maxBodyBytes the body of a request, and maxPathBytes its path.
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 64 << 10
	maxPathBytes   = 4 << 10
)
