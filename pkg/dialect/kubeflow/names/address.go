package names

import (
	"net/url"
	"regexp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// placeholder is one of {{$appName}}, {{$appNamespace}} and {{$appId}}.
var placeholder = regexp.MustCompile(`{{\s*[$](appName|appNamespace|appId)\s*}}`)

// Address returns the address of a user interface: the format with its placeholders filled in. id is the application ID.
// Without a scheme the address gets http.
func Address(format string, app *v1beta2.SparkApplication, id string) (*url.URL, error) {
	values := map[string]string{"appName": app.Name, "appNamespace": app.Namespace, "appId": id}
	text := placeholder.ReplaceAllStringFunc(format, func(found string) string {
		return values[placeholder.FindStringSubmatch(found)[1]]
	})
	address, err := url.Parse(text)
	if err == nil && address.Scheme == "" {
		address, err = url.Parse("http://" + text)
	}
	if err != nil {
		return nil, &finding.Finding{
			Severity: finding.Error, Field: "ingressURLFormat", Value: format, Message: "is no address", Remedy: "write one such as {{$appName}}.example.com",
		}
	}
	return address, nil
}
