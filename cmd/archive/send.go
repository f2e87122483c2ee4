package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/kelseyhightower/envconfig"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/eventlog/sender"
)

// sendEnvironment holds the environment variables of archive send.
type sendEnvironment struct {
	// Folder is the folder that the driver writes event logs into.
	Folder string `envconfig:"EVENT_LOG_FOLDER" required:"true"`
	// Service is the URL of archive serve, and Authorities are the certificates that its certificate is checked with; the system's if there are none.
	Service     string `envconfig:"EVENT_LOG_SERVICE" required:"true"`
	Authorities string `envconfig:"EVENT_LOG_CA"`
	// Token is the file with the token of the Pod.
	Token string `envconfig:"EVENT_LOG_TOKEN" required:"true"`
	// Grace is how long the end may take to be sent, and MaxBacklog how much may wait for the service, in bytes.
	Grace      time.Duration `envconfig:"EVENT_LOG_GRACE" default:"25s"`
	MaxBacklog int64         `envconfig:"EVENT_LOG_MAX_BACKLOG" required:"true"`
}

// sendEventLog follows the event log of the driver beside it until ctx ends.
func sendEventLog(ctx context.Context) error {
	var env sendEnvironment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	if err := sender.Prepare(env.Folder); err != nil {
		return err
	}
	client, err := newClient(env)
	if err != nil {
		return err
	}
	s := sender.Sender{Client: client, Folder: env.Folder, Grace: env.Grace, MaxBacklog: env.MaxBacklog, Logger: logging.FromContext(ctx)}
	s.Run(ctx)
	return nil
}

func newClient(env sendEnvironment) (*sender.Client, error) {
	service, err := url.Parse(env.Service)
	if err != nil {
		return nil, fmt.Errorf("read the URL of the service: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // the service is in the cluster, and the token is for it alone
	if env.Authorities != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(env.Authorities)) {
			return nil, errors.New("read the certificates of the service's authority: there is none in PEM")
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	unfollowed := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender.Client{Service: service, TokenFile: env.Token, HTTP: &http.Client{Transport: transport, CheckRedirect: unfollowed}}, nil
}
