package launch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

// service builds a Service of an attempt, or a namesake of one.
type service struct{ service corev1.Service }

func ofLaunch(id string) *service {
	s := &service{}
	s.service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	s.service.Namespace, s.service.Name, s.service.UID = "team-a", "pi-0-driver-svc", "uid-of-service"
	s.service.Labels = map[string]string{dialect.LabelLaunch: id, apache.LabelApplication: "pi"}
	return s
}

func (s *service) Label(key, value string) *service {
	s.service.Labels[key] = value
	return s
}

func (s *service) Unlabelled() *service {
	s.service.Labels = nil
	return s
}

func (s *service) Going() *service {
	s.service.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
	return s
}

func (s *service) OwnedBy(kind, name string) *service {
	owner := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: kind}
	s.service.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)}, owner),
	}
	return s
}

func (s *service) UIDOfOwner(uid types.UID) *service {
	s.service.OwnerReferences[0].UID = uid
	return s
}

func (s *service) Obj() *corev1.Service { return s.service.DeepCopy() }

func TestEnsureReusesObjectsOfTheLaunchAndDeletesThoseOfEarlierOnes(t *testing.T) {
	for name, test := range map[string]struct {
		existing *service
		asks     string
		refusal  string
		going    bool
	}{
		"creates what is not there": {asks: "create"},
		"takes what this launch made": {
			existing: ofLaunch("this"), asks: "create get",
		},
		"takes what this launch made for the same driver": {
			existing: ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("new"), asks: "create get",
		},
		"replaces what goes with a driver of this launch that could not be completed": {
			existing: ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("old"), asks: "create get delete create",
		},
		"waits for what this launch made and another client deletes": {
			existing: ofLaunch("this").Going(), asks: "create get", going: true,
		},
		"replaces what an earlier launch left": {
			existing: ofLaunch("earlier"), asks: "create get delete create",
		},
		"waits for what an earlier launch left and is going": {
			existing: ofLaunch("earlier").Going(), asks: "create get", going: true,
		},
		"leaves another application's alone": {
			existing: ofLaunch("theirs").Label(apache.LabelApplication, "other").OwnedBy("SparkApplication", "other"),
			asks:     "create get",
			refusal:  "Service team-a/pi-0-driver-svc was refused: it exists already and belongs to SparkApplication other",
		},
		"leaves another application's alone that is going": {
			existing: ofLaunch("theirs").Label(apache.LabelApplication, "other").OwnedBy("SparkApplication", "other").Going(),
			asks:     "create get",
			refusal:  "Service team-a/pi-0-driver-svc was refused: it exists already and belongs to SparkApplication other",
		},
		"waits for what another operator's driver leaves behind that is gone": {
			existing: ofLaunch("").OwnedBy("Pod", "gone-driver"), asks: "create get get", going: true,
		},
		"waits for what another operator's driver leaves behind that is going": {
			existing: ofLaunch("").OwnedBy("Pod", "going-driver"), asks: "create get get", going: true,
		},
		"waits for what a namesake's owner leaves behind": {
			existing: ofLaunch("").OwnedBy("Pod", "wanted-driver"), asks: "create get", going: true,
		},
		"leaves another driver's alone": {
			existing: ofLaunch("").OwnedBy("Pod", "live-driver"), asks: "create get get",
			refusal: "Service team-a/pi-0-driver-svc was refused: it exists already and belongs to Pod live-driver",
		},
		"leaves alone what has no owner": {
			existing: ofLaunch("").Unlabelled(), asks: "create get",
			refusal: "Service team-a/pi-0-driver-svc was refused: it exists already and belongs to " +
				"another creator: it has no owner reference",
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "live-driver", UID: "uid-of-live-driver"}}
			going := live.DeepCopy()
			going.Name, going.UID, going.DeletionTimestamp = "going-driver", "uid-of-going-driver", &metav1.Time{Time: applicationtest.Start}
			client := fake.NewClientset(live, going)
			if test.existing != nil {
				client = fake.NewClientset(live, going, test.existing.Obj())
			}
			wanted := ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("new").Obj()
			made, err := New(Config{API: applications.Apache(nil), Kube: client}).ensure(context.Background(), applicationtest.Pi().Obj(), wanted)
			var refused *refusedError
			switch {
			case errors.As(err, &refused):
				if err.Error() != test.refusal || refused.reason() != "NameTaken" {
					t.Errorf("refused for %s with %q, want %q", refused.reason(), err, test.refusal)
				}
			case test.refusal != "", errors.Is(err, errNameNotFree) != test.going, err != nil && !test.going:
				t.Errorf("error is %v", err)
			case err == nil && made.GetLabels()[dialect.LabelLaunch] != "this":
				t.Errorf("the object is of launch %q", made.GetLabels()[dialect.LabelLaunch])
			}
			if got := applicationtest.VerbsOn(client); got != test.asks {
				t.Errorf("asked the API server to %s, want %s", got, test.asks)
			}
		})
	}
}

