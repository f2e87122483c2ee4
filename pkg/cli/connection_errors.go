package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// connectionError returns the error of a kubeconfig with the remedy.
func (o *Options) connectionError(err error) error {
	raw, unreadable := o.Connection.ToRawKubeConfigLoader().RawConfig()
	named := cmp.Or(*o.Connection.Context, raw.CurrentContext)
	switch {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("no kubeconfig names a cluster: set KUBECONFIG, or write --kubeconfig FILE")
	case unreadable == nil && raw.Contexts[named] == nil && len(raw.Contexts) > 0:
		known := slices.Sorted(maps.Keys(raw.Contexts))
		const few = 10
		more := ""
		if len(known) > few {
			known, more = known[:few], ", or another one of kubectl config get-contexts"
		}
		return fmt.Errorf("the kubeconfig has no context %q: write --context with one of %s%s",
			named, strings.Join(known, ", "), more)
	default:
		return fmt.Errorf("the kubeconfig cannot be used (%w): correct it, or choose another one by --kubeconfig or KUBECONFIG", err)
	}
}

// unanswered returns the text of an error. If no answer to a request came, the text says what was tried at which address, why there was no answer,
// and what to do.
func (o *Options) unanswered(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return err.Error()
	}
	address, parsed := url.Parse(request.URL)
	if parsed != nil || address.Host == "" {
		return err.Error()
	}
	task, rest, found := strings.Cut(err.Error(), request.Error())
	task, wraps := strings.CutSuffix(task, ": ")
	switch {
	case task == "" && found:
		task = attempted(request.Op, address.Path)
	case !wraps: // the command has words of its own for it
		return err.Error()
	}
	server, ofCluster := o.serverAt(address)
	why, remedy := reasonOf(request, ofCluster)
	return fmt.Sprintf("%s: %s %s: %s%s", task, server, why, remedy, rest)
}

// interruption returns what is said about an error after Ctrl-C: nothing, unless the command has something to say, or a change may have been made.
func interruption(err error) string {
	var request *url.Error
	switch {
	case err == context.Canceled: //nolint:errorlint // a wrapped one names what was interrupted
		return ""
	case errors.As(err, &request) && request.Op == "Get":
		return ""
	case errors.As(err, &request):
		path := request.URL
		if address, err := url.Parse(path); err == nil {
			path = address.Path
		}
		return fmt.Sprintf("interrupted: it is not known whether the API server did this: %s: kubectl spark list shows what there is", attempted(request.Op, path))
	default:
		return "interrupted: " + strings.TrimSuffix(err.Error(), ": "+context.Canceled.Error())
	}
}

// serverAt describes the server at an address, and reports whether it is the API server.
func (o *Options) serverAt(address *url.URL) (described string, ofCluster bool) {
	origin := address.Scheme + "://" + address.Host
	cluster, err := o.Connection.ToRESTConfig()
	if err != nil || !sameHost(cluster.Host, address.Host) {
		return "the server " + origin, false
	}
	described = "the API server " + origin
	raw, err := o.Connection.ToRawKubeConfigLoader().RawConfig()
	if context := cmp.Or(*o.Connection.Context, raw.CurrentContext); err == nil && context != "" && *o.Connection.APIServer == "" {
		described += fmt.Sprintf(" (context %q)", context)
	}
	return described, true
}

func sameHost(server, host string) bool {
	if address, err := url.Parse(server); err == nil && address.Host != "" {
		server = address.Host
	}
	return server == host
}

// requestVerbs are the words for the methods of requests.
var requestVerbs = map[string]string{"Get": "read", "Post": "create", "Put": "change", "Patch": "change", "Delete": "delete"}

// attempted says what a request to the API server was for, such as: read sparkapplications team-a/etl.
func attempted(method, path string) string {
	verb := cmp.Or(requestVerbs[method], strings.ToLower(method))
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2: // api/VERSION/...
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3: // apis/GROUP/VERSION/...
		parts = parts[3:]
	case parts[0] == "api" || parts[0] == "apis":
		return verb + " the kinds of the cluster"
	default:
		return verb + " " + path
	}
	namespace := ""
	if parts[0] == "namespaces" && len(parts) > 2 {
		namespace, parts = parts[1], parts[2:]
	}
	task := verb + " " + parts[0]
	switch {
	case len(parts) > 1:
		return task + " " + strings.TrimPrefix(namespace+"/"+parts[1], "/")
	case namespace != "":
		return task + " in the namespace " + namespace
	default:
		return task
	}
}

const chooseAnother = "choose another cluster by --context, --kubeconfig or --server"

// reasonOf says why no answer to a request came, and what to do.
func reasonOf(request *url.Error, ofCluster bool) (why, remedy string) {
	switch why, remedy = certificateProblem(request.Err); {
	case why != "" && ofCluster:
		return why, remedy
	case why != "":
		return why, "use an address whose certificate this machine trusts"
	}
	var name *net.DNSError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	cause := redact.Text(request.Err.Error())
	switch {
	case strings.Contains(cause, "getting credentials"):
		return fmt.Sprintf("was not asked, since the kubeconfig's program for credentials failed (%s)", strings.TrimPrefix(cause, "getting credentials: ")),
			"run it by hand, log in again, or choose another user by --context or --user"
	case errors.As(request.Err, &alert):
		return fmt.Sprintf("refuses the TLS connection (%v)", alert), "log in again, or choose another user by --context or --user: it may want a newer client certificate"
	case errors.As(request.Err, &record), strings.Contains(cause, "server gave HTTP response to HTTPS client"):
		return "does not speak TLS", "correct its port, or write http:// in place of https://"
	case errors.As(request.Err, &name):
		why = fmt.Sprintf("cannot be found: its name %s is not known", name.Name)
		remedy = "check the network or the VPN, or "
	case errors.Is(request.Err, syscall.ECONNREFUSED):
		why, remedy = "does not answer: nothing listens there (connection refused)", "start it, or "
	case errors.Is(request.Err, context.DeadlineExceeded) || request.Timeout():
		why, remedy = "does not answer in time", "check the network or the VPN, raise --request-timeout, or "
	default:
		why, remedy = fmt.Sprintf("does not answer (%s)", cause), "check the network or the VPN, or "
	}
	if !ofCluster {
		return why, remedy + "correct its address"
	}
	return why, remedy + chooseAnother
}

// certificateProblem says why the certificate of the API server is not trusted, and what to do. It returns nothing if that is not the problem.
func certificateProblem(err error) (why, remedy string) {
	var authority x509.UnknownAuthorityError
	var other x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unverified *tls.CertificateVerificationError
	switch {
	case errors.As(err, &authority):
		return "has a certificate of an authority that the kubeconfig does not name (" + authority.Error() + ")",
			"name the authority by --certificate-authority FILE, get a new kubeconfig, or " + chooseAnother
	case errors.As(err, &other):
		return "has a certificate for other names (" + other.Error() + ")", "write one of them in --tls-server-name NAME, or correct the address"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "has a certificate that is not valid now (" + invalid.Error() + ")", "renew it, or set the clock of this machine"
	case errors.As(err, &invalid), errors.As(err, &unverified):
		return "has a certificate that cannot be verified (" + err.Error() + ")", "renew it, or name its authority by --certificate-authority FILE"
	default:
		return "", ""
	}
}
