package sparkui

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// cookie returns the cookie of a visit. Its name is of the secret: no page of another visit can set one of that name.
func (s *SparkUIs) cookie(secret string) session.Cookie {
	secure := strings.HasPrefix(s.Address(), "https:")
	sum := sha256.Sum256([]byte("cookie " + secret))
	const enough = 8
	name := "spark-ui-" + hex.EncodeToString(sum[:enough])
	if secure {
		name = "__Secure-" + name // browsers accept it over HTTPS only
	}
	return session.Cookie{Name: name, Path: pathOf(secret), Secure: secure}
}

// label returns the name of the host of an application's UI.
func label(uid types.UID) string {
	sum := sha256.Sum256([]byte(uid))
	const enough = 16
	return "ui-" + hex.EncodeToString(sum[:enough])
}

// IsLocal reports whether the UIs have names below localhost. Safari asks the name service for them, which may not know them.
func IsLocal(address string) bool {
	origin, err := url.Parse(address)
	return err == nil && strings.HasSuffix(origin.Hostname(), ".localhost")
}

// isHere reports whether a request is for the host of an application's UI.
func (s *SparkUIs) isHere(r *http.Request, uid types.UID) bool {
	origin, err := url.Parse(s.originOf(uid))
	return err == nil && strings.EqualFold(origin.Host, r.Host)
}

// begin begins a visit: it redeems a ticket.
func (s *SparkUIs) begin(w http.ResponseWriter, r *http.Request) {
	h, ok := s.redeem(r.URL.Query().Get("ticket"))
	if !ok {
		refuse(w, http.StatusForbidden, "The link has been used, or is too old. Open the Spark UI by its link in the console.")
		return
	}
	if _, found := s.driverOf(h); !found || !s.isHere(r, h.UID) {
		refuse(w, http.StatusForbidden, "The link is of another application. Open the Spark UI by its link in the console.")
		return
	}
	h.Until = 0
	text, err := s.seal(forVisits, h)
	if err == nil {
		cookie := s.cookie(h.Secret)
		cookie.Life = time.Unix(h.Ends, 0).Sub(s.Clock.Now())
		err = cookie.Set(w, text)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "The visit cannot begin: your token is too long for a browser's cookies.")
		return
	}
	setOwnHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, pathOf(h.Secret)+"/", http.StatusSeeOther)
}

// driverOf returns the driver that is visited, nil for the History Server, and whether it is still that of the application.
func (s *SparkUIs) driverOf(h handover) (*Driver, bool) {
	if h.Past != "" {
		return nil, true
	}
	driver, found := s.Drivers.Driver(h.Ref)
	return driver, found && driver.UID == h.UID
}

// pathOf returns the path of a visit, without a slash at its end.
func pathOf(secret string) string { return "/ui/" + secret }

// visitor is a user who visits a UI.
type visitor struct {
	handover
	// driver is nil for the History Server.
	driver *Driver
}

// visit forwards a request of a visit.
func (s *SparkUIs) visit(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	v, status, problem := s.visitor(r)
	if problem != "" {
		refuse(w, status, problem)
		return
	}
	if !s.enter(v.Secret) {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "Too many requests are under way. Try again.")
		return
	}
	defer s.leave(v.Secret)
	_ = http.NewResponseController(w).SetWriteDeadline(s.Clock.Now().Add(answerTimeout)) // a recorder of tests has none
	s.forward(w, r, v)
}

// visitor returns who visits, or why the request is refused.
func (s *SparkUIs) visitor(r *http.Request) (v *visitor, status int, problem string) {
	const again = "Open the Spark UI by its link in the console."
	text, err := s.cookie(r.PathValue("secret")).Read(r)
	if err != nil || text == "" {
		return nil, http.StatusForbidden, "You have no visit here. " + again
	}
	h, ok := s.open(forVisits, text)
	switch {
	case !ok || subtle.ConstantTimeCompare([]byte(h.Secret), []byte(r.PathValue("secret"))) != 1:
		return nil, http.StatusForbidden, "You have no visit here. " + again
	case !time.Unix(h.Ends, 0).After(s.Clock.Now()):
		return nil, http.StatusForbidden, "The visit is over. " + again
	case !session.IsReadByOwnPages(r):
		return nil, http.StatusForbidden, "Another page sent the request. Nothing was done."
	}
	driver, found := s.driverOf(h)
	switch {
	case !found:
		return nil, http.StatusGone, "The application is gone."
	case !s.isHere(r, h.UID):
		return nil, http.StatusForbidden, "The visit is of another host. " + again
	}
	reader, err := s.Users.Reader(r.Context(), h.Token)
	if err == nil {
		err = reader.Check(r.Context(), h.Ref.right("get"))
	}
	if err == nil && h.Past != "" {
		if status, problem, err = s.visitPast(r, h, reader); problem != "" {
			return nil, status, problem
		}
	} else if err == nil && changes(r) {
		if !isOwn(r) {
			return nil, http.StatusForbidden, "Another page sent the request. Nothing was done."
		}
		if !s.Actions() {
			return nil, http.StatusForbidden, "This console only reads, and nothing was done: actions: allowed in the ConfigMap config-console lets you end jobs and stages here, and so does kubectl spark console --actions."
		}
		err = reader.Check(r.Context(), h.Ref.right("update"))
	}
	switch {
	case errors.Is(err, access.ErrUnauthenticated):
		return nil, http.StatusForbidden, "Your token has expired. Sign in to the console again. " + again
	case errors.Is(err, console.ErrNoNamespace):
		return nil, http.StatusGone, "The application is gone, and so is its namespace."
	case errors.Is(err, access.ErrNotAllowed):
		return nil, http.StatusForbidden, "You may not do that. (" + err.Error() + ")"
	case err != nil:
		return nil, http.StatusServiceUnavailable, "The API server cannot be asked what you may read. Try again later."
	}
	return &visitor{h, driver}, 0, ""
}

// changes reports whether a request may change what the driver does. Spark ends jobs and stages by GET, too.
func changes(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return true
	}
	path := r.URL.Path
	for range 3 { // a driver may decode it again
		if strings.Contains(strings.ToLower(path), "kill") {
			return true
		}
		decoded, err := url.PathUnescape(path)
		if err != nil {
			return true
		}
		path = decoded
	}
	return false
}

// isOwn reports whether a page of the visit's origin sent a request. Browsers that do not say so send the origin with a POST.
func isOwn(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && strings.EqualFold(origin.Host, r.Host)
}

// enter counts a request, if there is room for it.
func (s *SparkUIs) enter(secret string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.running[secret] >= maxOfVisit {
		return false
	}
	select {
	case s.slots <- struct{}{}:
		s.running[secret]++
		return true
	default:
		return false
	}
}

func (s *SparkUIs) leave(secret string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	<-s.slots
	if s.running[secret]--; s.running[secret] == 0 {
		delete(s.running, secret)
	}
}
