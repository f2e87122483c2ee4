package archived

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// variable is the environment variable with the address of the console.
const variable = "FIRESTEEL_CONSOLE"

// Flags are the flags about the archive.
type Flags struct {
	console, namespace, archive string
}

// AddTo adds the flags to a command.
func (f *Flags) AddTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.console, "console", "", "The address of the console that has the archive. By default $"+variable+", or what the ConfigMap config-console says.")
	flags.StringVar(&f.archive, "archive", "", "The URL of the archive, which is read with your own credentials: s3://BUCKET/FOLDER, gs://, azblob:// or file:///FOLDER.")
	flags.StringVar(&f.namespace, "console-namespace", cli.DefaultNamespace, "The namespace of Firesteel, with config-console.")
}

// ErrNone means that the command line names no console, and that the cluster has none that the user may ask.
var ErrNone = errors.New("there is no archive to ask: write --console URL or --archive URL, or set $" + variable)

const (
	// configMap and keyURL are where the cluster names the address of its console.
	configMap, keyURL = "config-console", "url"
	// proxied is the Service of the console, and its port, for the API server's proxy.
	proxied = "console:http"
)

// Open returns the connection to the console. It is ErrNone if none is named.
func (f *Flags) Open(ctx context.Context, cluster *rest.Config, kube kubernetes.Interface) (*api.Client, error) {
	if f.archive != "" && f.console != "" {
		return nil, cli.Usage("--archive reads the storage, and --console asks a service: leave one of them out")
	}
	if f.archive != "" {
		return byProgram(ctx, f.archive)
	}
	if named := cmp.Or(f.console, os.Getenv(variable)); named != "" {
		address, err := checkAddress(named)
		if err != nil {
			return nil, cli.Usage("--console or $%s is %q: %v", variable, named, err)
		}
		return direct(cluster, address)
	}
	found, err := kube.CoreV1().ConfigMaps(f.namespace).Get(ctx, configMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, ErrNone
	case err != nil:
		return nil, err
	case strings.TrimSpace(found.Data[keyURL]) == "":
		return byProxy(cluster, f.namespace)
	}
	address, err := checkAddress(strings.TrimSpace(found.Data[keyURL]))
	if err != nil {
		return nil, fmt.Errorf("the key %s of the ConfigMap %s/%s is %q: %w", keyURL, f.namespace, configMap, found.Data[keyURL], err)
	}
	return direct(cluster, address)
}

// checkAddress returns an address to which a token may be sent: by https, or on this machine.
func checkAddress(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return nil, errors.New("write an address such as https://firesteel.example.com")
	}
	local := address.Hostname() == "localhost" || address.Hostname() == "127.0.0.1" || address.Hostname() == "::1"
	if address.Scheme != "https" && (address.Scheme != "http" || !local) {
		return nil, errors.New("write https://, since your token is sent there; http:// is for this machine alone")
	}
	return address, nil
}
