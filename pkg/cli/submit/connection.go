package submit

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// connectAs sets the flags of the connection that properties stand for. kubectl's flags win.
func (s *submitter) connectAs(submission *sparksubmit.Submission) error {
	const login = sparksubmit.LoginPrefix
	connection := s.Connection
	client := submission.Client
	switch given := *connection.Namespace; {
	case given != "" && submission.Namespace != "" && given != submission.Namespace:
		return cli.Usage("--namespace %q contradicts %s %q: leave one of them out", given, sparksubmit.NamespaceKey, submission.Namespace)
	case given == "":
		*connection.Namespace = submission.Namespace
	}
	for key, flag := range map[string]*string{
		sparksubmit.ContextKey: connection.Context, login + "oauthToken": connection.BearerToken, login + "caCertFile": connection.CAFile,
		login + "clientKeyFile": connection.KeyFile, login + "clientCertFile": connection.CertFile,
	} {
		if *flag == "" {
			*flag = client[key]
		}
	}
	if file := client[login+"oauthTokenFile"]; file != "" && *connection.BearerToken == "" {
		token, err := readFile(file)
		if err != nil {
			return fmt.Errorf("--conf %soauthTokenFile cannot be read (%w): name a file with a token", login, err)
		}
		*connection.BearerToken = strings.TrimSpace(string(token))
	}
	if master := client[sparksubmit.MasterKey]; *connection.APIServer == "" && !s.isOwnCluster(master) {
		*connection.APIServer = master
	}
	return nil
}

// isOwnCluster reports whether a master is the API server of the Pod in which the command runs, for which the Pod's account is used.
func (s *submitter) isOwnCluster(master string) bool {
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" || os.Getenv("KUBECONFIG") != "" || *s.Connection.KubeConfig != "" {
		return false
	}
	address, err := url.Parse(master)
	return err == nil && (address.Hostname() == "kubernetes" || strings.HasPrefix(address.Hostname(), "kubernetes.default"))
}
