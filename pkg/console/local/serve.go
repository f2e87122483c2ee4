package local

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// loopback is the only address at which the console listens. The UIs of drivers listen there, too: uiHost is another name of it, so that cookies of one
	// are not sent to the other.
	loopback = "127.0.0.1"
	uiHost   = "localhost"
)

// listen opens a port of the loopback address. flag is what the port was named by; 0 is any port that is free.
func listen(flag string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil { // it is no error of the API server's connection
		return nil, fmt.Errorf("%s %d cannot be used (%v): write another port, or leave the flag out for any that is free", flag, port, err) //nolint:errorlint // explained as one of the API server otherwise
	}
	return listener, nil
}

// portOf returns the port of a listener.
func portOf(listener net.Listener) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // it is one of TCP
	return port
}

// own lets requests through that name the console's own host, and a path below its own. A page whose name leads to this machine has another host.
func own(address *url.URL, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch rest, below := strings.CutPrefix(r.URL.EscapedPath(), address.EscapedPath()); {
		case r.Host != address.Host:
			http.Error(w, "This is the console of kubectl spark, and the request is for another host.", http.StatusMisdirectedRequest)
		case !below || rest != "" && rest[0] != '/':
			http.Error(w, "There is nothing here. The console is at the link that kubectl spark console has printed.", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
