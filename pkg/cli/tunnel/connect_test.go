package tunnel

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
)

// podServer is an API server that forwards ports of one Pod. The Pod answers each line with its port and the line, and refuses the port 1.
type podServer struct{ closed chan struct{} }

func (s *podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/namespaces/team-a/pods/etl.1-driver/portforward" || strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		port := stream.Headers().Get(corev1.PortHeader)
		switch isData := stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData; {
		case isData && port != "1":
			go func() {
				lines := bufio.NewScanner(stream)
				for lines.Scan() {
					fmt.Fprintf(stream, "%s %s\n", port, lines.Text())
				}
			}()
		case !isData && port == "1":
			go func() {
				_, _ = io.WriteString(stream, "connection refused")
				_ = stream.Close()
			}()
		}
		return nil
	})
	if connection != nil {
		<-connection.CloseChan()
		close(s.closed)
	}
}

// connect connects to a port of the Pod. The channel is closed with the connection to the API server.
func connect(t *testing.T, pod string, port int) (net.Conn, <-chan struct{}, error) {
	t.Helper()
	handler := &podServer{make(chan struct{})}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	connection, err := Connect(t.Context(), &rest.Config{Host: server.URL}, "team-a", pod, port)
	return connection, handler.closed, err
}

func TestConnectionLeadsToThePortOfAPod(t *testing.T) {
	connection, closed, err := connect(t, "etl.1-driver", 4040)
	if err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(connection)
	for _, line := range []string{"one", "two"} {
		fmt.Fprintln(connection, line)
		if !answers.Scan() || answers.Text() != "4040 "+line {
			t.Errorf("%s is answered by %q (%v)", line, answers.Text(), answers.Err())
		}
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
	<-closed // nothing of it is left
}

func TestRefusedConnectionEnds(t *testing.T) {
	connection, closed, err := connect(t, "etl.1-driver", 1)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(connection); err != nil || len(text) > 0 {
		t.Errorf("it reads %q (%v)", text, err)
	}
	<-closed
}

func TestConnectionThatCannotBeMadeIsExplained(t *testing.T) {
	if _, _, err := connect(t, "other", 4040); err == nil || !strings.HasPrefix(err.Error(), "the port 4040 of Pod other cannot be reached: ") {
		t.Errorf("another Pod: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Connect(ended, &rest.Config{Host: "http://127.0.0.1:1"}, "team-a", "etl", 4040); err == nil {
		t.Error("a caller who has left gets a connection")
	}
}
