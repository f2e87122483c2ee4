package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const (
	// maxSize bounds a template, in bytes: to read YAML takes hundreds of times its size.
	maxSize = 256 << 10
	// maxRedirects is how often a server may send one on.
	maxRedirects = 5
	dialTimeout  = 5 * time.Second
)

const remedy = "make sure that it exists and that the operator may read it"

// Reader reads what is at locations.
type Reader struct {
	transport  http.RoundTripper
	s3         s3
	gs         gs
	azure      azure
	configMaps corev1client.ConfigMapInterface
}

// New makes a reader, which reads ConfigMaps by this client. Credentials are not looked for before a bucket is read.
func New(configMaps corev1client.ConfigMapInterface) *Reader {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dial
	return &Reader{transport: transport, s3: newS3(), configMaps: configMaps}
}

// Fetch reads a template. It returns a *finding.Finding if a retry cannot help.
func (r *Reader) Fetch(ctx context.Context, location podtemplate.Location) ([]byte, error) {
	text, err := r.read(ctx, location)
	if err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, &finding.Finding{Message: "is larger than 256 KiB", Remedy: "put a template there"}
	}
	return text, nil
}

func (r *Reader) read(ctx context.Context, location podtemplate.Location) ([]byte, error) {
	if location.Scheme == "configmap" {
		return readConfigMap(ctx, r.configMaps, location)
	}
	request, err := r.request(ctx, location)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: r.transport, CheckRedirect: followed(location)}
	response, err := client.Do(request)
	if err != nil {
		return nil, classified(err)
	}
	defer response.Body.Close()
	if err := statusError(response.StatusCode); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return text, nil
}

func (r *Reader) request(ctx context.Context, location podtemplate.Location) (*http.Request, error) {
	switch location.Scheme {
	case "s3":
		return r.s3.request(ctx, location)
	case "gs":
		return r.gs.request(ctx, location)
	case "azblob", "abfss":
		return r.azure.request(ctx, location)
	default:
		return get(ctx, location.String())
	}
}

func get(ctx context.Context, url string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("User-Agent", "firesteel")
	return request, nil
}

// followed decides which redirects are followed: those to allowed locations, and none from a bucket.
func followed(location podtemplate.Location) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		if location.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		if len(before) > maxRedirects {
			return &finding.Finding{Message: "is redirected too often", Remedy: remedy}
		}
		if _, refusal := location.Allowed.Locate(next.URL.String()); refusal != nil {
			return &finding.Finding{
				Message: fmt.Sprintf("is redirected to %q, which %s", next.URL.Redacted(), refusal.Message), Remedy: refusal.Remedy,
			}
		}
		return nil
	}
}

// classified separates temporary errors from permanent ones.
func classified(err error) error {
	var certificate *tls.CertificateVerificationError
	var refusal *finding.Finding
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &certificate):
		return &finding.Finding{
			Message: fmt.Sprintf("is served with a certificate that the operator does not trust (%v)", certificate), Remedy: "serve it with a certificate that the operator trusts",
		}
	default:
		return err
	}
}

func statusError(status int) error {
	response := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		return &finding.Finding{Message: "is not there (" + response + ")", Remedy: "put a template there"}
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return errors.New("the answer is " + response)
	default:
		return &finding.Finding{Message: "cannot be read (" + response + ")", Remedy: remedy}
	}
}

// dial does not connect to link-local addresses, where clouds hand out credentials, unless the operator allows one by
// its number: the owner of a DNS name can point it to any address.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	if _, err := netip.ParseAddr(host); err != nil {
		dialer.Control = refuseLinkLocal
	}
	return dialer.DialContext(ctx, network, address)
}

// metadataIPv6 is where AWS hands out credentials by IPv6, an address that is not link-local.
var metadataIPv6 = netip.MustParseAddr("fd00:ec2::254")

func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if ip := to.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.WithZone("") == metadataIPv6 {
		return &finding.Finding{Message: "is at a link-local address", Remedy: "put it elsewhere"}
	}
	return nil
}
