package config

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// maxServiceAccounts bounds the accounts of a namespace.
const maxServiceAccounts = 32

// NewNamespaces reads config-namespaces.
func NewNamespaces(configMap *corev1.ConfigMap) (*namespaces.Template, error) {
	template := namespaces.DefaultTemplate()
	err := Keys{
		"labels": labelMap(&template.Labels),
		"service-accounts": func(key, value string) error {
			template.ServiceAccounts = policy.SplitList(value)
			for _, name := range template.ServiceAccounts {
				if len(validation.IsDNS1123Subdomain(name)) > 0 {
					return InvalidValue(key, value, fmt.Sprintf("write names of service accounts, separated by commas (%q is not valid)", name))
				}
			}
			if count := len(template.ServiceAccounts); count == 0 || count > maxServiceAccounts {
				return InvalidValue(key, value, fmt.Sprintf("write 1 to %d names of service accounts, separated by commas", maxServiceAccounts))
			}
			return nil
		},
		"driver-role": func(key, value string) error {
			template.DriverRole = strings.TrimSpace(value)
			if len(validation.IsDNS1123Subdomain(template.DriverRole)) > 0 {
				return InvalidValue(key, value, "write the name of the ClusterRole of drivers, such as spark-driver")
			}
			return nil
		},
		"resource-quota": spec("write it as spec of a ResourceQuota, or leave the key out for none", &template.Quota),
		"limit-range":    spec("write it as spec of a LimitRange, or leave the key out for none", &template.Limits),
		"network-policy": spec("write it as spec of a NetworkPolicy, or leave the key out for none", &template.NetworkPolicy),
	}.Read(NamespacesName, configMap)
	return &template, err
}

// spec reads the spec of an object in YAML. An empty value is none.
func spec[T any](remedy string, into **T) func(key, value string) error {
	return func(key, value string) error {
		*into = nil
		if strings.TrimSpace(value) == "" {
			return nil
		}
		decoded := new(T)
		if encoded, err := yaml.YAMLToJSONStrict([]byte(value)); err == nil {
			if err := quantity.Check(encoded, reflect.TypeFor[T]()); err != nil {
				return InvalidValue(key, value, fmt.Sprintf("%s (%v)", remedy, err))
			}
		}
		if err := decodeYAML(key, value, remedy, decoded); err != nil {
			return err
		}
		*into = decoded
		return nil
	}
}

func labelMap(into *map[string]string) func(key, value string) error {
	const remedy = "write labels, a key: value on each line"
	return func(key, value string) error {
		*into = nil
		if err := yamlValue(remedy, into)(key, value); err != nil {
			return err
		}
		if problems := metav1validation.ValidateLabels(*into, field.NewPath(key)); len(problems) > 0 {
			return InvalidValue(key, value, fmt.Sprintf("%s (%v)", remedy, problems.ToAggregate()))
		}
		return nil
	}
}
