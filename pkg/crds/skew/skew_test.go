package skew

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/crds"
)

const clusters = "sparkclusters.spark.apache.org"

func newReporter(t *testing.T) (*Reporter, *observer.ObservedLogs, *zap.SugaredLogger) {
	t.Helper()
	s, err := New(nil, noop.NewMeterProvider())
	if err != nil {
		t.Fatal(err)
	}
	s.running = "v1.2.0"
	core, logs := observer.New(zap.InfoLevel)
	return s, logs, zap.New(core).Sugar()
}

func crd(part, schema, release string) metav1.Object {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: clusters, Annotations: map[string]string{crds.AnnotationSchema: schema},
		Labels: map[string]string{"app.kubernetes.io/part-of": part, crds.LabelVersion: release},
	}}
}

func TestReporterKnowsTheSchemaOfEachCRD(t *testing.T) {
	s, _, _ := newReporter(t)
	if len(s.own) != 6 {
		t.Errorf("there are %d CRDs, want 6", len(s.own))
	}
	for name, schema := range s.own {
		if len(schema) != 16 {
			t.Errorf("the CRD %s has the schema %q", name, schema)
		}
	}
}

func TestReporterNamesTheVersionOfACRDAndTheRemedy(t *testing.T) {
	for _, test := range []struct{ part, schema, release, want string }{
		{"firesteel", "", "", "It is of an older version of Firesteel. The API server drops fields that this version knows. Apply the CRDs of v1.2.0."},
		{"firesteel", "another", "v1.1.9", "It is of v1.1.9, which is older. The API server drops fields that this version knows. Apply the CRDs of v1.2.0."},
		{"firesteel", "another", "v1.3.0-rc.1", "It is of v1.3.0-rc.1, which is newer than v1.2.0. Fields that only that version knows have no effect. Upgrade the controller."},
		{"firesteel", "another", "v1.3.0-5-g0123456", "It is of another version of Firesteel than v1.2.0. Apply the CRDs and the controller of one version."},
		{"firesteel", "another", "", "It is of another version of Firesteel than v1.2.0. Apply the CRDs and the controller of one version."},
		{"", "", "", "It belongs to another owner. The API server drops fields that this version knows. Apply the CRDs of v1.2.0."},
	} {
		s, logs, logger := newReporter(t)
		s.compare(crd(test.part, test.schema, test.release), logger)
		entries := logs.All()
		if len(entries) != 1 || entries[0].Message != "CRD is not of this version" || entries[0].ContextMap()["detail"] != test.want {
			t.Errorf("%+v is logged as %v", test, entries)
		}
	}
}

func TestReporterReportsOnlyChanges(t *testing.T) {
	s, logs, logger := newReporter(t)
	own := s.own[clusters]
	for _, schema := range []string{own, "another", "another", own, own, "a third"} {
		s.compare(crd("firesteel", schema, "v1.2.0"), logger)
	}
	var messages []string
	for _, entry := range logs.All() {
		messages = append(messages, entry.Message)
	}
	const want = "CRD is not of this version, CRD is of this version, CRD is not of this version"
	if got := strings.Join(messages, ", "); got != want {
		t.Errorf("logged %s, want %s", got, want)
	}
	if s.forget(clusters); len(s.last) > 0 {
		t.Error("a deleted CRD still counts")
	}
}
