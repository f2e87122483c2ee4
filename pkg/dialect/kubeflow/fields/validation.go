package fields

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// refused says why a spec can never run, in the words of the Kubeflow operator's webhook where it has some; nil where it
// can.
func refused(app *v1beta2.SparkApplication, defaults settings.Defaults) *lifecycle.Cause {
	for _, check := range []func(*v1beta2.SparkApplication, settings.Defaults) (reason, message string){
		checkName, checkMode, checkTemplates, checkNodeSelectors, checkDriverIngresses, checkProperties,
	} {
		if reason, message := check(app, defaults); reason != "" {
			return &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: reason, Message: message}
		}
	}
	return nil
}

// checkName wants a name that a Service could have.
func checkName(app *v1beta2.SparkApplication, _ settings.Defaults) (reason, message string) {
	problems := validation.IsDNS1035Label(app.Name)
	if len(problems) == 0 {
		return "", ""
	}
	return "InvalidName", fmt.Sprintf("invalid SparkApplication name %q: %s. Create it anew under another metadata.name.",
		app.Name, strings.Join(problems, ", "))
}

// checkMode wants a driver in the cluster. deployMode is an older spelling of mode.
func checkMode(app *v1beta2.SparkApplication, _ settings.Defaults) (reason, message string) {
	field, mode := "spec.mode", app.Spec.Mode
	if mode == "" {
		field, mode = "spec.deployMode", app.Spec.DeployMode
	}
	if mode == "" || mode == v1beta2.ClusterMode {
		return "", ""
	}
	return "ClientModeUnsupported", fmt.Sprintf("%s %q is not supported, the driver runs in a Pod of its own: "+
		"leave it out, or write %s.", field, mode, v1beta2.ClusterMode)
}

func checkTemplates(app *v1beta2.SparkApplication, _ settings.Defaults) (reason, message string) {
	version := app.Spec.SparkVersion
	major, err := strconv.Atoi(strings.SplitN(strings.TrimLeft(version, "vV"), ".", 2)[0])
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if err == nil && major < 3 && r.Pods(&app.Spec).Template != nil {
			return "TemplateUnsupported", fmt.Sprintf("pod template feature requires Spark version 3.0.0 or higher: "+
				"spec.sparkVersion is %q. Correct it, or leave %s out.", version, r.Field("template"))
		}
	}
	return "", ""
}

func checkNodeSelectors(app *v1beta2.SparkApplication, _ settings.Defaults) (reason, message string) {
	for _, r := range []names.Role{names.Driver, names.Executor} {
		if app.Spec.NodeSelector != nil && r.Pods(&app.Spec).NodeSelector != nil {
			return "NodeSelectorTwice", fmt.Sprintf("node selector cannot be defined at both SparkApplication and Driver/Executor: "+
				"leave out spec.nodeSelector %v, or %s %v.", app.Spec.NodeSelector, r.Field("nodeSelector"), r.Pods(&app.Spec).NodeSelector)
		}
	}
	return "", ""
}

func checkDriverIngresses(app *v1beta2.SparkApplication, _ settings.Defaults) (reason, message string) {
	const reasonOfAll = "InvalidDriverIngress"
	ports, formats := map[int32]bool{}, map[string]bool{}
	for i, given := range app.Spec.DriverIngressOptions {
		field := fmt.Sprintf("spec.driverIngressOptions[%d].", i)
		switch port, format := given.ServicePort, given.IngressURLFormat; {
		case port < 1 || port > 65535:
			return reasonOfAll, fmt.Sprintf("DriverIngressOptions has nil ServicePort: write a port into %sservicePort, which is %d.", field, port)
		case ports[port]:
			return reasonOfAll, fmt.Sprintf("DriverIngressOptions has duplicate ServicePort: %d. Choose another in %sservicePort.", port, field)
		case format == "":
			return reasonOfAll, fmt.Sprintf("DriverIngressOptions has empty IngressURLFormat: write one such as {{$appName}}.example.com "+
				"into %singressURLFormat.", field)
		case formats[format]:
			return reasonOfAll, fmt.Sprintf("DriverIngressOptions has duplicate IngressURLFormat: %s. Choose another in %singressURLFormat.",
				format, field)
		}
		ports[given.ServicePort], formats[given.IngressURLFormat] = true, true
		if _, err := names.Address(given.IngressURLFormat, app, ""); err != nil {
			return reasonOfAll, fmt.Sprintf("%singressURLFormat %q is no address: write one such as {{$appName}}.example.com.",
				field, given.IngressURLFormat)
		}
	}
	return "", ""
}

// checkProperties refuses the properties that the operator's settings deny. What a property says that a field says, too,
// may stay.
func checkProperties(app *v1beta2.SparkApplication, defaults settings.Defaults) (reason, message string) {
	for _, key := range sortedKeys(app.Spec.SparkConf) {
		value := app.Spec.SparkConf[key]
		switch {
		case key == namespaceKey && value != app.Namespace:
			return "DeniedProperty", fmt.Sprintf("sparkConf key %q is not allowed: must equal the application namespace %q, got %q. "+
				"Remove %s%s.", key, app.Namespace, redact.Value(key, value), confField, key)
		case defaults.Denies(key):
			return "DeniedProperty", fmt.Sprintf("sparkConf key %q is not allowed: %s. Remove %s%s, which is %q.",
				key, insteadOf(key), confField, key, redact.Value(key, value))
		}
	}
	return "", ""
}

// insteadOf says what a denied property is for.
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
