package apiserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/firesteel-dev/firesteel/pkg/metrics/apiserver"
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
		"a Pod is created":       {http.MethodPost, "/api/v1/namespaces/team-a/pods", 201, "create pods 201"},
		"a status is written":    {http.MethodPut, app + "/pi/status", 409, "update sparkapplications/status 409"},
		"a finalizer is patched": {http.MethodPatch, app + "/pi?fieldManager=x", 200, "patch sparkapplications 200"},
		"a Pod is deleted":       {http.MethodDelete, "/api/v1/namespaces/team-a/pods/pi-0-driver", 404, "delete pods 404"},
		"an application is read": {http.MethodGet, app + "/pi", 200, "get sparkapplications 200"},
		"those of a namespace":   {http.MethodGet, app, 200, "list sparkapplications 200"},
		"those of the cluster": {
			http.MethodGet, "/apis/spark.apache.org/v1/sparkapplications?limit=500", 200, "list sparkapplications 200",
		},
		"all are watched": {
			http.MethodGet, "/apis/spark.apache.org/v1/sparkapplications?watch=true", 200, "watch sparkapplications 200",
		},
		"a lease is renewed":           {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", 200, "update leases 200"},
		"a namespace is read":          {http.MethodGet, "/api/v1/namespaces/team-a", 200, "get namespaces 200"},
		"namespaces are":               {http.MethodGet, "/api/v1/namespaces", 200, "list namespaces 200"},
		"the version is asked for":     {http.MethodGet, "/version", 200, "get  200"},
		"the groups are asked for":     {http.MethodGet, "/apis/spark.apache.org/v1", 200, "get  200"},
		"nothing in particular is":     {http.MethodGet, "/", 200, "get  200"},
		"nobody answers":               {http.MethodPost, "/api/v1/namespaces/team-a/services", 0, "create services"},
		"a server overloaded declines": {http.MethodPost, "/api/v1/namespaces/team-a/services", 429, "create services 429"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			wrap, err := apiserver.CountRequests(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
			if err != nil {
				t.Fatal(err)
			}
			response, err := wrap(test.answer).RoundTrip(httptest.NewRequest(test.method, test.url, nil)) //nolint:bodyclose // it has none
			if (err == nil) != (test.answer != 0) || err == nil && response.StatusCode != int(test.answer) {
				t.Errorf("the answer was %v, %v", response, err)
			}
			if diff := cmp.Diff(map[string]int64{test.want: 1}, counted(t, reader)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// counted are the requests by their attributes.
func counted(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, point := range all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64]).DataPoints {
		verb, _ := point.Attributes.Value("firesteel.verb")
		resource, _ := point.Attributes.Value("firesteel.resource")
		text := verb.AsString() + " " + resource.AsString()
		if code, answered := point.Attributes.Value("http.response.status_code"); answered {
			text += " " + code.String()
		}
		counts[text] += point.Value
	}
	return counts
}
