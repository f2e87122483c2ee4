package session

import (
	"net/http"
	"net/url"
	"strings"
)

// The headers in which browsers say who sends a request, and what for.
const fetchSite, fetchDest = "Sec-Fetch-Site", "Sec-Fetch-Dest"

// IsReadByOwnPages reports whether a request that reads may use the rights of a user: a page of its own origin sent it, or a user follows a link. A
// page of another port or host of the same site does neither: browsers send it the cookies all the same. Old browsers do not say who sends, and none
// says so of a WebSocket, but then the request has an Origin.
func IsReadByOwnPages(r *http.Request) bool {
	switch site := r.Header.Get(fetchSite); site {
	case "":
		origin := r.Header.Get("Origin")
		from, err := url.Parse(origin)
		return origin == "" || err == nil && strings.EqualFold(from.Host, r.Host)
	case "same-origin", "none":
		return true
	default:
		destination := r.Header.Get(fetchDest)
		return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && (destination == "document" || destination == "")
	}
}

// isWrittenByOwnPages reports whether one of the console's own pages sent a request that writes. A client that does not say who sends it is
// none.
func (s *Sessions) isWrittenByOwnPages(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if site := r.Header.Get(fetchSite); site != "" {
		return site == "same-origin"
	}
	from, err := url.Parse(origin)
	if err != nil || from.Host == "" {
		return false
	}
	if strings.EqualFold(from.Host, r.Host) {
		return (from.Scheme == "https") == s.Secure(r)
	}
	known, err := url.Parse(s.Address()) // a proxy may have another host for the console
	return err == nil && known.Host != "" && strings.EqualFold(from.Host, known.Host) && from.Scheme == known.Scheme
}
