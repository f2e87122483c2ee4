package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Validator decides about objects that users apply: applications, schedules and clusters, and the ConfigMaps with settings.
type Validator struct {
	// Settings returns the present settings.
	Settings func() *config.Config
	// Namespaces reads the labels of namespaces.
	Namespaces lookup.Namespaces
	// Installation is the namespace of the installation.
	Installation string
	// Version is the version of this program.
	Version string
	// Quotas returns the quotas of a namespace with what is about to be used of them. known is false while they are being read.
	Quotas func(namespace string) (n quota.Namespace, known bool)
	// Admitted returns Pods as the API server will admit them, as far as that is known.
	Admitted check.Admitted
	Now      func() time.Time

	// inFlight is the number of bytes of objects that are being checked.
	inFlight atomic.Int64
}

// labelVersion is the label with the release of a ConfigMap. ConfigMaps from a source tree do not have it.
const labelVersion = "app.kubernetes.io/version"

// maxInFlight bounds the bytes of objects that are checked at the same time. Decoded, they take a multiple of that.
const maxInFlight = 12 << 20

// Admit decides about a request. It checks only new and edited specs and settings. It always allows other changes of metadata and status, and
// deletions.
func (v *Validator) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	size := int64(len(request.Object.Raw) + len(request.OldObject.Raw))
	defer v.inFlight.Add(-size)
	if all := v.inFlight.Add(size); all > maxInFlight && all > size {
		return notChecked("it is checking too many large objects at this moment.")
	}
	switch {
	case request.SubResource != "", request.Operation != admissionv1.Create && request.Operation != admissionv1.Update:
		return allow()
	case request.Resource.Group == "" && request.Resource.Resource == "configmaps":
		return v.configMap(ctx, request)
	case v.isOwn(request):
		return allow()
	default:
		return v.manifest(ctx, request)
	}
}

// isOwn reports whether Firesteel itself sends the request. Its controller writes no specs, and its schedule handler creates runs of templates that
// were admitted.
func (v *Validator) isOwn(request *admissionv1.AdmissionRequest) bool {
	return strings.HasPrefix(request.UserInfo.Username, "system:serviceaccount:"+v.Installation+":")
}

// notChecked warns that an object passes without a check.
func notChecked(reason string) *admissionv1.AdmissionResponse {
	response := allow()
	response.Warnings = []string{"Firesteel's webhook has not checked this object, and the controller will: " + reason}
	return response
}

func (v *Validator) manifest(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	settings := v.Settings()
	if !settings.Complete() {
		return notChecked("the settings are not read yet.")
	}
	object, err := check.Decode(request.Object.Raw)
	var unknown *check.UnknownError
	switch {
	case errors.As(err, &unknown):
		return notChecked(finding.Of(err).Sentence())
	case err != nil:
		return invalid(request, redact.For(request.Object.Raw), finding.Of(err))
	case object.GetDeletionTimestamp() != nil, request.Operation == admissionv1.Update && sameSpec(request.Object.Raw, request.OldObject.Raw):
		return allow()
	}
	object.SetNamespace(request.Namespace)
	served, err := lookup.Serves(ctx, settings.Scope, v.Namespaces, object)
	if err != nil {
		logging.FromContext(ctx).Errorw("cannot decide whether this installation serves an object", zap.Error(err))
		return notChecked("the labels of its namespace cannot be read.")
	}
	if !served {
		return allow()
	}
	// Most edits are decided without the earlier object.
	before := sync.OnceValue(func() *examined { return v.before(request, settings) })
	found, asks := check.Examine(object, settings, v.Now(), v.Admitted)
	found = check.ExplainUndecodable(found, request.Object.Raw)
	if len(found.Of(finding.Error)) > 0 {
		allowKnownErrors(found, before())
	}
	redactor := sync.OnceValue(func() *redact.Redactor { return redact.For(request.Object.Raw) })
	response := allow()
	if refused := found.Of(finding.Error); len(refused) > 0 {
		response = invalid(request, redactor(), refused)
	} else {
		ofQuota := v.checkQuotas(request, settings, before, &examined{object, found, asks})
		found = append(found, ofQuota...)
		if refused := ofQuota.Of(finding.Error); len(refused) > 0 {
			response = forbid(request, refused)
		}
	}
	if warnings := found.Of(finding.Warning); len(warnings) > 0 {
		response.Warnings = redactor().Texts(warnings.Sentences())
	}
	return response
}

