package fields

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Invalid returns why a spec can never run, in the words of the Kubeflow operator's webhook if it has some.
func Invalid(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	return slices.Concat(checkName(app), checkMode(app), checkSubmitter(app), checkTemplates(app), checkNodeSelectors(app), checkDriverIngresses(app),
		checkProperties(app, defaults))
}

// checkName requires a name that a Service can have.
func checkName(app *v1beta2.SparkApplication) finding.List {
	problems := validation.IsDNS1035Label(app.Name)
	if len(problems) == 0 {
		return nil
	}
	found := finding.InvalidName
	found.Value, found.Remedy = app.Name, "Create it again with another metadata.name"
	found.Text += fmt.Sprintf(" %q: %s.", app.Name, strings.Join(problems, ", "))
	return finding.List{found}
}

// checkMode requires a driver in the cluster. deployMode is an older spelling of mode.
func checkMode(app *v1beta2.SparkApplication) finding.List {
	field, mode := "spec.mode", app.Spec.Mode
	if mode == "" {
		field, mode = "spec.deployMode", app.Spec.DeployMode
	}
	if mode == "" || mode == v1beta2.ClusterMode {
		return nil
	}
	return finding.List{{
		Reason: "ClientModeUnsupported", Field: field, Value: mode,
		Message: "is not supported, the driver runs in a Pod of its own", Remedy: fmt.Sprintf("leave it out, or write %s", v1beta2.ClusterMode),
	}}
}

// checkSubmitter refuses an application that its user submits: to submit it, too, would run it twice.
func checkSubmitter(app *v1beta2.SparkApplication) finding.List {
	if !app.Spec.SubmissionByUser {
		return nil
	}
	return finding.List{{
		Reason: "SubmissionByUserUnsupported", Field: "spec.submissionByUser", Value: true,
		Message: "is not supported, Firesteel submits all applications", Remedy: "leave it out, or run spark-submit without an application",
	}}
}

func checkTemplates(app *v1beta2.SparkApplication) finding.List {
	var all finding.List
	version := app.Spec.SparkVersion
	major, err := strconv.Atoi(strings.SplitN(strings.TrimLeft(version, "vV"), ".", 2)[0])
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if err == nil && major < 3 && r.Pods(&app.Spec).Template != nil {
			found := finding.TemplateUnsupported
			found.Field, found.Remedy = r.Field("template"), "Correct it, or leave "+r.Field("template")+" out"
			found.Text += fmt.Sprintf(": spec.sparkVersion is %q.", version)
			all.Add(found)
		}
	}
	return all
}

func checkNodeSelectors(app *v1beta2.SparkApplication) finding.List {
	var all finding.List
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if app.Spec.NodeSelector != nil && r.Pods(&app.Spec).NodeSelector != nil {
			found := finding.NodeSelectorTwice
			found.Remedy = fmt.Sprintf("leave out spec.nodeSelector %v, or %s %v", app.Spec.NodeSelector, r.Field("nodeSelector"), r.Pods(&app.Spec).NodeSelector)
			all.Add(found)
		}
	}
	return all
}

func checkDriverIngresses(app *v1beta2.SparkApplication) finding.List {
	var found finding.List
	ports, formats := map[int32]bool{}, map[string]bool{}
	for i, given := range app.Spec.DriverIngressOptions {
		field := fmt.Sprintf("spec.driverIngressOptions[%d].", i)
		portField, formatField := field+"servicePort", field+"ingressURLFormat"
		port, format := given.ServicePort, given.IngressURLFormat
		switch {
		case port < 1 || port > 65535:
			found.Add(invalidIngress(portField, port, "DriverIngressOptions has nil ServicePort", fmt.Sprintf("write a port into %s, which is %d", portField, port)))
		case ports[port]:
			found.Add(invalidIngress(portField, port, fmt.Sprintf("DriverIngressOptions has duplicate ServicePort: %d.", port), "Choose another in "+portField))
		}
		switch _, err := names.Address(format, app, ""); {
		case format == "":
			found.Add(invalidIngress(formatField, nil, "DriverIngressOptions has empty IngressURLFormat",
				"write one such as {{$appName}}.example.com into "+formatField))
		case formats[format]:
			found.Add(invalidIngress(formatField, format, fmt.Sprintf("DriverIngressOptions has duplicate IngressURLFormat: %s.", format),
				"Choose another in "+formatField))
		case err != nil:
			found.Add(finding.Finding{
				Reason: reasonInvalidIngress, Field: formatField, Value: format,
				Message: "is no address", Remedy: "write one such as {{$appName}}.example.com",
			})
		}
		ports[port], formats[format] = true, true
	}
	return found
}

const reasonInvalidIngress = "InvalidDriverIngress"

func invalidIngress(field string, value any, text, remedy string) finding.Finding {
	return finding.Finding{Reason: reasonInvalidIngress, Field: field, Value: value, Text: text, Remedy: remedy}
}

// checkProperties refuses the properties that the operator's settings deny, and a namespace other than the application's.
func checkProperties(app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	var found finding.List
	for _, key := range sortedKeys(app.Spec.SparkConf) {
		value, field := app.Spec.SparkConf[key], finding.Entry(confField, key)
		switch {
		case key == namespaceKey && value != app.Namespace:
			found.Add(deniedProperty(key, value, fmt.Sprintf("must equal the application namespace %q, got %q.", app.Namespace, redact.Value(key, value)),
				"Remove "+field))
		case defaults.Denies(key):
			found.Add(deniedProperty(key, value, insteadOf(key)+".", fmt.Sprintf("Remove %s, which is %q", field, redact.Value(key, value))))
		}
	}
	return found
}

func deniedProperty(key, value, why, remedy string) finding.Finding {
	return finding.Finding{
		Reason: "DeniedProperty", Field: finding.Entry(confField, key), Value: value,
		Text: fmt.Sprintf("sparkConf key %q is not allowed: %s", key, why), Remedy: remedy,
	}
}

// insteadOf returns what to use instead of a denied property.
func insteadOf(key string) string {
	switch {
	case strings.HasSuffix(key, "serviceAccountName"):
		return "configure the service account via the CRD spec instead"
	case strings.Contains(key, "oauthToken"):
		return "authentication credentials are managed by the operator"
	case strings.HasSuffix(key, "container.image"):
		return "use the image field on the CRD instead"
	default:
		return "this value is managed by the operator"
	}
}