// What another operator made for this very application is taken as it is.
func TestEnsureReusesObjectsOfAnotherOperatorForTheSameOwner(t *testing.T) {
	wanted := ofLaunch("this").OwnedBy("Pod", "pi-0-driver")
	for name, test := range map[string]struct {
		existing *service
		want     error
	}{
		"and stays": {ofLaunch("").OwnedBy("Pod", "pi-0-driver"), nil},
		"and goes":  {ofLaunch("").OwnedBy("Pod", "pi-0-driver").Going(), errNameNotFree},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing.Obj())
			made, err := New(Config{API: applications.Apache(nil), Kube: client}).ensure(context.Background(), applicationtest.Pi().Obj(), wanted.Obj())
			if !errors.Is(err, test.want) || err == nil && made.GetUID() != "uid-of-service" {
				t.Errorf("made %v, error %v, want %v", made, err, test.want)
			}
			if got := applicationtest.VerbsOn(client); got != "create get" {
				t.Errorf("asked the API server to %s", got)
			}
		})
	}
}

func TestEnsureDeletesByUID(t *testing.T) {
	client := fake.NewClientset(ofLaunch("earlier").Obj())
	if _, err := New(Config{API: applications.Apache(nil), Kube: client}).ensure(context.Background(), applicationtest.Pi().Obj(), ofLaunch("this").Obj()); err != nil {
		t.Fatal(err)
	}
	deletion := client.Actions()[2].(clienttesting.DeleteActionImpl)
	want := metav1.NewPreconditionDeleteOptions("uid-of-service")
	if diff := cmp.Diff(*want, deletion.DeleteOptions); diff != "" {
		t.Errorf("options of the deletion (-want +got):\n%s", diff)
	}
}

func TestEnsureIfTheAPIServerRefuses(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	exists := apierrors.NewAlreadyExists(services, "pi-0-driver-svc")
	conflict := apierrors.NewConflict(services, "pi-0-driver-svc", errors.New("another uid"))
	const retried, refused, going = "retried", "refused", "going"
	for name, test := range map[string]struct {
		existing *service
		verb     string
		err      error
		want     string
	}{
		"a quota refuses for good": {nil, "create", apierrors.NewForbidden(services, "", errors.New("exceeded quota")), refused},
		"a quota passes that counts what goes with an earlier driver": {
			ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("old"), "create",
			apierrors.NewForbidden(services, "", errors.New("exceeded quota")), going,
		},
		"an overload passes":                    {nil, "create", apierrors.NewTooManyRequests("later", 1), retried},
		"what went in between is tried again":   {nil, "create", exists, going},
		"a look that fails is retried":          {ofLaunch("earlier"), "get", apierrors.NewInternalError(errors.New("oh")), retried},
		"a deletion that fails is retried":      {ofLaunch("earlier"), "delete", apierrors.NewInternalError(errors.New("oh")), retried},
		"a deletion of another is tried again":  {ofLaunch("earlier"), "delete", conflict, going},
		"a deletion that came late is no error": {ofLaunch("earlier"), "delete", apierrors.NewNotFound(services, "s"), going},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.existing != nil {
				client = fake.NewClientset(test.existing.Obj())
			}
			client.PrependReactor(test.verb, "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, test.err
			})
			_, err := New(Config{API: applications.Apache(nil), Kube: client}).
				ensure(context.Background(), applicationtest.Pi().Obj(), ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("new").Obj())
			got, last := retried, new(refusedError)
			switch {
			case err == nil:
				got = "done"
			case errors.As(err, &last):
				got = refused
			case errors.Is(err, errNameNotFree):
				got = going
			}
			if got != test.want {
				t.Errorf("%v is %s, want %s", err, got, test.want)
			}
		})
	}
}

