package apiserver_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/metrics/apiserver"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

// answering answers each request with a status, and those with none with an error.
type answering int

func (a answering) RoundTrip(request *http.Request) (*http.Response, error) {
	if a == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: int(a), Body: http.NoBody, Request: request}, nil
}

func TestCountRequests(t *testing.T) {
	const app = "/apis/spark.apache.org/v1/namespaces/team-a/sparkapplications"
	for name, test := range map[string]struct {
		method, url string
		answer      answering
		want        string
	}{
		"a Pod is created":       {http.MethodPost, "/api/v1/namespaces/team-a/pods", 201, "firesteel.resource=pods,firesteel.verb=create,http.response.status_code=201"},
		"a status is written":    {http.MethodPut, app + "/pi/status", 409, "firesteel.resource=sparkapplications/status,firesteel.verb=update,http.response.status_code=409"},
		"a finalizer is patched": {http.MethodPatch, app + "/pi?fieldManager=x", 200, "firesteel.resource=sparkapplications,firesteel.verb=patch,http.response.status_code=200"},
		"a Pod is deleted":       {http.MethodDelete, "/api/v1/namespaces/team-a/pods/pi-0-driver", 404, "firesteel.resource=pods,firesteel.verb=delete,http.response.status_code=404"},
		"an application is read": {http.MethodGet, app + "/pi", 200, "firesteel.resource=sparkapplications,firesteel.verb=get,http.response.status_code=200"},
		"those of a namespace":   {http.MethodGet, app, 200, "firesteel.resource=sparkapplications,firesteel.verb=list,http.response.status_code=200"},
		"those of the cluster": {
			http.MethodGet, "/apis/spark.apache.org/v1/sparkapplications?limit=500", 200, "firesteel.resource=sparkapplications,firesteel.verb=list,http.response.status_code=200",
		},
		"all are watched": {
			http.MethodGet, "/apis/spark.apache.org/v1/sparkapplications?watch=true", 200, "firesteel.resource=sparkapplications,firesteel.verb=watch,http.response.status_code=200",
		},
		"a lease is renewed":           {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", 200, "firesteel.resource=leases,firesteel.verb=update,http.response.status_code=200"},
		"a namespace is read":          {http.MethodGet, "/api/v1/namespaces/team-a", 200, "firesteel.resource=namespaces,firesteel.verb=get,http.response.status_code=200"},
		"namespaces are":               {http.MethodGet, "/api/v1/namespaces", 200, "firesteel.resource=namespaces,firesteel.verb=list,http.response.status_code=200"},
		"the version is asked for":     {http.MethodGet, "/version", 200, "firesteel.resource=,firesteel.verb=get,http.response.status_code=200"},
		"the groups are asked for":     {http.MethodGet, "/apis/spark.apache.org/v1", 200, "firesteel.resource=,firesteel.verb=get,http.response.status_code=200"},
		"nothing in particular is":     {http.MethodGet, "/", 200, "firesteel.resource=,firesteel.verb=get,http.response.status_code=200"},
		"no server answers":            {http.MethodPost, "/api/v1/namespaces/team-a/services", 0, "firesteel.resource=services,firesteel.verb=create"},
		"a server overloaded declines": {http.MethodPost, "/api/v1/namespaces/team-a/services", 429, "firesteel.resource=services,firesteel.verb=create,http.response.status_code=429"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := metricstest.NewReader()
			wrap, err := apiserver.CountRequests(reader.Provider())
			if err != nil {
				t.Fatal(err)
			}
			response, err := wrap(test.answer).RoundTrip(httptest.NewRequest(test.method, test.url, nil)) //nolint:bodyclose // it has none
			if (err == nil) != (test.answer != 0) || err == nil && response.StatusCode != int(test.answer) {
				t.Errorf("the answer was %v, %v", response, err)
			}
			if diff := cmp.Diff(map[string]float64{"firesteel.api.requests " + test.want: 1}, reader.Values(t)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
