package admission

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/logging"
	"sigs.k8s.io/json"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/podannotations"
)

// Admit decides about a request.
type Admit func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Pods returns the decision about Pods of plain spark-submit runs: they get what their annotations ask for. It does not change Pods that the
// installation does not serve, and Pods of Firesteel's launches, even if the webhook configuration selects them.
func Pods(scope func() *config.Scope, namespaces lookup.Namespaces) Admit {
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if request.Operation != admissionv1.Create || request.SubResource != "" || request.Resource.Resource != "pods" {
			return allow()
		}
		pod, err := decodePod(request.Object.Raw)
		if err != nil {
			return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("the Pod cannot be decoded: %v", err))
		}
		if _, ours := pod.Labels[dialect.LabelLaunch]; ours {
			return allow()
		}
		served, err := lookup.Serves(ctx, scope(), namespaces, &metav1.ObjectMeta{Namespace: request.Namespace, Labels: pod.Labels})
		if err != nil {
			logging.FromContext(ctx).Errorw("cannot decide whether this installation serves a Pod", zap.Error(err))
			return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
		}
		if !served {
			return allow()
		}
		return mutate(pod)
	}
}

// decodePod decodes a Pod that the API server has not validated yet.
func decodePod(raw []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := codec.CheckWeight(raw, reflect.TypeFor[corev1.Pod]()); err != nil {
		return nil, err
	}
	return pod, json.UnmarshalCaseSensitivePreserveInts(raw, pod)
}

// mutate answers with a patch of what the annotations change. Fields that this version does not know are not decoded: so the patch does not have
// them, and they stay.
func mutate(pod *corev1.Pod) *admissionv1.AdmissionResponse {
	changed, warnings, err := podannotations.Apply(pod)
	if err != nil {
		return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest, finding.Of(err).String())
	}
	response := allow()
	response.Warnings = warnings.Sentences()
	patch, err := duck.CreatePatch(pod, changed)
	if err != nil {
		return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
	if len(patch) == 0 {
		return response
	}
	if response.Patch, err = patch.MarshalJSON(); err != nil {
		return refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
	}
	jsonPatch := admissionv1.PatchTypeJSONPatch
	response.PatchType = &jsonPatch
	return response
}

func allow() *admissionv1.AdmissionResponse { return &admissionv1.AdmissionResponse{Allowed: true} }

func refuse(code int32, reason metav1.StatusReason, message string) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}
