package see

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"

	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
)

// kubelet is an API server that forwards each port of a Pod to a page that names the port.
type kubelet struct {
	// conn is the connection of the command; closing it is the end of the Pod.
	conn chan httpstream.Connection
	// refusals is how many connections the port of the Pod still refuses.
	refusals int
}

func (k *kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/namespaces/reports/pods/etl-1-driver/portforward") || !httpstream.IsUpgradeRequest(r) {
		http.NotFound(w, r)
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // as an API server of an earlier version
		http.Error(w, "unable to upgrade", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	refuses := k.refusals > 0
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		switch isData := stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData; {
		case isData && !refuses:
			go answer(stream)
		case !isData && refuses:
			go func() {
				_, _ = io.WriteString(stream, "connection refused")
				stream.Close()
			}()
		default:
			go stream.Close() // no error
		}
		return nil
	})
	if conn == nil {
		return
	}
	if refuses {
		k.refusals--
	} else {
		k.conn <- conn
	}
	<-conn.CloseChan()
}

// answer answers an HTTP request that comes through a stream.
func answer(stream httpstream.Stream) {
	defer stream.Close()
	request, err := http.ReadRequest(bufio.NewReader(stream))
	if err != nil {
		return
	}
	page := "Spark UI at port " + stream.Headers().Get(corev1.PortHeader) + " of " + request.URL.Path
	response := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(page)), Body: io.NopCloser(strings.NewReader(page)), Close: true}
	_ = response.Write(stream) // the client notices
}

// fakePods reads the Pods from fakes, and everything else from a server.
type fakePods struct {
	kubernetes.Interface
	fakes kubernetes.Interface
}

func (f fakePods) CoreV1() typedcorev1.CoreV1Interface {
	return coreOfFakes{f.Interface.CoreV1(), f.fakes.CoreV1()}
}

type coreOfFakes struct {
	typedcorev1.CoreV1Interface
	fakes typedcorev1.PodsGetter
}

func (c coreOfFakes) Pods(namespace string) typedcorev1.PodInterface { return c.fakes.Pods(namespace) }

// forwards runs the command against a kubelet, until it has printed an address.
func forwards(ctx context.Context, t *testing.T, line string, refusals int) (e *env, k *kubelet, address string, code chan int) {
	t.Helper()
	k = &kubelet{make(chan httpstream.Connection, 1), refusals}
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	e = newEnv(t, []string{failed}, driverPod("etl-1-driver", "d1", "etl-1", ready))
	config := &rest.Config{Host: server.URL}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	code = make(chan int, 1)
	go func() {
		code <- e.runWith(ctx, line, &cluster{&connection.Cluster{
			Dynamic: e.dynamic, Kube: fakePods{kube, e.kube}, REST: config, Namespace: "reports",
		}})
	}()
	eventually(t, "the address is printed", func() bool { return strings.HasSuffix(e.out.String(), "\n") })
	return e, k, strings.TrimSpace(e.out.String()), code
}

func TestUIOfADriverAnswersAtThePrintedAddress(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	e, _, address, code := forwards(ctx, t, "ui etl --remote-port 4050", 0)
	response, err := (&http.Client{Timeout: 2 * time.Minute}).Get(address + "/jobs/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || string(page) != "Spark UI at port 4050 of /jobs/" {
		t.Errorf("it answers %q, %v", page, err)
	}
	if !strings.Contains(e.errOut.String(), "port 4050 of driver Pod etl-1-driver") {
		t.Errorf("it says %s", e.errOut.String())
	}
	stop()
	if got := <-code; got != 0 {
		t.Errorf("after Ctrl-C the exit code is %d: %s", got, e.errOut.String())
	}
}

// A driver runs for some seconds before its UI answers, and a refused connection ends what forwards the port.
func TestUIPrintsItsAddressWhenTheDriverAnswers(t *testing.T) {
	e, k, address, _ := forwards(t.Context(), t, "ui etl", 2)
	if said := e.errOut.String(); strings.Count(said, "Waiting until driver Pod etl-1-driver answers at port 4040.") != 1 {
		t.Errorf("it says %s", said)
	}
	response, err := (&http.Client{Timeout: 2 * time.Minute}).Get(address + "/jobs/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := (<-k.conn).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUIEndsWithTheDriver(t *testing.T) {
	e, k, _, code := forwards(t.Context(), t, "ui etl", 0)
	if err := (<-k.conn).Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 1 || !strings.Contains(e.errOut.String(), "driver Pod etl-1-driver has ended") {
		t.Errorf("exit code %d: %s", got, e.errOut.String())
	}
}
