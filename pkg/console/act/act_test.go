package act_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

const (
	application = `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: etl, namespace: team-a, uid: uid-1, resourceVersion: "5", generation: 1}
spec: {type: Scala, mode: cluster, sparkVersion: 3.5.7, image: "spark:3", mainApplicationFile: "local:///a.jar", driver: {}, executor: {instances: 1}}
`
	scheduled = `
apiVersion: firesteel.dev/v1alpha1
kind: ScheduledSparkApplication
metadata: {name: nightly, namespace: team-a, uid: uid-2, resourceVersion: "5", generation: 1}
spec: {schedule: "0 1 * * *", concurrencyPolicy: Forbid, template: {spec: {mainClass: Main, jars: "local:///a.jar", runtimeVersions: {sparkVersion: "4.0.0"}, sparkConf: {spark.kubernetes.container.image: "spark:4"}}}}
`
	standalone = `
apiVersion: spark.apache.org/v1
kind: SparkCluster
metadata: {name: pool, namespace: team-a, uid: uid-3, resourceVersion: "5", generation: 1}
spec: {runtimeVersions: {sparkVersion: "4.0.0"}, clusterTolerations: {instanceConfig: {initWorkers: 3, minWorkers: 3, maxWorkers: 3}}}
`
)

var (
	etl     = act.Ref{Resource: "sparkapplications.sparkoperator.k8s.io", Namespace: "team-a", Name: "etl"}
	nightly = act.Ref{Resource: "scheduledsparkapplications.firesteel.dev", Namespace: "team-a", Name: "nightly"}
	pool    = act.Ref{Resource: "sparkclusters.spark.apache.org", Namespace: "team-a", Name: "pool"}

	resources = map[act.Ref]schema.GroupVersionResource{
		etl:     {Group: "sparkoperator.k8s.io", Version: "v1beta2", Resource: "sparkapplications"},
		nightly: {Group: "firesteel.dev", Version: "v1alpha1", Resource: "scheduledsparkapplications"},
		pool:    {Group: "spark.apache.org", Version: "v1", Resource: "sparkclusters"},
	}
)

// env is a console with a fake API server.
type env struct {
	t       *testing.T
	client  *dynamicfake.FakeDynamicClient
	actions *act.Actions
	allowed bool
	// refused are the rights that users do not have, and failure the error of each review.
	refused []string
	failure error
	// tokens are those with which clients were made.
	tokens  []string
	handler http.Handler
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, allowed: true}
	var objects []runtime.Object
	for _, manifest := range []string{application, scheduled, standalone} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	e.client = dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), objects...)
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 3, 26, 12, 0, 30, 0, time.UTC))
	e.actions = act.New(act.Options{
		Clients: e, Pages: e, Allowed: func() bool { return e.allowed }, Prefix: func() string { return "/spark" }, Clock: clock, Logger: zap.NewNop().Sugar(),
	})
	key, err := session.NewKey([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	sessions := session.New(session.Options{Key: key, Users: e, Pages: e, Clock: clock, Address: func() string { return "" }})
	mux := http.NewServeMux()
	mux.Handle("POST /actions/{verb}", e.actions.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, session.Of(r.Context()).CSRF()) })
	mux.HandleFunc("GET /offer", func(w http.ResponseWriter, r *http.Request) { e.offered(w, r) })
	e.handler = sessions.Require(mux)
	return e
}

// offered is what the last request for an offer got.
var offered struct {
	offer *act.Offer
	err   error
}

func (e *env) offered(_ http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	ref := act.Ref{Resource: query.Get("resource"), Namespace: query.Get("namespace"), Name: query.Get("name")}
	offered.offer, offered.err = e.actions.Offer(r.Context(), session.Of(r.Context()), ref, act.Verb(query.Get("verb")))
}

// offer returns the offer of an action.
func (e *env) offer(ref act.Ref, verb act.Verb) (*act.Offer, error) {
	query := url.Values{"resource": {ref.Resource}, "namespace": {ref.Namespace}, "name": {ref.Name}, "verb": {string(verb)}}
	e.send(http.MethodGet, "/offer?"+query.Encode(), nil)
	return offered.offer, offered.err
}

