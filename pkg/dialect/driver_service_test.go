package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestDriverServiceAnnotationWinsOverTheSetting(t *testing.T) {
	const name = dialect.AnnotationDriverService
	padded := " none\n"
	for value, test := range map[string]struct {
		setting, want bool
		warned        bool
	}{
		"none":     {false, true, false},
		padded:     {false, true, false},
		"headless": {true, false, false},
		"None":     {true, true, true},
		"":         {false, false, true},
		"svc":      {false, false, true},
	} {
		settings := dialect.Settings{WithoutDriverService: test.setting}
		if got := dialect.WithoutService(annotated(name, value), settings); got != test.want {
			t.Errorf("%q: without a Service is %t, want %t", value, got, test.want)
		}
		warnings := dialect.AnnotationWarnings(annotated(name, value)).String()
		if test.warned != strings.Contains(warnings, finding.Entry("metadata.annotations", name)+` "`+value+`" has no effect`) {
			t.Errorf("%q: said %q", value, warnings)
		}
	}
	for _, setting := range []bool{false, true} {
		if got := dialect.WithoutService(&metav1.ObjectMeta{}, dialect.Settings{WithoutDriverService: setting}); got != setting {
			t.Errorf("without the annotation, the setting %t became %t", setting, got)
		}
	}
}

func TestDriverServiceThatIsMissingIsNamedByWhatNeedsIt(t *testing.T) {
	const thrift = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
	labels := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"sidecar.istio.io/inject": "true"}}}
	serving := func(port intstr.IntOrString) []submission.Object {
		return []submission.Object{&corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: port}}}}}
	}
	for name, test := range map[string]struct {
		plan  submission.Plan
		owned []submission.Object
		want  string // begins the message
	}{
		"nothing": {submission.Plan{Properties: map[string]string{"spark.ui.port": "4041"}, MainClass: "Main"}, nil, ""},
		"a property of the Service": {
			submission.Plan{Properties: map[string]string{"spark.kubernetes.driver.service.annotation.a": "b"}}, nil,
			`spark.kubernetes.driver.service.annotation.a "b" has no effect on a driver without a Service: leave it out, or set the annotation firesteel.dev/driver-service to headless`,
		},
		"the deletion of Services":          {submission.Plan{Properties: map[string]string{"spark.kubernetes.driver.service.deleteOnTermination": "true"}}, nil, ""},
		"a server":                          {submission.Plan{MainClass: thrift}, nil, `mainClass "` + thrift + `" is a server, and no Service leads its clients to the driver`},
		"a server behind the UI's Service":  {submission.Plan{MainClass: thrift}, serving(intstr.FromInt32(4040)), `mainClass "` + thrift},
		"a server behind a Service":         {submission.Plan{MainClass: thrift}, serving(intstr.FromInt32(10000)), ""},
		"Istio's sidecar by the template":   {submission.Plan{DriverTemplate: labels}, nil, `driverTemplate.metadata.labels[sidecar.istio.io/inject] "true" encrypts nothing`},
		"Istio's sidecar by a property":     {submission.Plan{Properties: map[string]string{"spark.kubernetes.driver.annotation.sidecar.istio.io/inject": "true"}}, nil, `spark.kubernetes.driver.annotation.sidecar.istio.io/inject "true"`},
		"Istio's sidecar that is forbidden": {submission.Plan{Properties: map[string]string{"spark.kubernetes.driver.label.sidecar.istio.io/inject": "false"}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := &submission.Objects{Driver: &corev1.Pod{}, Owned: test.owned}
			if lost := dialect.LostWithoutService(test.plan, objects); lost != nil {
				t.Errorf("with the Service: %v", lost)
			}
			test.plan.WithoutService = true
			lost := dialect.LostWithoutService(test.plan, objects)
			said := lost.String()
			if !strings.HasPrefix(said, test.want) || (said == "") != (test.want == "") {
				t.Errorf("said (-want +got):\n%s", cmp.Diff(test.want, said))
			}
		})
	}
}

func TestDriverServiceThatIsMissingNamesAFewProperties(t *testing.T) {
	plan := submission.Plan{WithoutService: true, Properties: map[string]string{}}
	for i := range 100 {
		plan.Properties[fmt.Sprintf("spark.kubernetes.driver.service.label.l%02d", i)] = strings.Repeat("x", 10_000)
	}
	lost := dialect.LostWithoutService(plan, &submission.Objects{Driver: &corev1.Pod{}})
	if text := strings.Join(lost.Sentences(), " "); len(lost) != 9 || len(text) > 4096 || !strings.Contains(text, "92 more properties without effect") {
		t.Errorf("%d findings of %d bytes: %s", len(lost), len(text), text)
	}
}
