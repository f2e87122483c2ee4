package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer in JSON, and maxError the text of an error that is not the console's own.
const maxAnswer, maxError = 32 << 20, 256

// Client asks a console.
type Client struct {
	// Base is the address of the console, before Prefix.
	Base *url.URL
	HTTP *http.Client
}

// path joins elements to a path below Prefix. Each is one segment, whatever characters it has.
func path(elements ...string) string {
	var joined strings.Builder
	joined.WriteString(Prefix)
	for _, element := range elements {
		joined.WriteString("/" + url.PathEscape(element))
	}
	return joined.String()
}

// Filter selects applications.
type Filter struct {
	Resource, Name, State, LabelSelector string
	// Since is the earliest time of creation.
	Since time.Time
	Limit int
}

// Namespaces returns the namespaces of which the caller may list applications.
func (c *Client) Namespaces(ctx context.Context) (*Namespaces, error) {
	answer := &Namespaces{}
	return answer, c.get(ctx, path("namespaces"), nil, answer)
}

// List returns a page of the applications of a namespace. token is that of the page before; empty for the first one.
func (c *Client) List(ctx context.Context, namespace string, filter Filter, token string) (*Applications, error) {
	parameters := url.Values{}
	set := func(name, value string) {
		if value != "" {
			parameters.Set(name, value)
		}
	}
	set("resource", filter.Resource)
	set("name", filter.Name)
	set("state", filter.State)
	set("labelSelector", filter.LabelSelector)
	set("continue", token)
	if !filter.Since.IsZero() {
		set("since", filter.Since.UTC().Format(time.RFC3339))
	}
	if filter.Limit > 0 {
		set("limit", strconv.Itoa(filter.Limit))
	}
	answer := &Applications{}
	return answer, c.get(ctx, ApplicationsPath(namespace), parameters, answer)
}

// Named returns the applications that had a name, the newest first.
func (c *Client) Named(ctx context.Context, namespace, resource, name string) (*Applications, error) {
	answer := &Applications{}
	return answer, c.get(ctx, NamedPath(namespace, resource, name), nil, answer)
}

// Details returns an application with its attempts.
func (c *Client) Details(ctx context.Context, application *Application) (*Details, error) {
	answer := &Details{}
	return answer, c.get(ctx, application.Path(), nil, answer)
}

// Object reads an object of an attempt into a value.
func (c *Client) Object(ctx context.Context, application *Application, attempt int64, file string, into any) error {
	return c.get(ctx, application.ObjectPath(attempt, file), nil, into)
}

// LogOptions say which part of a log is read.
type LogOptions struct {
	Timestamps bool
	Since      time.Time
	// Tail is the number of the last lines; all below zero.
	Tail int64
}

// Log opens a log.
func (c *Client) Log(ctx context.Context, application *Application, attempt int64, log Log, options LogOptions) (io.ReadCloser, error) {
	parameters := url.Values{"timestamps": {strconv.FormatBool(options.Timestamps)}}
	if options.Tail >= 0 {
		parameters.Set("tail", strconv.FormatInt(options.Tail, 10))
	}
	if !options.Since.IsZero() {
		parameters.Set("since", options.Since.UTC().Format(time.RFC3339Nano))
	}
	return c.open(ctx, application.LogPath(attempt, log), parameters)
}

// IsNotFound reports whether the console has no such thing, or none that the caller may read.
func IsNotFound(err error) bool {
	var answer *Error
	return errors.As(err, &answer) && answer.Code == http.StatusNotFound
}

// IsInvalid reports whether the console does not take a request: an older one does not know each kind.
func IsInvalid(err error) bool {
	var answer *Error
	return errors.As(err, &answer) && answer.Code == http.StatusBadRequest
}

func (c *Client) get(ctx context.Context, path string, parameters url.Values, into any) error {
	body, err := c.open(ctx, path, parameters)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("the console at %s gives an answer that cannot be read: %w", c.Base.Redacted(), err)
	}
	return nil
}

func (c *Client) open(ctx context.Context, path string, parameters url.Values) (io.ReadCloser, error) {
	address := *c.Base
	escaped := strings.TrimSuffix(address.EscapedPath(), "/") + path
	unescaped, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("the address of the console: %w", err)
	}
	address.Path, address.RawPath, address.RawQuery = unescaped, escaped, parameters.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("the address of the console: %w", err)
	}
	response, err := c.HTTP.Do(request)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNoToken):
		return nil, ErrNoToken
	case err != nil:
		return nil, c.unreachable(err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	content, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // what there is of it is shown
	failure := &Error{}
	if json.Unmarshal(content, failure) != nil || failure.Message == "" || failure.Code == 0 {
		text := strings.Join(strings.Fields(string(content)), " ")
		return nil, fmt.Errorf("the console at %s answers %s: %s", c.Base.Redacted(), response.Status, text[:min(len(text), maxError)])
	}
	return nil, failure
}

// ErrNoToken is the error of a transport if the user does not log in by a token.
var ErrNoToken = errors.New("the console needs a bearer token, and the kubeconfig logs in without one, such as by a certificate: " +
	"choose another --user or --context, or log in with what kubectl create token prints")

// unreachable returns the error of a console that gives no answer. It is not that of the API server, so it wraps nothing.
func (c *Client) unreachable(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("the console at %s does not answer (%v): check --console, $FIRESTEEL_CONSOLE or the key url of the ConfigMap config-console",
		c.Base.Redacted(), err) //nolint:errorlint // not the API server's
}