// The driver may exist already. It is not deleted if what it owns can be created now, or a moment later.
func TestEnsureCreatesWhatHasFreedItsName(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	const created, retried, going = "created", "retried", "going"
	for name, test := range map[string]struct {
		existing *service
		again    error // of the second create
		want     string
	}{
		"if another client deleted it in between":  {nil, nil, created},
		"or later if the API server fails":         {nil, apierrors.NewInternalError(errors.New("oh")), retried},
		"and waits if another has the name":        {nil, apierrors.NewAlreadyExists(services, "pi-0-driver-svc"), going},
		"or later if it fails after the deletion":  {ofLaunch("earlier"), apierrors.NewInternalError(errors.New("oh")), retried},
		"and waits if a quota counts what is gone": {ofLaunch("earlier"), apierrors.NewForbidden(services, "", errors.New("exceeded quota")), going},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.existing != nil {
				client = fake.NewClientset(test.existing.Obj())
			}
			creates := 0
			client.PrependReactor("create", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				if creates++; creates == 1 {
					return true, nil, apierrors.NewAlreadyExists(services, "pi-0-driver-svc")
				}
				return test.again != nil, nil, test.again
			})
			_, err := New(Config{API: applications.Apache(nil), Kube: client}).
				ensure(t.Context(), applicationtest.Pi().Obj(), ofLaunch("this").OwnedBy("Pod", "wanted-driver").UIDOfOwner("new").Obj())
			got := retried
			switch {
			case err == nil:
				got = created
			case errors.Is(err, errNameNotFree):
				got = going
			}
			if got != test.want || creates != 2 {
				t.Errorf("%v is %s after %d creates, want %s", err, got, creates, test.want)
			}
		})
	}
}

func TestEnsureOfATypeWithoutClient(t *testing.T) {
	if _, err := New(Config{API: applications.Apache(nil), Kube: fake.NewClientset()}).ensure(context.Background(), applicationtest.Pi().Obj(), &corev1.Node{}); err == nil {
		t.Error("a Node was created")
	}
}

func status(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message}}
}

func TestReasonOfARefusal(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a quota": {
			status(403, metav1.StatusReasonForbidden, `pods "pi-0-driver" is forbidden: exceeded quota: small`), "QuotaExceeded",
		},
		"a service account that is not there": {
			status(403, metav1.StatusReasonForbidden, "error looking up service account team-a/spark"), "ServiceAccountNotFound",
		},
		"an invalid object":                {status(422, metav1.StatusReasonInvalid, "no"), "Invalid"},
		"a webhook that gives a reason":    {status(400, "not on my cluster!", "denied"), "not on my cluster!"},
		"a webhook that gives none":        {status(400, "", `admission webhook "w" denied the request`), "Refused"},
		"a namesake that has an owner":     {errors.New("it exists already and belongs to Pod p"), "NameTaken"},
		"an answer of the API, wrapped up": {fmt.Errorf("create: %w", status(422, metav1.StatusReasonInvalid, "no")), "Invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			refused := &refusedError{
				object: "Pod team-a/pi-0-driver", account: types.NamespacedName{Namespace: "team-a", Name: "spark"}, err: test.err,
			}
			message := refused.Error()
			if remedy := remedies(apache.API.Fields, refused.account)[test.want]; remedy != "" {
				message += "; " + remedy
			}
			if got := refused.cause(apache.API.Fields); got.Reason != test.want || got.Class != "scheduling" || got.Message != message {
				t.Errorf("cause is %+v, want the reason %s and the message %s", got, test.want, message)
			}
		})
	}
}

