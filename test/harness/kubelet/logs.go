package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Logs serves the logs of containers as a kubelet does, for nodes that are simulated.
type Logs struct{ server *httptest.Server }

// ServeLogs serves logs. log returns the lines of the log of a container, without timestamps: line n was written n milliseconds after the first one,
// which was written at began.
func ServeLogs(began time.Time, log func(namespace, pod, container string) []string) *Logs {
	return &Logs{httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.Split(strings.TrimPrefix(r.URL.Path, "/containerLogs/"), "/")
		if len(path) != 3 || r.FormValue("timestamps") != "true" {
			http.Error(w, "only logs with timestamps are served", http.StatusNotFound)
			return
		}
		since, _ := time.Parse(time.RFC3339, r.FormValue("sinceTime")) // without one, all lines are served
		_, _ = io.WriteString(w, Stamped(began, since, log(path[0], path[1], path[2])))
	}))}
}

// Stamped returns lines as a kubelet sends them: with timestamps, and those alone that were written since an instant.
func Stamped(began, since time.Time, lines []string) string {
	var text strings.Builder
	for i, line := range lines {
		if at := began.Add(time.Duration(i) * time.Millisecond); !at.Before(since) {
			fmt.Fprintf(&text, "%s %s\n", at.UTC().Format(time.RFC3339Nano), line)
		}
	}
	return text.String()
}

// Attach makes it the kubelet of a node, which must exist.
func (l *Logs) Attach(ctx context.Context, kube kubernetes.Interface, node string) error {
	address := l.server.Listener.Addr().(*net.TCPAddr) //nolint:forcetypeassert // it is a server of TCP
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"addresses":       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}},
		"daemonEndpoints": corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(address.Port)}},
	}})
	if err != nil {
		return err
	}
	_, err = kube.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// Close stops it.
func (l *Logs) Close() {
	l.server.CloseClientConnections()
	l.server.Close()
}
