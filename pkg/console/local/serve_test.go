package local

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestRequestsNameTheConsolesOwnHostAndPath(t *testing.T) {
	address := &url.URL{Scheme: "http", Host: "127.0.0.1:8080", Path: "/secret"}
	handler := own(address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for target, want := range map[string]int{
		"http://127.0.0.1:8080/secret": http.StatusOK, "http://127.0.0.1:8080/secret/": http.StatusOK, "http://127.0.0.1:8080/secret/applications?x=y": http.StatusOK,
		"http://127.0.0.1:8080/": http.StatusNotFound, "http://127.0.0.1:8080/secrets": http.StatusNotFound, "http://127.0.0.1:8080/sign-in": http.StatusNotFound,
		"http://127.0.0.1:8080/x/../secret/": http.StatusNotFound, "http://127.0.0.1:8080/%73ecret/": http.StatusNotFound,
		"http://127.0.0.1/secret/": http.StatusMisdirectedRequest, "http://127.0.0.1:8081/secret/": http.StatusMisdirectedRequest,
		"http://localhost:8080/secret/": http.StatusMisdirectedRequest, "http://[::1]:8080/secret/": http.StatusMisdirectedRequest,
		"http://rebound.example.com:8080/secret/": http.StatusMisdirectedRequest, "http://127.0.0.1.example.com:8080/secret/": http.StatusMisdirectedRequest,
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, target, nil))
		if answer.Code != want || want != http.StatusOK && strings.Contains(answer.Body.String(), "secret") {
			t.Errorf("%s: %d %q, want %d", target, answer.Code, answer.Body, want)
		}
	}
}

func TestPortIsOfThisMachineAlone(t *testing.T) {
	listener, err := listen("--port", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if host, _, _ := net.SplitHostPort(listener.Addr().String()); host != "127.0.0.1" {
		t.Errorf("it listens at %s", listener.Addr())
	}
	port, err := strconv.Atoi(portOf(listener))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen("--port", port); err == nil || !strings.HasPrefix(err.Error(), "--port "+portOf(listener)+" cannot be used (") {
		t.Errorf("a port that is in use: %v", err)
	}
}
