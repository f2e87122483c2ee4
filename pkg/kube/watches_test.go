package kube_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

func TestAWatchThatWasRefusedIsNotResumed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := &rest.Config{Host: "http://" + listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	kube.WithFreshWatches(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); err == nil || utilnet.IsConnectionRefused(err) {
		t.Errorf("a watch fails with %v, after which client-go resumes it", err)
	}
	if _, err := client.CoreV1().Pods("").Get(t.Context(), "pod", metav1.GetOptions{}); !utilnet.IsConnectionRefused(err) {
		t.Errorf("a read fails with %v", err)
	}
}

func TestAWatchThatIsAnsweredIsLeftAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod"}}}`))
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	kube.WithFreshWatches(config)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if event, ok := <-w.ResultChan(); !ok || event.Type != "ADDED" {
		t.Errorf("it shows %v", event)
	}
}
