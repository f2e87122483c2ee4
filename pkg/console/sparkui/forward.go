package sparkui

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// base returns the address of the driver's UI, or of the History Server.
func (s *SparkUIs) base(v *visitor) (*url.URL, error) {
	if v.driver == nil {
		return url.Parse(s.HistoryServer())
	}
	address, err := s.reach(v.Ref, v.driver)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "http", Host: address}, nil
}

// forward sends a request of a visit to the driver or the History Server, and its answer to the browser.
func (s *SparkUIs) forward(w http.ResponseWriter, r *http.Request, v *visitor) {
	base, err := s.base(v)
	if err != nil {
		refuse(w, http.StatusGone, "There is no Spark UI: "+err.Error()+". Open it again by its link in the console, which may lead to the History Server.")
		return
	}
	visit := pathOf(v.Secret)
	if v.driver == nil && r.URL.Path == visit+"/" {
		setOwnHeaders(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, visit+"/history/"+v.Past+"/jobs/", http.StatusSeeOther) //nolint:gosec // both are of the console's own making, in the sealed cookie
		return
	}
	out, err := requestTo(r, base, visit)
	if err != nil {
		refuse(w, http.StatusBadRequest, "The address is invalid.")
		return
	}
	answer, err := s.transport.RoundTrip(out)
	if err != nil {
		s.Logger.Debugw("Spark UI does not answer", "namespace", v.Ref.Namespace, "name", v.Ref.Name, "history", v.Past, zap.Error(err))
		if v.driver == nil {
			refuse(w, http.StatusBadGateway, "The History Server does not answer. It may be starting, or busy: try again.")
			return
		}
		refuse(w, http.StatusBadGateway, "The driver does not answer. It may be starting, or busy, or a NetworkPolicy keeps the console from it: try again.")
		return
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	if answer.StatusCode < http.StatusOK {
		refuse(w, http.StatusBadGateway, "The driver wants another protocol, which the console does not speak.")
		return
	}
	header := http.Header{}
	copyHeaders(header, answer.Header, fromDriver)
	if location := answer.Header.Get("Location"); location != "" {
		rewritten, ok := rewrite(location, base, visit)
		if !ok {
			refuse(w, http.StatusBadGateway, "The driver leads to another site, and the console does not follow it there.")
			return
		}
		header.Set("Location", rewritten)
	}
	setOwnHeaders(header)
	header.Set("Cache-Control", "no-store")
	if strings.HasPrefix(r.URL.Path, visit+"/static/") {
		header.Set("Cache-Control", "private, max-age=3600")
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(flushing{w, http.NewResponseController(w)}, answer.Body) // the client or the driver has left
}

// requestTo returns the request for a driver or the History Server. What follows the visit in the address is a path there, whatever it has in it: it
// never becomes a part of the host.
func requestTo(r *http.Request, base *url.URL, visit string) (*http.Request, error) {
	escaped, found := strings.CutPrefix(r.URL.EscapedPath(), visit+"/")
	if !found {
		return nil, http.ErrNoLocation
	}
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if changes(r) && r.Method != http.MethodGet && r.Method != http.MethodHead {
		body = io.LimitReader(r.Body, maxBodyBytes)
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, (&url.URL{Scheme: base.Scheme, Host: base.Host}).String(), body)
	if err != nil {
		return nil, err
	}
	out.URL.Path, out.URL.RawPath, out.URL.RawQuery = "/"+path, "/"+escaped, r.URL.RawQuery
	copyHeaders(out.Header, r.Header, toDriver)
	out.Header.Set("X-Forwarded-Context", visit)
	out.Header.Set("User-Agent", "firesteel-console")
	return out, nil
}

// flushing sends what a driver sends at once.
type flushing struct {
	w       io.Writer
	control *http.ResponseController
}

func (f flushing) Write(part []byte) (int, error) {
	n, err := f.w.Write(part)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
