package integration

import (
	"bufio"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// tenants are service accounts: one that follows applications of its namespace, and one without rights.
const tenants = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: tenant}
  rules:
  - {apiGroups: [spark.apache.org, sparkoperator.k8s.io], resources: [sparkapplications], verbs: [get, list, watch, delete]}
  - {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: tenant}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
  subjects: [{kind: ServiceAccount, name: tenant}]
`

// ofAnotherOperator is an application without Firesteel's record, and its status.
const ofAnotherOperator = `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: foreign}
spec:
  type: Scala
  mode: cluster
  sparkVersion: 4.1.0
  image: spark:4.1.0
  mainApplicationFile: local:///app.jar
  driver: {}
  executor: {instances: 1}
`

const statusOfAnotherOperator = `{"status":{"applicationState":{"state":"RUNNING"},"driverInfo":{"podName":"foreign-driver"},"executionAttempts":1,"submissionAttempts":1}}`

// machine is a user's machine: kubectl spark, and a kubeconfig for a service account.
type machine struct {
	*env
	program, kubeconfig string
}

func (s *env) machine(account string) *machine {
	s.Helper()
	s.must(firesteel.Build(s.Context(), repository, s.programs, "cmd/kubectl-spark"))
	s.untilRightsAreKnown()
	token, err := s.Token(s.Context(), s.ns, account)
	s.must(err)
	m := &machine{s, filepath.Join(s.programs, "kubectl-spark"), filepath.Join(s.TempDir(), "kubeconfig")}
	s.must(clientcmd.WriteToFile(kubeconfigOf(s.Plane.Config(token), s.ns), m.kubeconfig))
	return m
}

// kubeconfigOf returns a kubeconfig with a connection and a namespace.
func kubeconfigOf(config *rest.Config, namespace string) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: namespace}},
		CurrentContext: "x",
	}
}

// command returns the command kubectl spark console.
func (m *machine) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(m.Context(), m.program, append([]string{"console", "--no-browser"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+m.kubeconfig)
	return command
}

// serve runs the command, and returns it with the link that it prints.
func (m *machine) serve(args ...string) (running *exec.Cmd, link *url.URL) {
	m.Helper()
	running = m.command(args...)
	output, err := running.StdoutPipe()
	m.must(err)
	var problems strings.Builder
	running.Stderr = &problems
	m.must(running.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		_ = running.Wait()
		m.Fatalf("no link is printed: %v\n%s", err, problems.String())
	}
	link, err = url.Parse(strings.TrimSpace(line))
	m.must(err)
	return running, link
}

// browser returns a browser without a session, at the address of a link.
func (m *machine) browser(link *url.URL) *browser {
	m.Helper()
	jar, err := cookiejar.New(nil)
	m.must(err)
	return &browser{m.env, &url.URL{Scheme: link.Scheme, Host: link.Host, Path: strings.TrimSuffix(link.Path, "/sign-in")}, &http.Client{Jar: jar}}
}

// fails runs the command, which must fail with one line.
func (m *machine) fails(part string, args ...string) {
	m.Helper()
	output, err := m.command(args...).CombinedOutput()
	if text := string(output); err == nil || !strings.HasPrefix(text, "error: ") || !strings.Contains(text, part) || strings.Count(text, "\n") != 1 {
		m.Errorf("%q: %v, and it prints\n%s\nwant one line with %s", args, err, text, part)
	}
}

func TestConsoleOnAMachineShowsWhatTheKubeconfigMaySee(t *testing.T) {
	alone(t)
	s, other := newEnv(t), newEnv(t)
	for _, e := range []*env{s, other} {
		_, err := e.kubectl(tenants, "create", "-f", "-")
		e.must(err)
	}
	other.create(App("hidden"))
	s.create(App("etl"))
	_, err := s.kubectl(ofAnotherOperator, "create", "-f", "-")
	s.must(err)
	_, err = s.kubectl("", "patch", "sparkapplications.sparkoperator.k8s.io", "foreign", "--subresource=status", "--type=merge", "-p", statusOfAnotherOperator)
	s.must(err)
	m := s.machine("tenant")
	running, link := m.serve()

	mine, stranger, guessing := m.browser(link), m.browser(link), m.browser(link)
	address := mine.address
	guessing.address = &url.URL{Scheme: link.Scheme, Host: link.Host}
	for what, got := range map[string]func() (int, string){
		"no session": func() (int, string) { return stranger.page("/") }, "no path": func() (int, string) { return guessing.page("/") },
		"a guessed path": func() (int, string) { return guessing.page("/applications") }, "another host": func() (int, string) { return stranger.pageOf("evil.example.com:80", "/") },
	} {
		if status, text := got(); status < http.StatusBadRequest || strings.Contains(text, "etl") || what != "no session" && strings.Contains(text, address.Path) {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	path := strings.TrimPrefix(link.RequestURI(), address.Path)
	if status, text := mine.page(path); status != http.StatusOK || !strings.Contains(text, "Shown is what there is in the namespace "+s.ns) || !strings.Contains(text, ":tenant") {
		t.Errorf("the link: %d %s", status, text)
	}
	if status, _ := stranger.page(path); status != http.StatusUnauthorized {
		t.Errorf("the link in another browser: %d", status)
	}
	var list string // the link is printed after a while even if not everything was read
	err = wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		_, list = mine.page("/applications")
		return strings.Contains(list, ">etl</a>") && strings.Contains(list, ">foreign</a>"), nil
	})
	if err != nil || strings.Contains(list, ">hidden</a>") {
		t.Errorf("the list is %s", list)
	}
	if status, text := mine.page("/applications/" + s.ns + "/sparkapplications.sparkoperator.k8s.io/foreign"); status != http.StatusOK || !strings.Contains(text, "RUNNING") {
		t.Errorf("what another operator runs: %d %s", status, text)
	}
	etl, hidden := "/applications/"+s.ns+"/sparkapplications.spark.apache.org/etl", "/applications/"+other.ns+"/sparkapplications.spark.apache.org/hidden"
	if status, text := mine.page(etl + "?tab=yaml"); status != http.StatusOK || !strings.Contains(text, "kind: SparkApplication") || strings.Contains(text, "action=delete") {
		t.Errorf("the YAML: %d %s", status, text)
	}
	if status, text := mine.page(etl + "?action=delete"); status != http.StatusForbidden || !strings.Contains(text, "--actions") {
		t.Errorf("an action: %d %s", status, text)
	}
	for _, path := range []string{hidden, hidden + "?tab=yaml"} {
		if status, _ := mine.page(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	m.fails("--port "+link.Port()+" cannot be used", "--port", link.Port())
	s.must(running.Process.Signal(os.Interrupt))
	if err := running.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

func TestConsoleOnAMachineActsWithTheKubeconfig(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(tenants, "create", "-f", "-")
	s.must(err)
	s.create(App("etl"))
	m := s.machine("tenant")
	running, link := m.serve("--actions", "-n", s.ns)
	b := m.browser(link)
	b.page(strings.TrimPrefix(link.RequestURI(), b.address.Path))
	_, text := b.page("/applications/" + s.ns + "/sparkapplications.spark.apache.org/etl?action=delete")
	form := formOf(text)
	if form.Get("uid") == "" || strings.Contains(text, "action=stop") { // the account may delete, and not patch
		t.Fatalf("the page has the form %v: %s", form, text)
	}
	if status := b.post("/actions/delete", form, "http://127.0.0.1:1"); status != http.StatusForbidden {
		t.Errorf("from another page: %d", status)
	}
	if app := s.get("etl"); app.DeletionTimestamp != nil {
		t.Error("another page has deleted it")
	}
	if status := b.post("/actions/delete", form, "http://"+b.address.Host); status != http.StatusOK {
		t.Errorf("from its own page: %d", status)
	}
	if app, err := s.apps().Get(t.Context(), "etl", metav1.GetOptions{}); !apierrors.IsNotFound(err) && (err != nil || app.DeletionTimestamp == nil) {
		t.Errorf("it is not deleted: %v", err)
	}
	s.must(running.Process.Kill())
	_ = running.Wait() // it was killed
}

func TestConsoleOnAMachineExplainsWhatItCannotShow(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	_, err := s.kubectl(tenants, "create", "-f", "-")
	s.must(err)
	m := s.machine("tenant")
	m.fails("you may not see applications in all namespaces: that needs list and watch of ", "-A")
	m.fails("you may not see applications in the namespace "+firesteel.SystemNamespace+": ", "-n", firesteel.SystemNamespace)
	m.fails("you may not see applications in all namespaces or in the namespace "+s.ns+": ", "--token", s.tokenFor())
	m.fails("the API server https://127.0.0.1:1 does not answer: nothing listens there", "--server", "https://127.0.0.1:1")
	m.fails("log in again", "--token", "wrong")
	m.fails(`the kubeconfig has no context "other": write --context with one of `, "--context", "other")
}

// pageOf returns the status and the text of a page, asked for by another name of the host.
func (b *browser) pageOf(host, path string) (status int, text string) {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.address.String()+path, nil)
	b.must(err)
	request.Host = host
	response, err := b.client.Do(request)
	b.must(err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	b.must(err)
	return response.StatusCode, string(content)
}

// post sends a form from a page of an origin, and returns the status of the page that it leads to.
func (b *browser) post(path string, form url.Values, origin string) int {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.address.String()+path, strings.NewReader(form.Encode()))
	b.must(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", origin)
	response, err := b.client.Do(request)
	b.must(err)
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// formOf returns the hidden fields of a page.
func formOf(page string) url.Values {
	form := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return form
}
