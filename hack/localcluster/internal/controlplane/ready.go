package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Ready reports whether the API server is ready to serve.
func (c *ControlPlane) Ready(ctx context.Context) error {
	_, err := c.get(ctx, "/readyz")
	return err
}

// NodeReady reports whether the node can run pods.
func (c *ControlPlane) NodeReady(ctx context.Context) error {
	body, err := c.get(ctx, "/api/v1/nodes/"+c.NodeName)
	if err != nil {
		return err
	}
	return nodeReady(body)
}

func nodeReady(body []byte) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(body, &node); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type != "Ready" {
			continue
		}
		if condition.Status == "True" {
			return nil
		}
		return errors.New(condition.Message)
	}
	return errors.New("the node has no condition Ready yet")
}

// ServiceAccountReady reports whether pods can be made: they need their namespace's
// service account, which the controller manager makes.
func (c *ControlPlane) ServiceAccountReady(ctx context.Context) error {
	_, err := c.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
	return err
}

// DNSReady reports whether the API server's name resolves as it does in pods.
func (c *ControlPlane) DNSReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(c.DNSService, "53"))
	}}
	addresses, err := resolver.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
	if err != nil {
		return err
	}
	if len(addresses) != 1 || addresses[0] != c.APIService {
		return fmt.Errorf("kubernetes.default.svc.cluster.local is %v and not %s", addresses, c.APIService)
	}
	return nil
}

// get reads from the API server as the administrator.
func (c *ControlPlane) get(ctx context.Context, path string) ([]byte, error) {
	client, token, err := c.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", c.Port, path), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return body, err
}

func (c *ControlPlane) client() (*http.Client, string, error) {
	ca, err := os.ReadFile(c.ClientCA())
	if err != nil {
		return nil, "", err
	}
	tokens, err := os.ReadFile(c.path("tokens.csv"))
	if err != nil {
		return nil, "", err
	}
	token, _, _ := strings.Cut(string(tokens), ",") // the administrator is the first
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}, token, nil
}