func (e *env) Of(s *session.Session) (dynamic.Interface, error) {
	e.tokens = append(e.tokens, s.Token)
	return e.client, nil
}

func (e *env) SignIn(http.ResponseWriter, *http.Request, int, session.Form) {}

func (e *env) Problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	http.Error(w, message, status)
}

func (e *env) Reader(_ context.Context, token string) (console.Reader, error) {
	return reader{e, token}, nil
}

type reader struct {
	*env
	token string
}

func (r reader) Name() string { return "user of " + r.token }

func (r reader) Key() string { return r.token }

func (r reader) Check(_ context.Context, right access.Right) error {
	for _, refused := range r.refused {
		if strings.HasPrefix(right.String(), refused) {
			return fmt.Errorf("%w: it needs %s", access.ErrNotAllowed, right)
		}
	}
	return r.failure
}

func (r reader) Ask(ctx context.Context, right access.Right) error { return r.Check(ctx, right) }

func (r reader) Namespace(context.Context, string) (archive.Namespace, error) {
	return archive.Namespace{}, nil
}

func (e *env) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(e.t.Context(), method, path, strings.NewReader(form.Encode()))
	request.Header.Set("Authorization", "Bearer a-token")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := httptest.NewRecorder()
	e.handler.ServeHTTP(answer, request)
	return answer
}

// confirm sends the form of an offer, with what the user has filled in.
func (e *env) confirm(offer *act.Offer, filled url.Values) *httptest.ResponseRecorder {
	e.t.Helper()
	form := url.Values{"csrf": {e.send(http.MethodGet, "/", nil).Body.String()}}
	for _, field := range offer.Hidden {
		form.Set(field.Name, field.Value)
	}
	for name, values := range filled {
		form[name] = values
	}
	return e.send(http.MethodPost, strings.TrimPrefix(offer.Action, "/spark"), form)
}

// writes returns the requests that change something, with what they carry.
func (e *env) writes() (all []string) {
	for _, action := range e.client.Actions() {
		text := action.GetVerb() + " " + action.GetResource().Resource
		switch action := action.(type) {
		case clienttesting.PatchActionImpl:
			text += "/" + action.Name + " " + string(action.Patch)
		case clienttesting.DeleteActionImpl:
			text += fmt.Sprintf("/%s uid %s version %s", action.Name, *action.DeleteOptions.Preconditions.UID, *action.DeleteOptions.Preconditions.ResourceVersion)
		case clienttesting.CreateActionImpl:
			text += "/" + action.Object.(*unstructured.Unstructured).GetName()
		default:
			continue
		}
		all = append(all, text)
	}
	return all
}