// examined is an object with the findings about it, and what it asks of the quotas.
type examined struct {
	object check.Object
	found  finding.List
	asks   check.Asks
}

// before returns an object as it was before an edit; nil if it is new.
func (v *Validator) before(request *admissionv1.AdmissionRequest, settings *config.Config) *examined {
	if request.Operation != admissionv1.Update {
		return nil
	}
	old, err := check.Decode(request.OldObject.Raw)
	if err != nil {
		return nil
	}
	old.SetNamespace(request.Namespace)
	found, asks := check.Examine(old, settings, v.Now(), v.Admitted)
	return &examined{old, check.ExplainUndecodable(found, request.OldObject.Raw), asks}
}

// allowKnownErrors turns errors that the object had before the edit into warnings: so a user can suspend it, or give it a time to live, without
// correcting them first. before is nil if the object is new.
func allowKnownErrors(found finding.List, before *examined) {
	if before == nil {
		return
	}
	known := map[string]bool{}
	for _, f := range before.found.Of(finding.Error) {
		known[f.Field+"\n"+f.Error()] = true
	}
	for i := range found {
		if known[found[i].Field+"\n"+found[i].Error()] {
			found[i].Severity = finding.Warning
		}
	}
}

// sameSpec reports whether two objects have the same spec.
func sameSpec(a, b []byte) bool {
	var before, after struct {
		Spec json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(a, &after) != nil || json.Unmarshal(b, &before) != nil {
		return false
	}
	if bytes.Equal(before.Spec, after.Spec) { // as the API server writes them, and without decoding them
		return true
	}
	var specBefore, specAfter any
	return json.Unmarshal(before.Spec, &specBefore) == nil && json.Unmarshal(after.Spec, &specAfter) == nil && reflect.DeepEqual(specBefore, specAfter)
}

// checkQuotas compares what an object asks for with the quotas of its namespace. Of an edit, only what it adds counts. before returns the object
// before the edit; nil if it is new.
func (v *Validator) checkQuotas(request *admissionv1.AdmissionRequest, settings *config.Config, before func() *examined, after *examined) finding.List {
	mode, asks := settings.Admission.Quota, after.asks
	if mode == config.QuotaOff || len(asks.Pods) == 0 {
		return nil
	}
	known, ok := v.Quotas(request.Namespace)
	if !ok {
		return finding.List{{Severity: finding.Warning, Text: "The webhook has not compared this object with the quotas, which it has not read yet or may not read"}}
	}
	if len(known.Quotas) == 0 {
		return nil
	}
	// asked is what the object asked for before the edit. counted is the part of it that the quotas count already.
	var asked, counted []v1alpha1.QuotaPods
	if old := before(); old != nil {
		if hasEnded(old.object) && !check.RunsAnew(old.object, after.object, settings) {
			return nil
		}
		asked = old.asks.Pods
		if isCounted(old.object, old.asks) {
			counted = old.asks.Pods
		}
	}
	kind := request.Kind.Kind
	refuse := func(lacks []quota.Lack) finding.List {
		explained := diagnosis.QuotaFails(kind, request.Namespace, after.object.GetName(), quota.Decision{Lacks: lacks})
		return finding.List{{Severity: finding.Error, Reason: explained.Reason, Field: "spec", Text: explained.Summary, Remedy: explained.Remedy}}
	}
	if lacks := known.NeverFits(asked, asks.Pods); len(lacks) > 0 {
		return refuse(lacks)
	}
	var found finding.List
	if lacks := known.DoesNotFit(counted, asks.Pods); len(lacks) > 0 && !asks.Later {
		if mode == config.QuotaFail {
			return refuse(lacks)
		}
		found.Add(finding.Finding{Severity: finding.Warning, Text: diagnosis.WillWaitForQuota(request.Namespace, lacks)})
	}
	if lacks := known.NeverFits(asks.Pods, asks.Most); len(lacks) > 0 {
		found.Add(finding.Finding{Severity: finding.Warning, Text: diagnosis.MoreThanQuota(request.Namespace, asks.Most[1].Count, lacks)})
	}
	return found
}

// stateOf returns the state of an application or a cluster: their states have the same names. It is empty for other objects, and for an object
// without a record.
func stateOf(object check.Object) lifecycle.State {
	if app, ok := object.(dialect.Application); ok && app.GetRecord() != nil {
		return lifecycle.CurrentState(app.GetRecord())
	}
	return ""
}

// hasEnded reports whether an object is an application or a cluster that has ended, or whose attempt has.
func hasEnded(object check.Object) bool {
	state := stateOf(object)
	return state.AttemptEnded() || state.Terminated()
}

// isCounted reports whether the quotas count what an object asks for: its Pods exist, or are about to be created.
func isCounted(object check.Object, asks check.Asks) bool {
	state := stateOf(object)
	switch {
	case hasEnded(object), state == lifecycle.Suspended:
		return false
	case state == "", state.Initializing():
		return !asks.Later
	default:
		return true
	}
}

// forbid refuses an object for the quotas.
func forbid(request *admissionv1.AdmissionRequest, found finding.List) *admissionv1.AdmissionResponse {
	response := refuse(http.StatusForbidden, metav1.StatusReasonForbidden, found.String())
	response.Result.Details = detailsOf(request, metav1.StatusCause{Type: metav1.CauseTypeForbidden, Field: found[0].Field, Message: found.String()})
	return response
}

// invalid refuses an object for all findings. Each finding becomes a cause of the status, with its field.
func invalid(request *admissionv1.AdmissionRequest, redactor *redact.Redactor, found finding.List) *admissionv1.AdmissionResponse {
	var causes []metav1.StatusCause
	for _, f := range found {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: f.Field, Message: redactor.Text(f.WithoutField())})
	}
	response := refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, redactor.Text(found.String()))
	response.Result.Details = detailsOf(request, causes...)
	return response
}

