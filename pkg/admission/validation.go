package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"knative.dev/pkg/logging"

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
	// Quotas returns what is known of the quotas of a namespace. known is false while they are being read.
	Quotas func(namespace string) (n quota.Namespace, known bool)
	Now    func() time.Time
}

// Admit decides about a request. It refuses only what is new: an object that exists keeps its spec, and its metadata, its status and its
// deletion are nobody's mistake.
func (v *Validator) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
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

// isOwn reports whether Firesteel itself asks: its controller writes no specs, and the schedule handler creates runs of templates that were
// admitted.
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
		return v.refuse(request, finding.Of(err))
	case object.GetDeletionTimestamp() != nil, request.Operation == admissionv1.Update && sameSpec(request.Object.Raw, request.OldObject.Raw):
		return allow()
	}
	object.SetNamespace(request.Namespace)
	served, err := lookup.Serves(ctx, settings.Scope, v.Namespaces, object)
	if err != nil {
		logging.FromContext(ctx).Errorw("cannot decide whether this installation serves an object", zap.Error(err))
		return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
	if !served {
		return allow()
	}
	found, asks := check.Examine(object, settings.In(request.Namespace), v.Now())
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return v.refuse(request, refused)
	}
	ofQuota := v.compare(request, settings.In(request.Namespace), object, asks)
	if refused := ofQuota.Of(finding.Error); len(refused) > 0 {
		return forbid(request, refused)
	}
	found = append(found, ofQuota...)
	response := allow()
	if len(found) > 0 {
		response.Warnings = redact.For(request.Object.Raw).Texts(found.Sentences())
	}
	return response
}

// sameSpec reports whether two objects have the same spec.
func sameSpec(a, b []byte) bool {
	var before, after struct {
		Spec any `json:"spec"`
	}
	return json.Unmarshal(a, &after) == nil && json.Unmarshal(b, &before) == nil && reflect.DeepEqual(before, after)
}

// compare compares what an object asks for with the quotas of its namespace. An edit counts for what it adds.
func (v *Validator) compare(request *admissionv1.AdmissionRequest, settings *config.Config, object check.Object, asks check.Asks) finding.List {
	mode := settings.Admission.Quota
	if mode == config.QuotaOff || len(asks.Pods) == 0 {
		return nil
	}
	known, ok := v.Quotas(request.Namespace)
	if !ok {
		return finding.List{{Severity: finding.Warning, Text: "The webhook has not compared this object with the quotas, which it is still reading"}}
	}
	if len(known.Quotas) == 0 {
		return nil
	}
	var before check.Asks
	if old, err := check.Decode(request.OldObject.Raw); request.Operation == admissionv1.Update && err == nil {
		before = counted(old, settings, v.Now())
	}
	kind := request.Kind.Kind
	refuse := func(lacks []quota.Lack) finding.List {
		explained := diagnosis.QuotaFails(kind, request.Namespace, object.GetName(), quota.Verdict{Lacks: lacks})
		return finding.List{{Severity: finding.Error, Reason: explained.Reason, Field: "spec", Text: explained.Summary, Remedy: explained.Remedy}}
	}
	if lacks := known.NeverFits(before.Pods, asks.Pods); len(lacks) > 0 {
		return refuse(lacks)
	}
	var found finding.List
	if lacks := known.DoesNotFit(before.Pods, asks.Pods); len(lacks) > 0 && !asks.Later {
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

// counted returns what the quotas count of an object before an edit.
func counted(old check.Object, settings *config.Config, now time.Time) check.Asks {
	asks := check.AsksOf(old, settings, now)
	app, isApplication := old.(dialect.Application)
	if !isApplication || app.GetRecord() == nil {
		return asks
	}
	if state := lifecycle.CurrentState(app.GetRecord()); state.AttemptEnded() || state.Terminated() || state == lifecycle.Suspended || asks.Later {
		return check.Asks{} // its Pods are gone
	}
	return asks
}

// forbid refuses an object for the quotas.
func forbid(request *admissionv1.AdmissionRequest, found finding.List) *admissionv1.AdmissionResponse {
	response := refuse(http.StatusForbidden, metav1.StatusReasonForbidden, found.String())
	response.Result.Details = &metav1.StatusDetails{
		Name: request.Name, Group: request.Kind.Group, Kind: request.Kind.Kind,
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Field: found[0].Field, Message: found.String()}},
	}
	return response
}

// refuse refuses an object for all that is found. Each finding is a cause of the status, by its field.
func (v *Validator) refuse(request *admissionv1.AdmissionRequest, found finding.List) *admissionv1.AdmissionResponse {
	redactor := redact.For(request.Object.Raw)
	response := refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, redactor.Text(found.String()))
	response.Result.Details = &metav1.StatusDetails{Name: request.Name, Group: request.Kind.Group, Kind: request.Kind.Kind}
	for _, f := range found {
		response.Result.Details.Causes = append(response.Result.Details.Causes, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueInvalid, Field: f.Field, Message: redactor.Text(f.WithoutField()),
		})
	}
	return response
}

// configMap decides about a ConfigMap with settings: of the installation, or of a namespace that it serves.
func (v *Validator) configMap(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var before, after corev1.ConfigMap
	if err := json.Unmarshal(request.Object.Raw, &after); err != nil {
		return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("the ConfigMap cannot be decoded: %v", err))
	}
	if request.Operation == admissionv1.Update && json.Unmarshal(request.OldObject.Raw, &before) == nil &&
		reflect.DeepEqual(before.Data, after.Data) && reflect.DeepEqual(before.Labels, after.Labels) {
		return allow()
	}
	after.Namespace = request.Namespace
	if err := v.checkSettings(ctx, &after); err != nil {
		message := strings.ReplaceAll(err.Error(), "\n", "; ")
		response := refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, message)
		response.Result.Details = &metav1.StatusDetails{Name: request.Name, Kind: "ConfigMap", Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "data", Message: message},
		}}
		return response
	}
	return allow()
}

func (v *Validator) checkSettings(ctx context.Context, configMap *corev1.ConfigMap) error {
	if configMap.Namespace == v.Installation {
		return errors.Join(config.Check(configMap), knative.CheckOne(configMap))
	}
	settings := v.Settings()
	if !settings.Complete() {
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
	return settings.CheckOwn(configMap)
}
