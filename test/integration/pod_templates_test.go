package integration

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	driverTemplate   = "spark.kubernetes.driver.podTemplateFile"
	executorTemplate = "spark.kubernetes.executor.podTemplateFile"
)

// library serves pod templates by https.
type library struct {
	*httptest.Server
	// environment has a controller trust it.
	environment []string

	mutex  sync.Mutex
	pages  map[string]page
	served map[string]int
}

type page struct {
	status int
	text   string
}

// newLibrary makes a library whose folder /templates/ the operator allows.
func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{pages: map[string]page{}, served: map[string]int{}}
	l.Server = httptest.NewTLSServer(l)
	t.Cleanup(l.Close)
	certificate := filepath.Join(t.TempDir(), "library.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	l.environment = []string{"SSL_CERT_FILE=" + certificate}
	(&env{TB: t, suite: controlPlanes.of(t)}).configured("config-defaults", "pod-template-urls", l.URL+"/templates/")
	return l
}

func (l *library) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.served[request.URL.Path]++
	p, known := l.pages[request.URL.Path]
	if !known {
		p.status = http.StatusNotFound
	}
	w.WriteHeader(p.status)
	_, _ = w.Write([]byte(p.text))
}

// put has a page served from now on, and returns its URL.
func (l *library) put(path string, status int, text string) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.pages[path] = page{status, text}
	return l.URL + path
}

func (l *library) times(path string) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.served[path]
}

// templateOf is a template whose pods have a label, and a container beside Spark's.
func templateOf(value string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {labels: {from: " + value + "}}\n" +
		"spec: {containers: [{name: helper, image: helper}, {name: spark, env: [{name: FROM, value: " + value + "}]}]}\n"
}

// DriverTemplate names the driver's template, whose container for Spark is not the first.
func (a *application) DriverTemplate(url string) *application {
	return a.Conf(driverTemplate, url).Conf("spark.kubernetes.driver.podTemplateContainerName", "spark")
}

func TestPodTemplatesAreReadFromAllowedURLs(t *testing.T) {
	alone(t)
	l := newLibrary(t)
	s := newEnv(t)
	s.ownController(controller{sink: s.sink.URL(), environment: l.environment})

	ofDriver := l.put("/templates/driver.yaml", http.StatusOK, templateOf("driver"))
	ofExecutor := l.put("/templates/executor.yaml", http.StatusOK, strings.Replace(templateOf("executor"), "spec:", "specs: {}\nspec:", 1))
	app := s.create(App("pi").DriverTemplate(ofDriver).Conf(executorTemplate, ofExecutor))
	d := s.run("pi", 0)
	spark := d.Spec.Containers[len(d.Spec.Containers)-1]
	if d.Labels["from"] != "driver" || len(d.Spec.Containers) != 2 || spark.Name != "spark" || spark.Env[0].Value != "driver" {
		t.Errorf("the driver is not of its template: %s", described(d.Pod))
	}
	configMap, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "pi-0-driver-podspec-conf-map", metav1.GetOptions{})
	s.must(err)
	if text := configMap.Data["podspec-configmap-key"]; !contains(text, "from: executor") {
		t.Errorf("the executors' template is not the one that was named:\n%s", text)
	}
	s.warned("pi", "In "+ofExecutor+` unknown field "specs" is dropped`)
	d.succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, plainRun...)
	for _, path := range []string{"/templates/driver.yaml", "/templates/executor.yaml"} {
		if times := l.times(path); times != 1 {
			t.Errorf("%s was read %d times, want once", path, times)
		}
	}

	t.Run("and from nowhere else", func(t *testing.T) {
		secret := l.put("/secret.yaml", http.StatusOK, templateOf("secret"))
		noTemplate := l.put("/templates/page.html", http.StatusOK, "<html>")
		s := &env{TB: t, suite: s.suite, ns: s.ns}
		for name, c := range map[string]struct{ url, says string }{
			"not-allowed": {secret, "is not at a URL that the operator allows for templates"},
			"absent":      {l.URL + "/templates/absent.yaml", "is not there (404 Not Found)"},
			"no-template": {noTemplate, "is no template of a pod"},
			"of-the-host": {"/etc/passwd", "is a file, which Firesteel does not read"},
		} {
			s.create(App(name).DriverTemplate(c.url))
			condition := s.untilCondition(name, "Succeeded", metav1.ConditionFalse, "InvalidSpec")
			for _, part := range []string{driverTemplate, c.url, c.says, "write the template into spec.driverSpec.podTemplateSpec"} {
				if !contains(condition.Message, part) {
					t.Errorf("the condition says %q, and not %q", condition.Message, part)
				}
			}
		}
		if times := l.times("/secret.yaml"); times != 0 {
			t.Errorf("what is not allowed was read %d times", times)
		}
	})

	t.Run("as soon as they are there", func(t *testing.T) {
		s := &env{TB: t, suite: s.suite, ns: s.ns}
		late := l.put("/templates/late.yaml", http.StatusServiceUnavailable, "")
		s.create(App("late").DriverTemplate(late))
		condition := s.untilCondition("late", "Succeeded", metav1.ConditionUnknown, "PodTemplateUnavailable")
		if !contains(condition.Message, "503 Service Unavailable") || !contains(condition.Message, "is tried again") {
			t.Errorf("the condition says %q", condition.Message)
		}
		s.untilKubeEvent("late", corev1.EventTypeWarning, "PodTemplateUnavailable")
		l.put("/templates/late.yaml", http.StatusOK, templateOf("late"))
		if d := s.run("late", 0); d.Labels["from"] != "late" {
			t.Errorf("the driver has labels %v", d.Labels)
		}
	})
}

// A template is part of what a launch is: where it changes in the middle of one, what was begun has to go.
func TestPodTemplatesThatChangeWhileTheControllerIsDown(t *testing.T) {
	alone(t)
	const podCreate = 2 // its place among the writes of a life
	l := newLibrary(t)
	for name, c := range map[string]struct {
		status  int
		drivers int
		states  []string
	}{
		"for another":      {http.StatusOK, 2, plainRun},
		"and are the same": {http.StatusNotModified, 1, plainRun},
		"and are gone":     {http.StatusNotFound, 1, words("Submitted SchedulingFailure ResourceReleased")},
	} {
		t.Run(name, func(t *testing.T) {
			m := newCrashEnv(t, l.environment...)
			m.apiServer.setTrap(m.name, trap{at: podCreate, answered: true, spring: func() { m.killController() }})
			url := l.put("/templates/pi.yaml", http.StatusOK, templateOf("before"))
			app := m.create(App(m.name).DriverTemplate(url))
			<-m.dead
			last := "before"
			if c.status != http.StatusNotModified {
				last = "after"
				l.put("/templates/pi.yaml", c.status, templateOf("after"))
			}
			m.startAgain()
			if c.status == http.StatusNotFound {
				m.untilCondition(m.name, "Succeeded", metav1.ConditionFalse, "InvalidSpec")
				untilGone(m.env, m.Kube.CoreV1().Pods(m.ns), m.name+"-0-driver")
			} else {
				d := m.run(m.name, 0)
				if d.Labels["from"] != last {
					t.Errorf("the driver has labels %v", d.Labels)
				}
				d.succeed()
			}
			m.untilState(m.name, "ResourceReleased")
			m.untilPublished(app, c.states...)
			if drivers := m.untilHad(m.name, c.drivers); len(drivers) != c.drivers {
				t.Errorf("it had %d drivers, want %d", len(drivers), c.drivers)
			}
		})
	}
}
