package sparkui

import (
	"net/http"
	"net/url"
	"strings"
)

// toDriver are the headers of a request that reach a driver: nothing that says who the user is, or where the page is.
var toDriver = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "If-Modified-Since", "If-None-Match", "Range", "X-Requested-With",
}

// fromDriver are the headers of an answer that reach the browser. No answer sets a cookie, asks for a password, or changes what the browser does
// with the origin.
var fromDriver = []string{
	"Accept-Ranges", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range", "Content-Security-Policy",
	"Content-Type", "Etag", "Last-Modified", "Vary", "X-Xss-Protection",
}

// ownPolicy is added to Spark's own Content-Security-Policy: both hold. No page stays in the browser as a worker, none is shown in a frame, and no
// form leads elsewhere.
const ownPolicy = "worker-src 'none'; frame-ancestors 'none'; form-action 'self'; base-uri 'self'"

// setOwnHeaders sets what the console says about each answer.
func setOwnHeaders(header http.Header) {
	header.Add("Content-Security-Policy", ownPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin") // the path is a secret
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Origin-Agent-Cluster", "?1")
}

// copyHeaders copies some headers.
func copyHeaders(to, from http.Header, names []string) {
	for _, name := range names {
		if values := from.Values(name); len(values) > 0 {
			to[http.CanonicalHeaderKey(name)] = values
		}
	}
}

// rewrite returns a Location of a driver as one of the visit; false if it leads elsewhere. base is what the driver was called.
func rewrite(location string, base *url.URL, visit string) (string, bool) {
	to, err := url.Parse(location)
	switch {
	case err != nil, to.User != nil, to.Opaque != "", strings.ContainsAny(location, "\\\t\r\n"):
		return "", false
	case to.Host != "" && to.Host != base.Host, to.Host == "" && to.Scheme != "", to.Scheme != "" && to.Scheme != base.Scheme:
		return "", false
	}
	rest := to.EscapedPath()
	switch {
	case rest == "" && to.Host == "": // the same page, with another query
	case !strings.HasPrefix(rest, "/") && to.Host == "": // below the page
		if strings.Contains(rest, "..") || strings.Contains(rest, ":") {
			return "", false
		}
	case strings.HasPrefix(rest, visit+"/"): // Spark has made it of X-Forwarded-Context
	default:
		rest = visit + "/" + strings.TrimLeft(rest, "/")
	}
	if strings.Contains(rest, "/../") || strings.HasSuffix(rest, "/..") || strings.Contains(strings.ToLower(rest), "%2e") {
		return "", false
	}
	if to.RawQuery != "" {
		rest += "?" + to.RawQuery
	}
	return rest, rest != ""
}
