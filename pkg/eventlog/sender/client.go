package sender

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

const (
	// requestTimeout bounds one request.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds what is read of an answer, and maxReason what is shown of a refusal.
	maxAnswer, maxReason = 4 << 20, 512
)

// Client sends to the archive's service.
type Client struct {
	// Service is the URL of the service.
	Service *url.URL
	// TokenFile has the token of the Pod. The kubelet renews it.
	TokenFile string
	HTTP      *http.Client
}

// refusedError is a status that is no success.
type refusedError struct {
	status int
	reason string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the service answered %d: %s", e.status, e.reason)
}

// files returns what is stored.
func (c *Client) files(ctx context.Context) ([]eventlog.File, error) {
	var answer eventlog.Files
	err := c.do(ctx, http.MethodGet, c.Service.JoinPath(eventlog.FilesPath), nil, &answer)
	return answer.Files, err
}

// store sends a part of a file.
func (c *Client) store(ctx context.Context, name string, offset int64, content []byte) error {
	to := c.Service.JoinPath(eventlog.FilesPath, name)
	to.RawQuery = url.Values{eventlog.OffsetParameter: {strconv.FormatInt(offset, 10)}}.Encode()
	return c.do(ctx, http.MethodPut, to, content, &eventlog.File{})
}

func (c *Client) do(ctx context.Context, method string, to *url.URL, content []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := c.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case response.StatusCode != http.StatusOK:
		return &refusedError{response.StatusCode, strings.TrimSpace(string(body[:min(len(body), maxReason)]))}
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}
