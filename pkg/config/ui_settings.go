package config

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// uiServiceType reads the type of the Services of drivers' UIs.
func uiServiceType(into *corev1.ServiceType) func(key, value string) error {
	return func(key, value string) error {
		*into = corev1.ServiceType(strings.TrimSpace(value))
		return OneOf(string(corev1.ServiceTypeNodePort), string(corev1.ServiceTypeClusterIP))(key, string(*into))
	}
}

// optionalUIServiceType reads the type of the Services of drivers' UIs, or none.
func optionalUIServiceType(into *corev1.ServiceType) func(key, value string) error {
	return func(key, value string) error {
		const none = "none"
		if *into = corev1.ServiceType(strings.TrimSpace(value)); *into == none {
			*into = ""
			return nil
		}
		return OneOf(none, string(corev1.ServiceTypeClusterIP), string(corev1.ServiceTypeNodePort))(key, string(*into))
	}
}

// nodeHost reads the host of UIs at node ports.
func nodeHost(into *string) func(key, value string) error {
	return func(key, value string) error {
		*into = strings.TrimSpace(value)
		if *into != "" && net.ParseIP(*into) == nil && len(validation.IsDNS1123Subdomain(*into)) > 0 {
			return InvalidValue(key, value, "write a name or an IP at which the nodes are reached, such as nodes.example.com, without a port")
		}
		return nil
	}
}

var placeholder = regexp.MustCompile(`{{\s*[$](appName|appNamespace|appId)\s*}}`)

// urlFormat reads a host with an optional path. Both can contain placeholders.
func urlFormat(into *string) func(key, value string) error {
	return func(key, value string) error {
		format := strings.TrimSpace(value)
		example := placeholder.ReplaceAllString(format, "a")
		if !strings.Contains(example, "://") {
			example = "http://" + example
		}
		address, err := url.Parse(example)
		if format != "" && (err != nil || address.Port() != "" || len(validation.IsDNS1123Subdomain(address.Host)) > 0 ||
			strings.ContainsAny(example, "{}$")) {
			return InvalidValue(key, value, "write a host with an optional path, such as {{$appName}}.example.com or "+
				"example.com/{{$appNamespace}}/{{$appName}}")
		}
		*into = format
		return nil
	}
}

// gateway reads a Gateway with the URLs that lead to it. In config-kubeflow, its key is read after ingress-url-format, and wins.
func gateway(into **dialect.Gateway, format *string) func(key, value string) error {
	const remedy = "write name, namespace, listener and urlFormat of a Gateway in YAML, such as " +
		"{name: public, namespace: infra, urlFormat: 'https://{{$appName}}.example.com'}"
	return func(key, value string) error {
		if strings.TrimSpace(value) == "" {
			return nil
		}
		var given struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
			Listener  string `json:"listener"`
			URLFormat string `json:"urlFormat"`
		}
		if err := decodeYAML(key, value, remedy, &given); err != nil {
			return err
		}
		for _, part := range []struct {
			name, value string
			required    bool
			problems    func(string) []string
		}{
			{"name", given.Name, true, validation.IsDNS1123Subdomain},
			{"namespace", given.Namespace, false, validation.IsDNS1123Label},
			{"listener", given.Listener, false, validation.IsDNS1123Subdomain},
			{"urlFormat", given.URLFormat, true, func(string) []string { return nil }},
		} {
			if part.value == "" && !part.required {
				continue
			}
			if part.value == "" || len(part.problems(part.value)) > 0 {
				return InvalidValue(key+": "+part.name, part.value, remedy)
			}
		}
		*into = &dialect.Gateway{Name: given.Name, Namespace: given.Namespace, Listener: given.Listener}
		return urlFormat(format)(key+": urlFormat", given.URLFormat)
	}
}