// detailsOf names the object that is refused, with the causes.
func detailsOf(request *admissionv1.AdmissionRequest, causes ...metav1.StatusCause) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: request.Name, Group: request.Kind.Group, Kind: request.Kind.Kind, Causes: causes}
}

// configMap decides about a ConfigMap with settings: of the installation, or of a namespace that it serves.
func (v *Validator) configMap(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var before, after corev1.ConfigMap
	if err := json.Unmarshal(request.Object.Raw, &after); err != nil {
		return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("the ConfigMap cannot be decoded: %v", err))
	}
	after.Namespace = request.Namespace
	problems := v.problems(ctx, &after)
	if len(problems) == 0 {
		return allow()
	}
	var warnings []string
	if request.Operation == admissionv1.Update && json.Unmarshal(request.OldObject.Raw, &before) == nil {
		if maps.Equal(before.Data, after.Data) && before.Labels[config.LabelOwnDefaults] == after.Labels[config.LabelOwnDefaults] {
			return allow()
		}
		before.Namespace = request.Namespace
		known := v.problems(ctx, &before)
		isKnown := func(problem string) bool { return slices.Contains(known, problem) }
		warnings = slices.DeleteFunc(slices.Clone(problems), func(problem string) bool { return !isKnown(problem) })
		problems = slices.DeleteFunc(problems, isKnown)
	}
	if version := after.Labels[labelVersion]; version != "" && version != v.Version {
		// An upgrade or a rollback applies the settings first. The controller of that version checks them.
		for _, problem := range problems {
			warnings = append(warnings, fmt.Sprintf("%s (by version %s of the webhook; the ConfigMap is of version %s)", problem, v.Version, version))
		}
		problems = nil
	}
	response := allow()
	if len(problems) > 0 {
		message := strings.Join(problems, "; ")
		response = refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, message)
		response.Result.Details = detailsOf(request, metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "data", Message: message})
	}
	response.Warnings = warnings
	return response
}

// problems returns why the controller would refuse the settings in a ConfigMap.
func (v *Validator) problems(ctx context.Context, configMap *corev1.ConfigMap) []string {
	err := v.checkOwn(ctx, configMap)
	if configMap.Namespace == v.Installation {
		err = errors.Join(config.Check(configMap), knative.CheckOne(configMap), err)
	}
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n") // joined errors
}

// checkOwn checks the defaults of a namespace that this installation serves.
func (v *Validator) checkOwn(ctx context.Context, configMap *corev1.ConfigMap) error {
	settings := v.Settings()
	if !settings.Complete() {
		return nil
	}
	problem := settings.CheckOwn(configMap)
	if problem == nil {
		return nil
	}
	var namespaceLabels labels.Set
	if settings.Scope.UsesNamespaceLabels() {
		var err error
		if namespaceLabels, _, err = v.Namespaces(ctx, configMap.Namespace); err != nil {
			return nil // the controller checks them
		}
	}
	if !settings.Scope.ServesNamespace(configMap.Namespace, namespaceLabels) {
		return nil
	}
	return problem
}
