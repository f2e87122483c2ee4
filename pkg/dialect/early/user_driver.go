package early

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UserDriver describes the driver that the user starts. The early operator made its ID and the Service of its UI.
func UserDriver(app *v1alpha1.SparkApplication, s Settings) *dialect.UserDriver {
	if !byUser(app.Spec) {
		return nil
	}
	// Spark's ID of the run is not known yet: the appId is in its place.
	objects := &submission.Objects{Driver: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{submission.LabelApplicationID: AppID(app)}}}}
	_ = translate(app, s).addUI(app, s, objects) // it goes without the route then, and a warning says so
	return &dialect.UserDriver{PodName: userDriver(app.Spec).Driver.PodName, Objects: objects.Owned, UI: objects.UI}
}

// byUser reports whether the user starts the driver of an application.
func byUser(spec v1alpha1.SparkApplicationSpec) bool {
	return spec.SubmissionByUser || spec.Mode == v1alpha1.InClusterClientMode
}

// userDriver returns the fields that say which driver an application follows. No other field has an effect on a driver that runs.
func userDriver(spec v1alpha1.SparkApplicationSpec) v1alpha1.SparkApplicationSpec {
	identity := v1alpha1.SparkApplicationSpec{SubmissionByUser: true}
	if spec.Mode == v1alpha1.InClusterClientMode {
		identity.Driver.PodName = spec.Driver.PodName
	}
	return identity
}

// setUserDriver translates an application that follows a driver: nothing of its spec is submitted. The Service of the UI needs the port.
func (t *translation) setUserDriver(spec v1alpha1.SparkApplicationSpec) {
	t.byUser = true
	if port, set := spec.SparkConf[dialect.UIPortKey]; set {
		t.app.Spec.SparkConf = map[string]string{dialect.UIPortKey: port}
	}
	switch {
	case spec.Mode == v1alpha1.ClientMode:
		t.checkMode(spec)
	case spec.Mode == v1alpha1.InClusterClientMode && strings.TrimSpace(spec.Driver.PodName) == "":
		t.refuse("ClientModeUnsupported", "spec.mode", spec.Mode, "is about a driver Pod that you create, and spec.driver.podName does not name it",
			"name the Pod there; or leave spec.mode out to let Firesteel run the application")
	case spec.Mode != v1alpha1.InClusterClientMode:
		t.warnOfPodName(spec)
	}
}

// userDriverWarnings warns of time limits, since Firesteel does not stop a driver that the user started, of a route that cannot be made,
// and of a path of the UI that the driver must know.
func (t *translation) userDriverWarnings(app *v1alpha1.SparkApplication, s Settings) finding.List {
	var found finding.List
	address, err := t.uiAddress(s, AppID(app))
	if err != nil {
		found.Add(t.spellings.of(fields.Refusals(err, t.app, t.settings))...)
	}
	if _, set := app.Spec.SparkConf[dialect.UIProxyBaseKey]; address != nil && dialect.HasPath(address) && !set {
		found.Warn(finding.Entry(confField, dialect.UIProxyBaseKey), nil,
			fmt.Sprintf("is not set, and your driver's UI is reached below the path %s: without the path its links lead nowhere", address.Path),
			fmt.Sprintf("pass %s to spark-submit, and set the property here, which ends this warning", sparkSubmitOptions(dialect.ProxyProperties(address))))
	}
	if value, set := app.Spec.SparkConf[dialect.UIPortKey]; set {
		if port, err := strconv.ParseUint(strings.TrimSpace(value), 10, 16); err != nil || port == 0 {
			found.Warn(finding.Entry(confField, dialect.UIPortKey), value, "is no port that a Service can lead to", "write the port of your driver's UI, from 1 to 65535")
		}
	}
	for _, name := range dialect.BoundAnnotations {
		if _, set := app.Annotations[name]; set {
			found.Warn(finding.Entry("metadata.annotations", name), nil, "has no effect on a driver that you start", "leave it out")
		}
	}
	return found
}

// sparkSubmitOptions returns properties as options of spark-submit.
func sparkSubmitOptions(properties map[string]string) string {
	var options []string
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		options = append(options, fmt.Sprintf("--conf %s=%s", key, properties[key]))
	}
	return strings.Join(options, " ")
}
