package applications_test

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/scheme"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

var pi = types.NamespacedName{Namespace: "team-a", Name: "pi"}

// newApplications returns an empty application of each API, by its group.
func newApplications() map[string]dialect.Application {
	apps := map[string]dialect.Application{}
	for group, api := range applications.All(nil) {
		app, err := scheme.Scheme.New(api.GroupVersionKind)
		if err != nil {
			panic(err)
		}
		apps[group] = app.(dialect.Application)
	}
	return apps
}

// examples returns an application of each API, by its group.
func examples() map[string]dialect.Application {
	apps := newApplications()
	for _, app := range apps {
		app.SetNamespace(pi.Namespace)
		app.SetName(pi.Name)
		app.SetUID("uid-of-pi")
		app.SetResourceVersion("17")
	}
	return apps
}

// requestsOf returns the requests to the API server, in order.
func requestsOf(client *fake.Clientset) string {
	var texts []string
	for _, action := range client.Actions() {
		texts = append(texts, strings.TrimSuffix(action.GetVerb()+" "+action.GetResource().GroupResource().String()+" "+action.GetSubresource(), " "))
	}
	return strings.Join(texts, ", ")
}

func TestEachAPIIsReadAndWrittenInOneRequest(t *testing.T) {
	for group, app := range examples() {
		t.Run(group, func(t *testing.T) {
			client := fake.NewSimpleClientset(app.DeepCopyObject())
			api := applications.All(client)[group]
			read, err := api.Get(t.Context(), pi)
			if err != nil || read.GetUID() != "uid-of-pi" {
				t.Fatalf("read %v, %v", read, err)
			}
			if written, err := api.UpdateStatus(t.Context(), read); err != nil || written.GetUID() != "uid-of-pi" {
				t.Errorf("wrote %v, %v", written, err)
			}
			if err := api.PatchStatus(t.Context(), read, []byte(`{}`)); err != nil {
				t.Error(err)
			}
			if err := api.Delete(t.Context(), read); err != nil {
				t.Error(err)
			}
			if _, err := api.Get(t.Context(), pi); !apierrors.IsNotFound(err) {
				t.Errorf("it is still there: %v", err)
			}
			of := " " + api.GroupResource().String()
			want := "get" + of + ", update" + of + " status, patch" + of + " status, delete" + of + ", get" + of
			if got := requestsOf(client); got != want {
				t.Errorf("asked to\n%s, want\n%s", got, want)
			}
		})
	}
}

// A handler deletes what it has judged, and nothing that came since.
func TestDeleteHasPreconditions(t *testing.T) {
	for group, app := range examples() {
		t.Run(group, func(t *testing.T) {
			client := fake.NewSimpleClientset(app.DeepCopyObject())
			if err := applications.All(client)[group].Delete(t.Context(), app); err != nil {
				t.Fatal(err)
			}
			got := client.Actions()[0].(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
			if got == nil || *got.UID != "uid-of-pi" || *got.ResourceVersion != "17" {
				t.Errorf("preconditions are %v", got)
			}
		})
	}
}

func TestOnlyFiresteelsFinalizerIsDropped(t *testing.T) {
	for group, app := range examples() {
		t.Run(group, func(t *testing.T) {
			client := fake.NewSimpleClientset()
			api := applications.All(client)[group]
			app.SetFinalizers([]string{"example.com/theirs", api.Finalizer})
			if err := client.Tracker().Create(api.GroupVersionResource(), app.DeepCopyObject(), app.GetNamespace()); err != nil {
				t.Fatal(err)
			}
			released, err := api.DropFinalizer(t.Context(), app)
			if err != nil || !slices.Equal(released.GetFinalizers(), []string{"example.com/theirs"}) {
				t.Errorf("%v: it holds %v", err, released)
			}
			if patch := string(client.Actions()[0].(clienttesting.PatchActionImpl).Patch); !strings.Contains(patch, `"resourceVersion":"17"`) {
				t.Errorf("whatever was written since: %s", patch)
			}
		})
	}
}

func TestEachAPIHasADialectWithAnySettings(t *testing.T) {
	for group, app := range examples() {
		t.Run(group, func(t *testing.T) {
			api := applications.All(fake.NewSimpleClientset())[group]
			if state := api.Dialect(config.Default()).VisibleState(app); state != "" {
				t.Errorf("an application that no controller has reconciled shows %q", state)
			}
			if name := api.CustomResourceDefinition(); name != "sparkapplications."+group {
				t.Errorf("its definition is %q", name)
			}
		})
	}
}
