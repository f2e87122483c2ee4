package submit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

const (
	discovered = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"sparkoperator.k8s.io/v1beta2","resources":[{"name":"sparkapplications","kind":"SparkApplication","namespaced":true,"verbs":["create"]}]}`
	refused    = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"it is %[1]s","code":%d}`
	// readBack is an application that was created at a time, and refers to a ConfigMap.
	readBack = `{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkApplication","metadata":{"name":"etl","namespace":"a","uid":"u","creationTimestamp":%q},
		"spec":{"hadoopConf":{},"sparkConf":{"spark.kubernetes.hadoop.configMapName":"etl-hadoop-config"}}}`
	madeConfigMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"etl-hadoop-config","namespace":"a","uid":"c","creationTimestamp":"2026-01-01T12:00:00Z"}}`
	sameSecond    = "2026-01-01T12:00:00Z"
	dayBefore     = "2025-12-31T12:00:00Z"
)

// answerOf is how a request for an application is answered.
type answerOf struct {
	code int
	body string
}

var (
	lost     = answerOf{}
	exists   = answerOf{http.StatusConflict, fmt.Sprintf(refused, "AlreadyExists", http.StatusConflict)}
	notFound = answerOf{http.StatusNotFound, notThere}
	broken   = answerOf{http.StatusInternalServerError, fmt.Sprintf(refused, "InternalError", http.StatusInternalServerError)}
	timedOut = answerOf{http.StatusGatewayTimeout, fmt.Sprintf(refused, "Timeout", http.StatusGatewayTimeout)}
	ours     = answerOf{http.StatusOK, fmt.Sprintf(readBack, sameSecond)}
	older    = answerOf{http.StatusOK, fmt.Sprintf(readBack, dayBefore)}
)

// apiServer is an API server that answers the creations of applications, and the reads of them, one after the other. The last answer of each
// comes again. It creates the ConfigMaps.
func apiServer(t *testing.T, creations []answerOf, reading answerOf) (url string, requests func() string) {
	t.Helper()
	return fakeServer(t, func(request string) (int, string) {
		switch {
		case strings.HasPrefix(request, "GET /apis/sparkoperator.k8s.io/v1beta2?") || strings.HasSuffix(request, "GET /apis/sparkoperator.k8s.io/v1beta2"):
			return http.StatusOK, discovered
		case strings.Contains(request, "/configmaps"):
			return http.StatusOK, madeConfigMap
		case strings.HasPrefix(request, "POST /apis/sparkoperator.k8s.io/v1beta2/namespaces/a/sparkapplications"):
			answer := creations[0]
			creations = creations[min(1, len(creations)-1):]
			return answer.code, answer.body
		case strings.HasPrefix(request, "GET /apis/sparkoperator.k8s.io/v1beta2/namespaces/a/sparkapplications/etl"):
			return reading.code, reading.body
		default:
			return http.StatusNotFound, notThere
		}
	})
}

func TestALostAnswerLeavesAnApplicationItsConfigMaps(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "core-site.xml"), []byte("<configuration/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		owned   = "PATCH /api/v1/namespaces/a/configmaps/etl-hadoop-config?"
		deleted = "DELETE /api/v1/namespaces/a/configmaps/etl-hadoop-config"
		created = "sparkapplications.sparkoperator.k8s.io/etl created\n"
		unknown = `^error: it is not known whether sparkapplications.sparkoperator.k8s.io/etl was created, as the answer of the API server was lost \(.*\): ` +
			`kubectl get sparkapplications.sparkoperator.k8s.io/etl -n a shows whether it is there. ` +
			`Its ConfigMaps stay: if it is not there, kubectl delete configmap etl-hadoop-config -n a removes them\n$`
	)
	for name, test := range map[string]struct {
		creations []answerOf
		reading   answerOf
		code      int
		out       string
		errOut    string
		// patched and removed are about the ConfigMap.
		patched, removed bool
	}{
		"it was created":                          {[]answerOf{lost, exists}, ours, 0, created, "", true, false},
		"it was created, and then the end":        {[]answerOf{lost}, ours, 0, created, "", true, false},
		"it was created behind a proxy":           {[]answerOf{timedOut, exists}, ours, 0, created, "", true, false},
		"it was created, says an error":           {[]answerOf{broken}, ours, 0, created, "", true, false},
		"it was not created, and is the 2nd time": {[]answerOf{lost, ours}, notFound, 0, created, "", true, false},
		"the name is that of an older one":        {[]answerOf{lost, exists, ours}, older, 0, created, "etl exists already, so this run is etl-", true, true},
		"it was refused":                          {[]answerOf{broken}, notFound, 1, "", "it is InternalError", false, true},
		"it was refused the 2nd time":             {[]answerOf{lost, broken}, notFound, 1, "", "it is InternalError", false, true},
		"the API server is gone":                  {[]answerOf{lost}, lost, 1, "", unknown, false, false},
		"it may come later":                       {[]answerOf{lost}, notFound, 1, "", unknown, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HADOOP_CONF_DIR", folder)
			server, requests := apiServer(t, test.creations, test.reading)
			code, out, errOut := run(t, cli.Plugin, "submit", "--server", server, "-n", "a", "--api", "kubeflow", "--name", "etl", "--conf", image, "local:///etl.py")
			if code != test.code || out != test.out || !regexp.MustCompile(test.errOut).MatchString(errOut) ||
				strings.Contains(requests(), owned) != test.patched || strings.Contains(requests(), deleted) != test.removed {
				t.Errorf("%d %s%s\n%s", code, out, errOut, requests())
			}
		})
	}
}

func TestAnInterruptWaitsForTheAnswerToACreation(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	server, requests := fakeServer(t, func(request string) (int, string) {
		if strings.HasPrefix(request, "POST ") {
			interrupt()
			return ours.code, ours.body
		}
		return http.StatusOK, discovered
	})
	code, out, errOut := runUntil(ctx, t, cli.Plugin, "submit", "--server", server, "-n", "a", "--api", "kubeflow", "--name", "etl", "--conf", image, "local:///etl.py")
	if code != 0 || out != "sparkapplications.sparkoperator.k8s.io/etl created\n" {
		t.Errorf("%d %s%s\n%s", code, out, errOut, requests())
	}
}

func TestALostAnswerStartsNoSecondApplication(t *testing.T) {
	for name, test := range map[string]struct {
		creations []answerOf
		reading   answerOf
		code      int
		errOut    string
	}{
		"the second request":        {[]answerOf{lost, ours}, notFound, 0, ""},
		"one of that name is there": {[]answerOf{lost, exists}, ours, 1, "it is not known whether sparkapplications.sparkoperator.k8s.io/etl was created, "},
	} {
		server, requests := apiServer(t, test.creations, test.reading)
		code, _, errOut := run(t, cli.Plugin, "submit", "--server", server, "-n", "a", "--api", "kubeflow", "--name", "etl", "--conf", image, "local:///etl.py")
		if code != test.code || !strings.Contains(errOut, test.errOut) || strings.Count(requests(), "POST ") != 2 {
			t.Errorf("%s: %d %s\n%s", name, code, errOut, requests())
		}
	}
}

func TestALostAnswerIsReadByARandomName(t *testing.T) {
	application := map[string]any{"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": map[string]any{}, "spec": map[string]any{}}
	var asked string
	server, requests := fakeServer(t, func(request string) (int, string) {
		name, reads := strings.CutPrefix(request, "GET /apis/spark.apache.org/v1/namespaces/default/sparkapplications/")
		if !reads {
			return lost.code, lost.body
		}
		asked = name
		application["metadata"] = map[string]any{"name": name, "namespace": "default", "uid": "u"}
		body, err := json.Marshal(application)
		if err != nil {
			t.Error(err)
		}
		return http.StatusOK, string(body)
	})
	file := filepath.Join(t.TempDir(), "pi.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(manifest, "name: pi", "generateName: pi-", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := run(t, cli.Plugin, "submit", "--server", server, "-f", file)
	if code != 0 || !strings.HasPrefix(asked, "pi-") || out != "sparkapplications.spark.apache.org/"+asked+" created\n" {
		t.Errorf("%d %s%s\n%s", code, out, errOut, requests())
	}
}