// change changes an object, as another writer does.
func (e *env) change(ref act.Ref, change func(*unstructured.Unstructured)) {
	e.t.Helper()
	client := e.client.Resource(resources[ref]).Namespace(ref.Namespace)
	object, err := client.Get(e.t.Context(), ref.Name, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	change(object)
	if err := e.client.Tracker().Update(resources[ref], object, ref.Namespace); err != nil {
		e.t.Fatal(err)
	}
	e.client.ClearActions()
}

func TestActionsDoWhatIsOffered(t *testing.T) {
	for _, c := range []struct {
		ref    act.Ref
		verb   act.Verb
		filled url.Values
		effect string
		want   string
		page   string
	}{
		{etl, act.Suspend, nil, "The next launch waits", `patch sparkapplications/etl {"metadata":{"resourceVersion":"5","uid":"uid-1"},"spec":{"suspend":true}}`, "/spark/applications/team-a/sparkapplications.sparkoperator.k8s.io/etl?did=suspend"},
		{etl, act.Stop, url.Values{"reason": {"too slow"}}, "The application ends without", `patch sparkapplications/etl {"metadata":{"annotations":{"firesteel.dev/stop":"too slow (by ann)"},"resourceVersion":"5","uid":"uid-1"}}`, "/spark/applications/team-a/sparkapplications.sparkoperator.k8s.io/etl?did=stop"},
		{etl, act.Delete, nil, "The driver and its executors end", "delete sparkapplications/etl uid uid-1 version 5", "/spark/applications?did=delete"},
		{etl, act.Rerun, url.Values{"name": {"again"}, "set": {"driver.memory=4g\r\n\r\nimage=spark:4\r\n"}}, "A new application is created", "create sparkapplications/again", "/spark/applications/team-a/sparkapplications.sparkoperator.k8s.io/again?did=rerun"},
		{nightly, act.Run, nil, "An application is created from the template", "create sparkapplications/nightly-", "/spark/applications/team-a/sparkapplications.spark.apache.org/nightly-"},
		{nightly, act.Suspend, nil, "No run starts", `patch scheduledsparkapplications/nightly {"metadata":{"resourceVersion":"5","uid":"uid-2"},"spec":{"suspend":true}}`, "/spark/schedules/team-a/scheduledsparkapplications.firesteel.dev/nightly?did=suspend"},
		{pool, act.Scale, url.Values{"workers": {"1"}}, "The spec asks for 3 workers. The cluster gets as many as you write. The executors on workers that end are lost", `patch sparkclusters/pool {"metadata":{"resourceVersion":"5","uid":"uid-3"},"spec":{"clusterTolerations":{"instanceConfig":{"initWorkers":1}}}}`, "/spark/clusters/team-a/pool?did=scale"},
	} {
		e := newEnv(t)
		e.client.PrependReactor("create", "selfsubjectreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"userInfo": map[string]any{"username": "ann"}}}}, nil
		})
		offer, err := e.offer(c.ref, c.verb)
		if err != nil || offer.Refusal != "" || !strings.HasPrefix(offer.Effect, c.effect) {
			t.Errorf("%s: %+v, %v", c.verb, offer, err)
			continue
		}
		if got := e.writes(); len(got) > 0 {
			t.Errorf("%s: the offer writes %v", c.verb, got)
		}
		got := e.confirm(offer, c.filled)
		if got.Code != http.StatusSeeOther || !strings.HasPrefix(got.Header().Get("Location"), c.page) {
			t.Errorf("%s: %d to %q, %s", c.verb, got.Code, got.Header().Get("Location"), got.Body)
		}
		if writes := e.writes(); len(writes) == 0 || !strings.HasPrefix(writes[len(writes)-1], c.want) {
			t.Errorf("%s: %v, want %s", c.verb, writes, c.want)
		}
		for _, token := range e.tokens {
			if token != "a-token" {
				t.Errorf("%s: a client has the token %q", c.verb, token)
			}
		}
	}
}

func TestNothingIsDoneThatTheUserWasNotShown(t *testing.T) {
	for name, change := range map[string]func(*unstructured.Unstructured){
		"another object has the name": func(o *unstructured.Unstructured) { o.SetUID("other") },
		"the spec was edited":         func(o *unstructured.Unstructured) { o.SetGeneration(2) },
		"it was suspended meanwhile":  func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, true, "spec", "suspend") },
		"it has ended": func(o *unstructured.Unstructured) {
			o.Object["status"] = map[string]any{"applicationState": map[string]any{"state": "COMPLETED"}, "driverInfo": map[string]any{}, "sparkApplicationId": "a", "submissionID": "b"}
		},
	} {
		e := newEnv(t)
		offer, err := e.offer(etl, act.Suspend)
		if err != nil {
			t.Fatal(err)
		}
		e.change(etl, change)
		if got := e.confirm(offer, nil); got.Code != http.StatusConflict || len(e.writes()) > 0 {
			t.Errorf("%s: %d %s, %v", name, got.Code, got.Body, e.writes())
		}
	}
}

