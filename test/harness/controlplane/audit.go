package controlplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// Request is a request of one user that the API server answered.
type Request struct {
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	Code        int
	// As is the name of the user whom the user impersonates; empty for none.
	As string
	// Forbidden reports whether no role allows it.
	Forbidden bool
}

// Kind is the verb and the resource: "create pods", "update sparkapplications/status".
func (r Request) Kind() string {
	kind := r.Verb + " " + r.Resource
	if r.Subresource != "" {
		kind += "/" + r.Subresource
	}
	return kind
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s/%s -> %d", r.Kind(), r.Namespace, r.Name, r.Code)
}

// Audit reads the requests of one user from an audit log while it grows.
type Audit struct {
	file string
	user string

	mutex    sync.Mutex
	offset   int64
	requests []Request
}

// Audit returns a reader of the requests of a user.
func (c *ControlPlane) Audit(user string) *Audit { return &Audit{file: c.AuditLog(), user: user} }

// Requests returns the requests that were answered until now, in order.
func (a *Audit) Requests() ([]Request, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	file, err := os.Open(a.file)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return nil, err
	}
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return a.requests, nil // an incomplete line is read the next time
		}
		a.offset += int64(len(line))
		if err := a.read(line); err != nil {
			return nil, err
		}
	}
}

func (a *Audit) read(line []byte) error {
	if !bytes.Contains(line, []byte(a.user)) {
		return nil
	}
	var entry struct {
		Stage string
		Verb  string
		User  struct{ Username string }
		// As is absent if the user impersonates nobody.
		As struct{ Username string } `json:"impersonatedUser"`
		// Object is absent if the request is about no object.
		Object         *struct{ APIGroup, Resource, Subresource, Namespace, Name string } `json:"objectRef"`
		ResponseStatus struct{ Code int }
		Annotations    map[string]string
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	whole := entry.Stage == "ResponseComplete" || entry.Stage == "Panic" || entry.Verb == "watch" && entry.Stage == "ResponseStarted"
	again := entry.Verb == "watch" && entry.Stage == "ResponseComplete" && entry.ResponseStatus.Code == 200
	if entry.User.Username != a.user || entry.Object == nil || !whole || again {
		return nil
	}
	a.requests = append(a.requests, Request{
		Verb: entry.Verb, Group: entry.Object.APIGroup, Resource: entry.Object.Resource, Subresource: entry.Object.Subresource,
		Namespace: entry.Object.Namespace, Name: entry.Object.Name, Code: entry.ResponseStatus.Code, As: entry.As.Username,
		Forbidden: entry.Annotations["authorization.k8s.io/decision"] == "forbid",
	})
	return nil
}
