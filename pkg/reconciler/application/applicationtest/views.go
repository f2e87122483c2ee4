package applicationtest

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
)

// ViewedIn returns the view of an application in a dialect, before any delivery.
func ViewedIn(d dialect.Dialect, app dialect.Application) *view.Application {
	return &view.Application{App: app, Dialect: d, Policy: d.Policy(app)}
}

// Viewed returns the view of an Apache application with default settings.
func Viewed(app dialect.Application) *view.Application {
	return ViewedIn(apache.New(apache.Defaults{}), app)
}

// With returns an application with a change.
func With(a *Application, change func(*sparkv1.SparkApplication)) *sparkv1.SparkApplication {
	app := a.Obj()
	change(app)
	return app
}

// VerbsOn returns the verbs of the requests to the API server, in order.
func VerbsOn(client *fake.Clientset) string {
	var asked []string
	for _, action := range client.Actions() {
		asked = append(asked, action.GetVerb())
	}
	return strings.Join(asked, " ")
}

// Exists reports whether the API server has a Pod with a UID.
func Exists(t *testing.T, kube *fake.Clientset, uid types.UID) bool {
	t.Helper()
	pods, err := kube.CoreV1().Pods("team-a").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.UID == uid {
			return true
		}
	}
	return false
}