// A controller writes the status all the time.
func TestConflictIsRepeatedWhileTheActionIsTheSame(t *testing.T) {
	for conflicts, want := range map[int]int{3: http.StatusSeeOther, 9: http.StatusConflict} {
		e := newEnv(t)
		offer, err := e.offer(etl, act.Suspend)
		if err != nil {
			t.Fatal(err)
		}
		left := conflicts
		e.client.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			if left--; left >= 0 {
				return true, nil, apierrors.NewConflict(schema.GroupResource{}, "etl", errors.New("it was changed"))
			}
			return false, nil, nil
		})
		if got := e.confirm(offer, nil); got.Code != want {
			t.Errorf("%d conflicts: %d %s", conflicts, got.Code, got.Body)
		}
	}
}

func TestFormThatIsSentTwiceCreatesOneApplication(t *testing.T) {
	e := newEnv(t)
	offer, err := e.offer(etl, act.Rerun)
	if err != nil {
		t.Fatal(err)
	}
	first, second := e.confirm(offer, nil), e.confirm(offer, nil)
	page := first.Header().Get("Location")
	if first.Code != http.StatusSeeOther || !strings.Contains(page, "/etl-rerun-") || second.Code != http.StatusSeeOther || second.Header().Get("Location") != page {
		t.Errorf("got %d to %q, and then %d to %q", first.Code, page, second.Code, second.Header().Get("Location"))
	}
	again, err := e.offer(etl, act.Rerun)
	if err != nil {
		t.Fatal(err)
	}
	if third := e.confirm(again, nil); third.Code != http.StatusSeeOther || third.Header().Get("Location") == page {
		t.Errorf("another form: %d to %q", third.Code, third.Header().Get("Location"))
	}
	if second := e.confirm(offer, url.Values{"name": {"etl-2"}}); second.Code != http.StatusSeeOther {
		t.Errorf("with a name: %d", second.Code)
	}
	if second := e.confirm(offer, url.Values{"name": {"etl-2"}}); second.Code != http.StatusConflict {
		t.Errorf("with the name of another one: %d %s", second.Code, second.Body)
	}
}

func TestRefusalsOfTheAPIServerAreShownInItsWords(t *testing.T) {
	group := schema.GroupResource{Group: "sparkoperator.k8s.io", Resource: "sparkapplications"}
	for _, c := range []struct {
		err    error
		status int
		text   string
	}{
		{apierrors.NewForbidden(group, "etl", errors.New("no rule allows it")), 403, "no rule allows it"},
		{apierrors.NewBadRequest("the webhook says no"), 400, "the webhook says no"},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "SparkApplication"}, "etl", nil), 422, "invalid"},
		{apierrors.NewUnauthorized("expired"), 401, "sign in again"},
		{apierrors.NewNotFound(group, "etl"), 404, "gone"},
		{apierrors.NewInternalError(errors.New("etcd")), 502, "look at the object"},
		{apierrors.NewTooManyRequests("slow down", 1), 429, "slow down"},
	} {
		e := newEnv(t)
		offer, err := e.offer(etl, act.Suspend)
		if err != nil {
			t.Fatal(err)
		}
		e.client.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.err })
		if got := e.confirm(offer, nil); got.Code != c.status || !strings.Contains(got.Body.String(), c.text) {
			t.Errorf("%v: %d %s", c.err, got.Code, got.Body)
		}
	}
}

func TestWhatUsersWriteIsCheckedBeforeAnythingIsDone(t *testing.T) {
	for _, c := range []struct {
		ref    act.Ref
		verb   act.Verb
		filled url.Values
		want   string
	}{
		{etl, act.Stop, url.Values{"reason": {strings.Repeat("x", 161)}}, "at most 160"},
		{etl, act.Rerun, url.Values{"name": {"Big_Name"}}, "no name of an object"}, {etl, act.Rerun, url.Values{"name": {"etl"}}, "the old application"},
		{etl, act.Rerun, url.Values{"set": {"driver.memry=4g"}}, "did you mean driver.memory"}, {etl, act.Rerun, url.Values{"set": {strings.Repeat("a=b\n", 65)}}, "at most 64"},
		{pool, act.Scale, url.Values{"workers": {"many"}}, "write a number"}, {pool, act.Scale, url.Values{"workers": {"-1"}}, "0 or more"},
		{pool, act.Scale, url.Values{"workers": {"3"}}, "asks for 3 workers already: nothing was done"},
	} {
		e := newEnv(t)
		offer, err := e.offer(c.ref, c.verb)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.confirm(offer, c.filled); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Body.String(), c.want) || len(e.writes()) > 0 {
			t.Errorf("%s %v: %d %s, %v", c.verb, c.filled, got.Code, got.Body, e.writes())
		}
	}
}

