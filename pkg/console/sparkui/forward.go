package sparkui

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// forward sends a request of a visit to the driver, and its answer to the browser.
func (s *SparkUIs) forward(w http.ResponseWriter, r *http.Request, v *visitor) {
	address, err := v.driver.address()
	if err != nil {
		refuse(w, http.StatusGone, "There is no Spark UI: "+err.Error()+".")
		return
	}
	visit := pathOf(v.Secret)
	out, err := requestTo(r, address.String(), visit)
	if err != nil {
		refuse(w, http.StatusBadRequest, "The address is invalid.")
		return
	}
	answer, err := s.transport.RoundTrip(out)
	if err != nil {
		s.Logger.Debugw("driver does not answer", "namespace", v.Ref.Namespace, "name", v.Ref.Name, zap.Error(err))
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
		rewritten, ok := rewrite(location, address.String(), visit)
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

// requestTo returns the request for a driver.
func requestTo(r *http.Request, address, visit string) (*http.Request, error) {
	path, found := strings.CutPrefix(r.URL.EscapedPath(), visit)
	if !found {
		return nil, http.ErrNoLocation
	}
	to, err := url.Parse("http://" + address + path)
	if err != nil {
		return nil, err
	}
	to.RawQuery = r.URL.RawQuery
	var body io.Reader
	if changes(r) && r.Method != http.MethodGet && r.Method != http.MethodHead {
		body = io.LimitReader(r.Body, maxBodyBytes)
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), body) //nolint:gosec // the address is that of the driver's Pod, and what clients write follows its host
	if err != nil {
		return nil, err
	}
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
