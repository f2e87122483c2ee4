package masterui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// readTimeout bounds one answer.
	readTimeout = 5 * time.Second
	// pageLimit bounds a page. The page of a master with ten thousand workers is smaller.
	pageLimit = 4 << 20
)

// Page is what a master reports.
type Page struct {
	// Status is ALIVE if the master leads.
	Status string
	// AliveWorkers is the number of workers that are registered and alive.
	AliveWorkers int32
}

// statuses are Spark's, so that no other text gets into the status of a cluster.
var statuses = []string{"STANDBY", alive, "RECOVERING", "COMPLETING_RECOVERY"}

const alive = "ALIVE"

// Closed is the error of a master that answers, but requires authentication for its page.
type Closed struct{ Answer string }

func (c *Closed) Error() string { return c.Answer }

// Reader reads the pages of masters. It follows no redirect: a master must not choose what the controller connects
// to.
type Reader struct {
	// Transport carries the requests to an Address.
	Transport http.RoundTripper
	// Address returns the URL of a master's page.
	Address func(Master) *url.URL
}

// Read reads a master's page. The same problem always has the same error text. The error is a *Closed if the master
// answers but does not show its page.
func (r Reader) Read(ctx context.Context, master Master) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address(master).String(), http.NoBody)
	if err != nil {
		return Page{}, errors.New("its address cannot be used")
	}
	request.Header.Set("Accept", "application/json")
	response, err := r.Transport.RoundTrip(request)
	if err != nil {
		return Page{}, stableError(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, pageLimit+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return Page{}, refusal(response.StatusCode, body)
	case err != nil:
		return Page{}, stableError(err)
	case len(body) > pageLimit:
		return Page{}, fmt.Errorf("its page is larger than %d MiB", pageLimit>>20)
	}
	return parse(body)
}

func parse(body []byte) (Page, error) {
	var page struct {
		Status       string `json:"status"`
		AliveWorkers *int32 `json:"aliveworkers"`
	}
	err := json.Unmarshal(body, &page)
	if err != nil || page.AliveWorkers == nil || *page.AliveWorkers < 0 || !slices.Contains(statuses, page.Status) {
		return Page{}, errors.New("what answers is not the page of a master")
	}
	return Page{Status: page.Status, AliveWorkers: *page.AliveWorkers}, nil
}

// refusal returns the error for an answer without a page. The API server's own answers say nothing about a master.
func refusal(status int, body []byte) error {
	var answer metav1.Status
	if json.Unmarshal(body, &answer) == nil && answer.Kind == "Status" && answer.APIVersion == "v1" {
		return fmt.Errorf("the API server, as its proxy, answers %d %s", status, http.StatusText(status))
	}
	text := fmt.Sprintf("it answers %d %s", status, http.StatusText(status))
	if redirects := status >= 300 && status < 400; redirects || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return &Closed{Answer: text}
	}
	return errors.New(text)
}

// stableError says why there is no answer, without addresses and ports, which change from one try to the next.
func stableError(err error) error {
	var timeout net.Error
	var lookup *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return errors.New("its name is not known")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("there is no answer in time")
	case errors.As(err, &lookup):
		return errors.New("its name cannot be looked up")
	case errors.As(err, &operation):
		return operation.Err
	default:
		return errors.New("the connection is lost")
	}
}
