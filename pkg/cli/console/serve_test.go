package console

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
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
	listener, err := opener(net.Listen).at(loopback, "--port", 0)
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
	if _, err := opener(net.Listen).at(loopback, "--port", port); err == nil || !strings.HasPrefix(err.Error(), "--port "+portOf(listener)+" cannot be used (") {
		t.Errorf("a port that is in use: %v", err)
	}
}

// ports are those of both loopback addresses. Those that are taken belong to another user.
type ports struct {
	taken map[string]bool
	// next is the next free port, and open are those that were opened.
	next int
	open map[string]*fakeListener
}

type fakeListener struct {
	net.Listener
	address *net.TCPAddr
	closed  bool
}

func (l *fakeListener) Addr() net.Addr { return l.address }

func (l *fakeListener) Close() error {
	l.closed = true
	return nil
}

func (p *ports) listen(network, address string) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr(network, address)
	if err != nil {
		return nil, err
	}
	if resolved.Port == 0 {
		resolved.Port = p.next
		p.next++
	}
	if p.taken[resolved.String()] {
		return nil, errors.New("address already in use")
	}
	opened := &fakeListener{address: resolved}
	p.open[resolved.String()] = opened
	return opened, nil
}

func TestSparkUIsHaveTheSamePortAtBothAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		port  int
		taken []string
		want  string // the port, or what is wrong
	}{
		"any":                                 {0, nil, "4001"},
		"any, and the first is taken by IPv6": {0, []string{"[::1]:4001", "[::1]:4002"}, "4003"},
		"named":                               {8082, nil, "8082"},
		"named, and taken by IPv6":            {8082, []string{"[::1]:8082"}, "--spark-ui-port 8082 cannot be used (address already in use): write another port, or leave the flag out"},
		"named, and taken by IPv4":            {8082, []string{"127.0.0.1:8082"}, "--spark-ui-port 8082 cannot be used (address already in use): write another port, or leave the flag out"},
		"any, and IPv4 has none":              {0, []string{"127.0.0.1:4001"}, "--spark-ui-port 0 cannot be used (address already in use): "},
	} {
		p := &ports{taken: map[string]bool{}, next: 4001, open: map[string]*fakeListener{}}
		for _, address := range c.taken {
			p.taken[address] = true
		}
		listeners, err := opener(p.listen).atBoth("--spark-ui-port", c.port)
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		} else if len(listeners) != 2 || listeners[0].Addr().String() != "127.0.0.1:"+c.want || listeners[1].Addr().String() != "[::1]:"+c.want {
			t.Errorf("%s: %v, want %s", name, listeners, c.want)
		}
		for address, opened := range p.open {
			if used := slices.Contains(listeners, net.Listener(opened)); used == opened.closed {
				t.Errorf("%s: %s is closed (%t), used (%t)", name, address, opened.closed, used)
			}
		}
	}
}

func TestPortsThatAreTakenEverywhereAreAnError(t *testing.T) {
	p := &ports{taken: map[string]bool{}, next: 4001, open: map[string]*fakeListener{}}
	for port := range 100 {
		p.taken["[::1]:"+strconv.Itoa(4001+port)] = true
	}
	if listeners, err := opener(p.listen).atBoth("--spark-ui-port", 0); err == nil || !strings.HasSuffix(err.Error(), "name one by --spark-ui-port that is free at both") {
		t.Errorf("%v, %v", listeners, err)
	}
}

func TestNoOtherUserListensWhereSparkUIsAreServed(t *testing.T) {
	listeners, err := listenAsUIHosts("--spark-ui-port", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(listeners)
	for _, address := range []string{"127.0.0.1", "[::1]"} {
		if other, err := net.Listen("tcp", address+":"+portOf(listeners[0])); err == nil {
			t.Errorf("another server listens at %s", other.Addr())
			_ = other.Close()
		}
	}
}

func TestMachineWithoutIPv6HasNoSuchLoopback(t *testing.T) {
	network := func(text string) net.Addr {
		ip, of, err := net.ParseCIDR(text)
		if err != nil {
			t.Fatal(err)
		}
		return &net.IPNet{IP: ip, Mask: of.Mask}
	}
	if four := []net.Addr{network("127.0.0.1/8"), network("fe80::1/64")}; hasLoopback6(four) || !hasLoopback6(append(four, network("::1/128"))) {
		t.Error("the loopback address of IPv6 is not known")
	}
}
