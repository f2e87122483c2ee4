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
	// patience is how long one answer may take.
	patience = 5 * time.Second
	// pageLimit bounds a page. One of ten thousand workers has less.
	pageLimit = 4 << 20
)

// Page is what a master tells of itself.
type Page struct {
	// Status is ALIVE where the master leads.
	Status string
	// AliveWorkers is the number of workers that are registered and alive.
	AliveWorkers int32
}

// statuses are those that Spark knows, so that nothing else finds its way into a status of ours.
var statuses = []string{"STANDBY", alive, "RECOVERING", "COMPLETING_RECOVERY"}

const alive = "ALIVE"

// Closed says that a master answers, and keeps its page from whom it does not know.
type Closed struct{ Answer string }

func (c *Closed) Error() string { return c.Answer }

// Reader reads the pages of masters. It follows no redirect: where it asks is decided here, and by no master.
type Reader struct {
	// Transport carries the requests to an Address.
	Transport http.RoundTripper
	// Address says where the page of a master is asked for.
	Address func(Master) *url.URL
}

// Read reads a master's page. Its errors say why there is none in words that are the same each time; they are *Closed where
// the master answers all the same.
func (r Reader) Read(ctx context.Context, master Master) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Address(master).String(), http.NoBody)
	if err != nil {
		return Page{}, errors.New("its address cannot be used")
	}
	request.Header.Set("Accept", "application/json")
	response, err := r.Transport.RoundTrip(request)
	if err != nil {
		return Page{}, plainly(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, pageLimit+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return Page{}, refusal(response.StatusCode, body)
	case err != nil:
		return Page{}, plainly(err)
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

// refusal is what an answer without a page means. The API server's own answers say nothing of a master.
func refusal(status int, body []byte) error {
	var answer metav1.Status
	if json.Unmarshal(body, &answer) == nil && answer.Kind == "Status" && answer.APIVersion == "v1" {
		return fmt.Errorf("the API server, asked for it, answers %d %s", status, http.StatusText(status))
	}
	text := fmt.Sprintf("it answers %d %s", status, http.StatusText(status))
	if redirects := status >= 300 && status < 400; redirects || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return &Closed{Answer: text}
	}
	return errors.New(text)
}

// plainly says why there is no answer, without addresses and ports: those differ from one time to the next.
func plainly(err error) error {
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
