package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/incluster"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// actors are service accounts that may change applications, read them, and nothing.
const actors = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: editor}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: outsider}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: edit}
  rules: [{apiGroups: [spark.apache.org], resources: [sparkapplications], verbs: [get, list, create, patch, delete]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: read}
  rules: [{apiGroups: [spark.apache.org], resources: [sparkapplications], verbs: [get, list]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: edit}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: edit}
  subjects: [{kind: ServiceAccount, name: editor}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: read}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
  subjects: [{kind: ServiceAccount, name: reader}]
`

// actionPages are the least pages with which users sign in and act.
type actionPages struct {
	*env
	actions *act.Actions
	address string
}

// offered is an offer, or why there is none.
type offered struct {
	Offer  *act.Offer
	CSRF   string
	Status int
	Text   string
}

func (s *env) serveActions() *actionPages {
	s.Helper()
	s.applyConfig("console/500-console.yaml")
	config, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, "console")
	s.must(err)
	client, err := kubernetes.NewForConfig(config)
	s.must(err)
	key, _, err := session.LoadKey("")
	s.must(err)
	proxy := session.NewProxy(key, []byte(proxySecret), func() []string { return []string{trustedGroup, "unbound"} }, clock.RealClock{})
	p := &actionPages{env: s}
	none := func() string { return "" }
	p.actions = act.New(act.Options{
		Clients: incluster.NewClients(config, proxy), Pages: p, Allowed: func() bool { return true }, Prefix: none, Clock: clock.RealClock{}, Logger: zap.NewNop().Sugar(),
	})
	sessions := session.New(session.Options{
		Key: key, Pages: p, Clock: clock.RealClock{}, Address: none, Proxy: proxy,
		Users: incluster.NewUsers(incluster.NewNamespaces(client), review.NewReviewer(client, func() []string { return nil }, clock.RealClock{}), proxy,
			review.NewSelf(client, clock.RealClock{})),
	})
	mux := http.NewServeMux()
	mux.Handle("/sign-in", sessions.SignIn())
	mux.Handle("GET /offers/{verb}/{name}", sessions.Require(http.HandlerFunc(p.offer)))
	mux.Handle("POST /actions/{verb}", sessions.Require(p.actions.Handler()))
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	p.address = server.URL
	return p
}

func (p *actionPages) offer(w http.ResponseWriter, r *http.Request) {
	current := session.Of(r.Context())
	answer := offered{CSRF: current.CSRF()}
	ref := act.Ref{Resource: "sparkapplications.spark.apache.org", Namespace: p.ns, Name: r.PathValue("name")}
	var err error
	if answer.Offer, err = p.actions.Offer(r.Context(), current, ref, act.Verb(r.PathValue("verb"))); err != nil {
		answer.Status, answer.Text = p.actions.Explain(err)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (p *actionPages) SignIn(w http.ResponseWriter, _ *http.Request, status int, form session.Form) {
	http.Error(w, form.Problem, status)
}

func (p *actionPages) Problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	http.Error(w, message, status)
}

// actor is a service account that has signed in.
type actor struct {
	*actionPages
	client *http.Client
}

func (p *actionPages) signIn(account string) *actor {
	p.Helper()
	token, err := p.Token(p.Context(), p.ns, account)
	p.must(err)
	jar, err := cookiejar.New(nil)
	p.must(err)
	u := &actor{p, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if status, text := u.post("/sign-in", url.Values{"token": {token}}); status != http.StatusSeeOther {
		p.Fatalf("%s signs in: %d %s", account, status, text)
	}
	return u
}

func (u *actor) post(path string, form url.Values) (status int, text string) {
	u.Helper()
	request, err := http.NewRequestWithContext(u.Context(), http.MethodPost, u.address+path, strings.NewReader(form.Encode()))
	u.must(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return u.send(request)
}

// send sends a request, and returns the status and the text of the answer.
func (u *actor) send(request *http.Request) (status int, text string) {
	u.Helper()
	answer, err := u.client.Do(request)
	u.must(err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	u.must(err)
	return answer.StatusCode, string(body)
}

func (u *actor) offered(verb act.Verb, name string) (got offered) {
	u.Helper()
	request, err := http.NewRequestWithContext(u.Context(), http.MethodGet, u.address+"/offers/"+string(verb)+"/"+name, nil)
	u.must(err)
	answer, err := u.client.Do(request)
	u.must(err)
	defer func() { _ = answer.Body.Close() }()
	u.must(json.NewDecoder(answer.Body).Decode(&got))
	return got
}

// confirm sends the form of an offer. csrf is the user's own.
func (u *actor) confirm(of offered, csrf string, filled url.Values) (status int, text string) {
	u.Helper()
	form := url.Values{session.FormField: {csrf}}
	for _, field := range of.Offer.Hidden {
		form.Set(field.Name, field.Value)
	}
	for name, values := range filled {
		form[name] = values
	}
	return u.post(of.Offer.Action, form)
}

func TestConsoleActsAsTheUser(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(actors, "create", "-f", "-")
	s.must(err)
	s.create(App("etl"))
	pages := s.serveActions()
	editor, reader, outsider := pages.signIn("editor"), pages.signIn("reader"), pages.signIn("outsider")

	suspend := editor.offered(act.Suspend, "etl")
	if suspend.Offer == nil || suspend.Offer.Refusal != "" || !strings.Contains(suspend.Offer.Effect, "The next launch waits") {
		t.Fatalf("the editor is offered %+v", suspend)
	}
	// Others see no offer, and the API server refuses them a form that they forge.
	if got := reader.offered(act.Suspend, "etl"); got.Offer == nil || !strings.Contains(got.Offer.Refusal, "patch of sparkapplications.spark.apache.org etl") {
		t.Errorf("the reader is offered %+v", got)
	}
	if got := outsider.offered(act.Suspend, "etl"); got.Offer != nil || got.Status != http.StatusForbidden {
		t.Errorf("the outsider is offered %+v", got)
	}
	for name, u := range map[string]*actor{"reader": reader, "outsider": outsider} {
		csrf := u.offered(act.Suspend, "etl").CSRF
		if status, text := u.confirm(suspend, csrf, nil); status != http.StatusForbidden || !strings.Contains(text, "system:serviceaccount:"+s.ns+":"+name) {
			t.Errorf("the %s's forged form: %d %s", name, status, text)
		}
		if status, _ := u.confirm(suspend, suspend.CSRF, nil); status != http.StatusForbidden {
			t.Errorf("the %s with the editor's token of the form: %d", name, status)
		}
	}
	if isSuspended(s, "etl") {
		t.Fatal("somebody without the right has suspended it")
	}

	// The controller writes the status meanwhile: that changes nothing of what was confirmed.
	patchStatus(s, "etl", `{"status":{"currentState":{"currentStateSummary":"Submitted","lastTransitionTime":"2026-01-01T00:00:00Z"}}}`)
	if status, text := editor.confirm(suspend, suspend.CSRF, nil); status != http.StatusSeeOther || !isSuspended(s, "etl") {
		t.Errorf("the editor suspends: %d %s", status, text)
	}
	if status, text := editor.confirm(suspend, suspend.CSRF, nil); status != http.StatusConflict {
		t.Errorf("the same form again: %d %s", status, text)
	}

	// Another object of the name is not deleted by the form of the first.
	remove := editor.offered(act.Delete, "etl")
	s.must(s.apps().Delete(t.Context(), "etl", metav1.DeleteOptions{}))
	untilGone(s, s.apps(), "etl")
	s.create(App("etl"))
	if status, text := editor.confirm(remove, remove.CSRF, nil); status != http.StatusConflict || !strings.Contains(text, "nother object has the name") {
		t.Errorf("the form of the first object: %d %s", status, text)
	}
	rerun := editor.offered(act.Rerun, "etl")
	if status, text := editor.confirm(rerun, rerun.CSRF, url.Values{"name": {"again"}, "set": {"sparkConf.spark.executor.instances=2"}}); status != http.StatusSeeOther {
		t.Errorf("the editor runs it again: %d %s", status, text)
	}
	again, err := s.apps().Get(t.Context(), "again", metav1.GetOptions{})
	if err != nil || again.Spec.SparkConf["spark.executor.instances"] != "2" {
		t.Errorf("the new application is %v, %v", again, err)
	}
	remove = editor.offered(act.Delete, "etl")
	if status, text := editor.confirm(remove, remove.CSRF, nil); status != http.StatusSeeOther {
		t.Errorf("the editor deletes: %d %s", status, text)
	}

	requests, err := s.Plane.Audit("system:serviceaccount:" + s.ns + ":editor").Requests()
	s.must(err)
	var kinds []string
	for _, request := range requests {
		if request.Verb != "get" && request.Code < http.StatusBadRequest {
			kinds = append(kinds, request.Kind())
		}
	}
	if want := []string{"patch sparkapplications", "create sparkapplications", "delete sparkapplications"}; !slices.Equal(kinds, want) {
		t.Errorf("the audit log has the requests %q of the editor, want %q", kinds, want)
	}
	requests, err = s.Plane.Audit("system:serviceaccount:" + firesteel.SystemNamespace + ":console").Requests()
	s.must(err)
	for _, request := range requests {
		if request.Namespace == s.ns {
			t.Errorf("the console itself: %s", request)
		}
	}
}

func isSuspended(s *env, name string) bool {
	s.Helper()
	app, err := s.apps().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return app.Spec.Suspend
}

func patchStatus(s *env, name, patch string) {
	s.Helper()
	_, err := s.apps().Patch(s.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}, "status")
	s.must(err)
}