func TestNothingIsOfferedWhileTheSettingAllowsNoActions(t *testing.T) {
	e := newEnv(t)
	offer, err := e.offer(etl, act.Suspend)
	if err != nil {
		t.Fatal(err)
	}
	e.allowed = false
	if _, err := e.offer(etl, act.Suspend); err == nil {
		t.Error("it is offered")
	}
	if got := e.actions.Buttons(t.Context(), reader{e, ""}, etl, act.Status{}); len(got) > 0 {
		t.Errorf("the buttons are %v", got)
	}
	if got := e.confirm(offer, nil); got.Code != http.StatusForbidden || len(e.writes()) > 0 {
		t.Errorf("%d %s, %v", got.Code, got.Body, e.writes())
	}
}

func TestButtonsAreThoseOfTheUsersRights(t *testing.T) {
	verbs := func(buttons []act.Button) (all []string) {
		for _, button := range buttons {
			all = append(all, string(button.Verb))
		}
		return all
	}
	e := newEnv(t)
	early := act.Ref{Resource: "sparkapplications.spark-operator.k8s.io", Namespace: "team-a", Name: "old"}
	for _, c := range []struct {
		ref     act.Ref
		status  act.Status
		refused string
		want    string
	}{
		{etl, act.Status{}, "", "rerun suspend stop delete"}, {etl, act.Status{Suspended: true}, "", "rerun resume stop delete"},
		{etl, act.Status{Ended: true}, "", "rerun delete"}, {early, act.Status{}, "", "rerun stop delete"},
		{etl, act.Status{}, "patch of", "rerun delete"}, {etl, act.Status{}, "create of", "suspend stop delete"}, {etl, act.Status{}, "delete of", "rerun suspend stop"},
		{nightly, act.Status{}, "", "run suspend delete"}, {nightly, act.Status{}, "create of sparkapplications.spark.apache.org", "suspend delete"},
		{pool, act.Status{}, "", "scale suspend delete"}, {act.Ref{Resource: "secrets"}, act.Status{}, "", ""},
	} {
		if e.refused = nil; c.refused != "" {
			e.refused = []string{c.refused}
		}
		if got := strings.Join(verbs(e.actions.Buttons(t.Context(), reader{e, ""}, c.ref, c.status)), " "); got != c.want {
			t.Errorf("%s without %q: %q, want %q", c.ref, c.refused, got, c.want)
		}
	}
	e.refused = []string{"patch of"}
	if offer, err := e.offer(etl, act.Suspend); err != nil || !strings.Contains(offer.Refusal, "patch of sparkapplications") || len(offer.Hidden) > 0 {
		t.Errorf("without the right: %+v, %v", offer, err)
	}
	e.refused, e.failure = nil, access.ErrUnavailable
	if _, err := e.offer(etl, act.Suspend); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("without the API server: %v", err)
	}
}

func TestActionsAreOfTheirKindsAlone(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		ref  act.Ref
		verb act.Verb
	}{
		{etl, act.Scale}, {etl, act.Run}, {nightly, act.Stop}, {pool, act.Rerun}, {act.Ref{Resource: "secrets", Namespace: "team-a", Name: "etl"}, act.Delete}, {etl, "approve"},
	} {
		if offer, err := e.offer(c.ref, c.verb); err == nil {
			t.Errorf("%s %s: %+v", c.verb, c.ref, offer)
		}
	}
	absent := etl
	absent.Name = "absent"
	_, err := e.offer(absent, act.Stop)
	if status, message := e.actions.Explain(err); status != http.StatusNotFound || strings.Contains(message, "absent") {
		t.Errorf("an absent one: %d %s", status, message)
	}
}
