package session

import (
	"net/http"
	"net/url"
	"strings"
)

// prefix returns the path below which the pages are, without a slash at its end.
func (s *Sessions) prefix() string { return Prefix(s.Address()) }

// Prefix returns the path of an address, without a slash at its end: what all links of the console's pages begin with.
func Prefix(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimRight(parsed.EscapedPath(), "/")
}

// StripPrefix serves requests without the path of an address. Proxies send it, or have removed it.
func StripPrefix(address func() string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix := Prefix(address())
		rest, found := strings.CutPrefix(r.URL.EscapedPath(), prefix)
		switch {
		case prefix == "" || !found || rest != "" && rest[0] != '/':
			next.ServeHTTP(w, r)
		case rest == "":
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
		default:
			http.StripPrefix(prefix, next).ServeHTTP(w, r)
		}
	})
}
