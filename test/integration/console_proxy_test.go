package integration

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// proxySecret is that of the proxy, and trustedGroup the group in config/console-impersonation.
const proxySecret, trustedGroup = "0123456789abcdef0123456789abcdef", "data-engineers"

// editorsOfGroup lets the trusted group change applications.
const editorsOfGroup = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: engineers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: data-engineers}]
`

// withHeaders adds headers to requests, as a proxy does.
type withHeaders http.Header

func (h withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	for name, values := range h {
		request.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(request)
}

// through returns a client behind a proxy that sends headers, which are pairs of name and value.
func (p *actionPages) through(headers ...string) *actor {
	added := withHeaders{}
	for i := 0; i < len(headers); i += 2 {
		http.Header(added).Add(headers[i], headers[i+1])
	}
	return &actor{p, &http.Client{Transport: added, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// sees returns the status and the text of the page of an offer.
func (u *actor) sees(name string) (status int, text string) {
	u.Helper()
	request, err := http.NewRequestWithContext(u.Context(), http.MethodGet, u.address+"/offers/"+string(act.Suspend)+"/"+name, nil)
	u.must(err)
	return u.send(request)
}

func TestConsoleActsForUsersOfAProxyOnlyInListedGroups(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(actors+"---"+editorsOfGroup, "create", "-f", "-")
	s.must(err)
	s.create(App("etl"))
	pages := s.serveActions()
	s.applyConfig("console-impersonation/200-clusterrole.yaml")

	const user, secret, groups = session.UserHeader, session.SecretHeader, session.GroupsHeader
	ann := pages.through(secret, proxySecret, user, "ann@example.com", groups, "others, "+trustedGroup)
	suspend := ann.offered(act.Suspend, "etl")
	if suspend.Offer == nil || suspend.Offer.Refusal != "" {
		t.Fatalf("ann is offered %+v", suspend)
	}

	token, err := s.Token(s.Context(), s.ns, "editor")
	s.must(err)
	for name, forged := range map[string]struct {
		*actor
		reason string
	}{
		"no secret":             {pages.through(user, "ann@example.com", groups, trustedGroup), "does not prove"},
		"another secret":        {pages.through(secret, strings.ToUpper(proxySecret), user, "ann@example.com", groups, trustedGroup), "does not prove"},
		"two secrets":           {pages.through(secret, proxySecret, secret, proxySecret, user, "ann@example.com", groups, trustedGroup), "does not prove"},
		"the secret alone":      {pages.through(secret, proxySecret), "0 times"},
		"groups alone":          {pages.through(groups, trustedGroup), "does not prove"},
		"two users":             {pages.through(secret, proxySecret, user, "ann@example.com", user, "bob@example.com", groups, trustedGroup), "2 times"},
		"a user of Kubernetes":  {pages.through(secret, proxySecret, user, "system:admin", groups, trustedGroup), "Kubernetes' own"},
		"a service account":     {pages.through(secret, proxySecret, user, "system:serviceaccount:"+s.ns+":editor", groups, trustedGroup), "Kubernetes' own"},
		"a group of Kubernetes": {pages.through(secret, proxySecret, user, "ann@example.com", groups, trustedGroup+",system:masters"), "Kubernetes' own"},
		"another group":         {pages.through(secret, proxySecret, user, "ann@example.com", groups, "others"), "no group"},
		"no group":              {pages.through(secret, proxySecret, user, "ann@example.com"), "no group"},
		"a group of the setting that the role has not": {pages.through(secret, proxySecret, user, "ann@example.com", groups, "unbound"), "may not impersonate"},
		"a token, too":      {pages.through(secret, proxySecret, user, "ann@example.com", groups, trustedGroup, "Authorization", "Bearer "+token), "one of both"},
		"a token, forged":   {pages.through(user, "ann@example.com", "Authorization", "Bearer "+token), "does not prove"},
		"a made credential": {pages.through("Authorization", "Bearer firesteel-proxy.e30"), ""},
	} {
		status, text := forged.sees("etl")
		if refused := status == http.StatusForbidden || status == http.StatusSeeOther && forged.reason == ""; !refused || !strings.Contains(text, forged.reason) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if status, text := forged.confirm(suspend, suspend.CSRF, nil); status == http.StatusSeeOther && !strings.Contains(text, "sign-in") && isSuspended(s, "etl") {
			t.Errorf("%s acts: %d %s", name, status, text)
		}
	}
	if isSuspended(s, "etl") {
		t.Fatal("a forged request has suspended it")
	}
	// Another user of the group has the group's rights, and not ann's form.
	bob := pages.through(secret, proxySecret, user, "bob@example.com", groups, trustedGroup)
	if status, _ := bob.confirm(suspend, suspend.CSRF, nil); status != http.StatusForbidden {
		t.Errorf("bob with ann's token of the form: %d", status)
	}
	if status, text := ann.confirm(suspend, suspend.CSRF, url.Values{}); status != http.StatusSeeOther || !isSuspended(s, "etl") {
		t.Errorf("ann suspends: %d %s", status, text)
	}

	requests, err := s.Plane.Audit("system:serviceaccount:" + firesteel.SystemNamespace + ":console").Requests()
	s.must(err)
	var kinds []string
	for _, request := range requests {
		switch {
		case request.Namespace != s.ns:
		case request.As != "ann@example.com":
			t.Errorf("the console as %q: %s", request.As, request)
		case request.Verb != "get" && request.Code < http.StatusBadRequest:
			kinds = append(kinds, request.Kind())
		}
	}
	if want := []string{"patch sparkapplications"}; !slices.Equal(kinds, want) {
		t.Errorf("the audit log has the requests %q for ann, want %q", kinds, want)
	}
}