// settings builds a config map that a user wants to exist before the driver.
type settings struct{ configMap corev1.ConfigMap }

func settingsOf(launch string) *settings {
	s := &settings{}
	s.configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	s.configMap.Namespace, s.configMap.Name = "team-a", "settings"
	s.configMap.Labels = map[string]string{dialect.LabelLaunch: launch, apache.LabelApplication: "pi", "team": "a"}
	s.configMap.Annotations = map[string]string{"note": "n"}
	s.configMap.Data = map[string]string{"key": "value"}
	s.configMap.OwnerReferences = []metav1.OwnerReference{{UID: "uid-of-pi", Controller: new(bool)}}
	*s.configMap.OwnerReferences[0].Controller = true
	return s
}

func (s *settings) With(change func(*corev1.ConfigMap)) *settings {
	change(&s.configMap)
	return s
}

func (s *settings) Obj() *corev1.ConfigMap { return s.configMap.DeepCopy() }

func TestEnsureKeepsConfigMapsThatAreUnchanged(t *testing.T) {
	const kept, replaced = "create get", "create get delete create"
	for name, test := range map[string]struct {
		existing *settings
		asks     string
	}{
		"an earlier attempt's that is the same": {settingsOf("earlier"), kept},
		"an earlier attempt's with other data": {
			settingsOf("earlier").With(func(c *corev1.ConfigMap) { c.Data["key"] = "other" }), replaced,
		},
		"an earlier attempt's with a label more": {
			settingsOf("earlier").With(func(c *corev1.ConfigMap) { c.Labels["more"] = "1" }), replaced,
		},
		"an earlier attempt's without annotations": {
			settingsOf("earlier").With(func(c *corev1.ConfigMap) { c.Annotations = nil }), replaced,
		},
		"another incarnation's": {
			settingsOf("earlier").With(func(c *corev1.ConfigMap) { c.OwnerReferences[0].UID = "another" }), replaced,
		},
		"one without an owner": {
			settingsOf("earlier").With(func(c *corev1.ConfigMap) { c.OwnerReferences = nil }), replaced,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing.Obj())
			if _, err := New(Config{API: applications.Apache(nil), Kube: client}).ensure(context.Background(), applicationtest.Pi().Obj(), settingsOf("this").Obj()); err != nil {
				t.Fatal(err)
			}
			if got := applicationtest.VerbsOn(client); got != test.asks {
				t.Errorf("asked the API server to %s, want %s", got, test.asks)
			}
		})
	}
}

func TestEnsureOfAKindThatMayNotBeInstalled(t *testing.T) {
	routes := schema.GroupResource{Group: "gateway.networking.k8s.io", Resource: "httproutes"}
	for name, test := range map[string]struct {
		err    error
		reason string
	}{
		"a kind that there is not": {
			apierrors.NewGenericServerResponse(http.StatusNotFound, "POST", routes, "", "404 page not found", 0, true), "NotInstalled",
		},
		"a namespace that vanishes is no such thing": {
			apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "team-a"), "",
		},
		"nor is a server that does not answer as it should": {
			apierrors.NewGenericServerResponse(http.StatusBadGateway, "POST", routes, "", "bad gateway", 0, true), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
			client.PrependReactor("create", "httproutes", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, test.err
			})
			route := &unstructured.Unstructured{}
			route.SetGroupVersionKind(schema.GroupVersionKind{Group: routes.Group, Version: "v1", Kind: "HTTPRoute"})
			route.SetNamespace("team-a")
			route.SetName("web")
			_, err := New(Config{API: applications.Apache(nil), Dynamic: client}).ensure(context.Background(), applicationtest.Pi().Obj(), route)
			got := ""
			if refused := (*refusedError)(nil); errors.As(err, &refused) {
				got = refused.reason()
			}
			if err == nil || got != test.reason {
				t.Errorf("error is %v, refused for %q, want %q", err, got, test.reason)
			}
		})
	}
}
