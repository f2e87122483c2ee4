package early

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// kubeflowLabels begins the labels of the Kubeflow operator's Pods and objects. With them, these Pods would be taken for that API's.
const kubeflowLabels = "sparkoperator.k8s.io/"

// SpecOf returns the fields of an application whose edit runs it again. Another spelling is no edit. If the user starts the driver, they
// are those that say which one it is.
func SpecOf(app *v1alpha1.SparkApplication) spec.Spec {
	return spec.Of(app, app.Status.ObservedGeneration, func() any {
		if byUser(app.Spec) {
			return userDriver(app.Spec)
		}
		fields, _ := canonical(app.Spec)
		return fields
	})
}

// Policy returns what a spec asks of the lifecycle: what it asks in the Kubeflow operator's API, without restarts. The API has no state
// for a driver whose node does not answer.
func Policy(app *v1alpha1.SparkApplication, s Settings) lifecycle.Policy {
	t := translate(app, s)
	policy := fields.Policy(t.app, t.settings)
	policy.Spec, policy.HasUnknown, policy.Refused = SpecOf(app), false, dialect.Refused(t.invalid())
	if t.byUser {
		return policy.OfUserDriver()
	}
	return policy
}

// Invalid returns why an application can never run.
func Invalid(app *v1alpha1.SparkApplication, s Settings) finding.List {
	return translate(app, s).invalid()
}

func (t *translation) invalid() finding.List {
	return slices.Concat(t.refused, t.spellings.of(fields.Invalid(t.app, t.settings)))
}

// Warnings returns what an application asks for and Firesteel does not do.
func Warnings(app *v1alpha1.SparkApplication, s Settings) finding.List {
	t := translate(app, s)
	found := slices.Clone(t.warnings)
	if t.byUser {
		found = append(found, t.userDriverWarnings(app, s)...)
	} else {
		found = append(found, t.spellings.of(fields.UnsupportedBesidesImages(t.app, t.settings))...)
	}
	found.WarnOfUnknown(app.UnknownFields, app)
	return found
}

// Refusals returns why an attempt cannot be submitted.
func Refusals(err error, app *v1alpha1.SparkApplication, s Settings) finding.List {
	t := translate(app, s)
	return t.spellings.of(fields.Refusals(err, t.app, t.settings))
}

// Plan returns what an attempt of an application submits.
func Plan(app *v1alpha1.SparkApplication, attempt firesteelv1alpha1.Attempt, s Settings) (submission.Plan, error) {
	t := translate(app, s)
	plan, err := fields.Plan(t.app, attempt, t.settings)
	for _, role := range roles {
		prefix := role.KubernetesProperty("label.")
		maps.DeleteFunc(plan.Properties, func(key, _ string) bool { return strings.HasPrefix(key, prefix+kubeflowLabels) })
		plan.Properties[prefix+LabelAppID], plan.Properties[prefix+LabelApplication] = AppID(app), app.Name
		t.setAnnotations(role, plan.Properties)
	}
	address, unfit := t.uiAddress(s, plan.Names.AppID)
	if address != nil {
		for key, value := range dialect.ProxyProperties(address) {
			plan.Properties[key] = cmp.Or(plan.Properties[key], value)
		}
	}
	return plan, errors.Join(err, unfit)
}

// Ingredients returns what, besides the plan, the objects of an attempt depend on.
func Ingredients(app *v1alpha1.SparkApplication, s Settings) any {
	t := translate(app, s)
	return struct {
		Translated    any
		UIServiceType corev1.ServiceType
		UIGateway     *dialect.Gateway `json:",omitempty"`
		UIURLFormat   string           `json:",omitempty"`
	}{fields.Ingredients(t.app, t.settings), s.UIServiceType, s.UIGateway, s.UIURLFormat}
}

// Complete changes the objects of an attempt as the Kubeflow operator does, and adds the Service of the driver's UI.
func Complete(app *v1alpha1.SparkApplication, s Settings, objects *submission.Objects) error {
	t := translate(app, s)
	err := fields.Complete(t.app, t.settings, objects)
	for _, object := range slices.Concat(objects.Before, objects.Owned) {
		labels := object.GetLabels()
		maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, kubeflowLabels) })
		object.SetLabels(labels)
	}
	return errors.Join(err, t.addUI(app, s, objects))
}

// ObsoleteObjects returns the Service of the UI: a cluster has few node ports, and finished applications would use them up. A route to it
// leads nowhere then.
func ObsoleteObjects(app *v1alpha1.SparkApplication, s Settings) []submission.Object {
	t := translate(app, s)
	obsolete := []submission.Object{dialect.ServiceNamed(app.Namespace, UIServiceName(app))}
	if !t.byUser {
		obsolete = append(fields.ObsoleteObjects(t.app, t.settings), obsolete...)
	}
	if s.UIGateway != nil {
		obsolete = append(obsolete, dialect.NewRoute("HTTPRoute", uiMetadata(app), nil))
	}
	return obsolete
}
