package variant_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// schedules are schedules of both kinds whose driver has a quantity, by the path of the quantity.
func schedules(quantity string) map[string]variant.Schedule {
	pod := `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":` + quantity + `}}}]}}`
	own, kubeflow := &firesteelv1alpha1.ScheduledSparkApplication{}, &v1beta2.ScheduledSparkApplication{}
	own.Spec.Schedule, kubeflow.Spec.Schedule = "@daily", "@daily"
	own.Spec.Template.Spec = runtime.RawExtension{Raw: []byte(`{"driverSpec":{"podTemplateSpec":` + pod + `},"driverArgs":["1e999999999"]}`)}
	kubeflow.Spec.Template = runtime.RawExtension{Raw: []byte(`{"driver":{"template":` + pod + `},"arguments":["1e999999999"]}`)}
	return map[string]variant.Schedule{
		"spec.template.spec.driverSpec.podTemplateSpec.spec.containers[0].resources.limits.cpu": own,
		"spec.template.driver.template.spec.containers[0].resources.limits.cpu":                 kubeflow,
	}
}

func kindOf(s variant.Schedule) *variant.Kind {
	if _, ok := s.(*firesteelv1alpha1.ScheduledSparkApplication); ok {
		return variant.Apache
	}
	return variant.Kubeflow
}

func TestATemplateWithAnUnboundedQuantityIsRefused(t *testing.T) {
	for field, s := range schedules(`"1e999999999"`) {
		policy := kindOf(s).PolicyOf(s, time.Unix(0, 0))
		if policy.Clock != nil || policy.Refusal() == nil || policy.Refusal().Reason != schedule.ReasonInvalidTemplate ||
			!strings.HasPrefix(policy.Refusal().Error(), field+` "1e999999999" is`) {
			t.Errorf("%s: %+v", field, policy)
		}
	}
	for field, s := range schedules(`"1e3"`) {
		if policy := kindOf(s).PolicyOf(s, time.Unix(0, 0)); policy.Clock == nil || policy.Refusal() != nil {
			t.Errorf("%s: %+v", field, policy.Refusal())
		}
	}
	for _, s := range []variant.Schedule{&firesteelv1alpha1.ScheduledSparkApplication{}, &v1beta2.ScheduledSparkApplication{}} {
		s.GetSchedule().Schedule = "@daily"
		if policy := kindOf(s).PolicyOf(s, time.Unix(0, 0)); policy.Refusal() != nil {
			t.Errorf("%T without a template: %+v", s, policy.Refusal())
		}
	}
}
