// Package apiserver counts the requests to the API server by verb, resource and code. They are the load that the controller
// puts on the API server.
package apiserver

import (
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// The attributes of requests. Verbs and resources are those of Kubernetes, as in a role.
const (
	attributeVerb     = attribute.Key("firesteel.verb")
	attributeResource = attribute.Key("firesteel.resource")
	attributeCode     = attribute.Key("http.response.status_code")
)

// CountRequests returns a wrapper for the transport of requests to the API server that counts them.
func CountRequests(provider metric.MeterProvider) (func(http.RoundTripper) http.RoundTripper, error) {
	counter, err := provider.Meter("github.com/firesteel-dev/firesteel/pkg/metrics").Int64Counter("firesteel.api.requests",
		metric.WithUnit("{request}"),
		metric.WithDescription(fmt.Sprintf("Requests to the API server, by %s, %s and %s, which is missing if none came.",
			attributeVerb, attributeResource, attributeCode)))
	if err != nil {
		return nil, fmt.Errorf("make the counter of requests: %w", err)
	}
	return func(next http.RoundTripper) http.RoundTripper { return &counting{next: next, requests: counter} }, nil
}

type counting struct {
	next     http.RoundTripper
	requests metric.Int64Counter
}

// RoundTrip sends a request and counts it.
func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if ctx := request.Context(); c.requests.Enabled(ctx) {
		verb, resource := kind(request)
		attributes := []attribute.KeyValue{attributeVerb.String(verb), attributeResource.String(resource)}
		if err == nil {
			attributes = append(attributes, attributeCode.Int(response.StatusCode))
		}
		c.requests.Add(ctx, 1, metric.WithAttributes(attributes...))
	}
	return response, err
}

// kind returns the verb and the resource of a request. The resource is empty if the request has none.
func kind(request *http.Request) (verb, resource string) {
	path := resourcePath(request.URL.Path)
	switch {
	case len(path) > 2:
		resource = path[0] + "/" + path[2]
	case len(path) > 0:
		resource = path[0]
	}
	switch request.Method {
	case http.MethodPost:
		return "create", resource
	case http.MethodPut:
		return "update", resource
	case http.MethodGet:
		return reading(request, path), resource
	default:
		return strings.ToLower(request.Method), resource
	}
}

func reading(request *http.Request, path []string) string {
	switch {
	case request.URL.Query().Get("watch") == "true":
		return "watch"
	case len(path) == 1:
		return "list"
	default:
		return "get"
	}
}

// resourcePath returns the resource, the name of the object, and the subresource in the path of a request, as far as the
// path has them.
func resourcePath(path string) []string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2: // after "api" comes the version
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3: // after "apis" come the group and the version
		parts = parts[3:]
	default:
		return nil
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		return parts[2:]
	}
	return parts
}
