package codec_test

import (
	"encoding/json"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// recorded returns what of an object is decoded: why it is not, the format of its record, and whether it has one.
func recorded(object metav1.Object) (undecodable string, format int64, ok bool) {
	switch o := object.(type) {
	case *sparkv1.SparkApplication:
		return formatOf(o.Undecodable, o.Status.Firesteel)
	case *v1beta2.SparkApplication:
		return formatOf(o.Undecodable, o.Status.Firesteel)
	case *sparkv1.SparkCluster:
		return formatOf(o.Undecodable, o.Status.Firesteel)
	case *v1alpha1.ScheduledSparkApplication:
		return formatOfSchedule(o.Undecodable, o.Status.Firesteel)
	case *v1beta2.ScheduledSparkApplication:
		return formatOfSchedule(o.Undecodable, o.Status.Firesteel)
	}
	panic(fmt.Sprintf("%T", object))
}

func formatOf(undecodable string, record *v1alpha1.Record) (string, int64, bool) {
	if record == nil {
		return undecodable, 0, false
	}
	return undecodable, record.Format, record.HasNewerFormat() || record.Sequence == 7
}

func formatOfSchedule(undecodable string, record *v1alpha1.ScheduleRecord) (string, int64, bool) {
	if record == nil {
		return undecodable, 0, false
	}
	return undecodable, record.Format, record.HasNewerFormat() || record.Missed == 7
}

// Whatever a user made of the spec, or another writer of the status, the record says what runs.
func TestTheRecordOfAnUndecodableObjectIsDecoded(t *testing.T) {
	const known = `{"attempt":{"id":1,"since":null},"sequence":7,"acknowledged":1,"since":null,"settledUntil":null,"missed":7,"newer":1}`
	for name, object := range map[string]func() metav1.Object{
		"SparkApplication":                   func() metav1.Object { return &sparkv1.SparkApplication{} },
		"Kubeflow SparkApplication":          func() metav1.Object { return &v1beta2.SparkApplication{} },
		"SparkCluster":                       func() metav1.Object { return &sparkv1.SparkCluster{} },
		"ScheduledSparkApplication":          func() metav1.Object { return &v1alpha1.ScheduledSparkApplication{} },
		"Kubeflow ScheduledSparkApplication": func() metav1.Object { return &v1beta2.ScheduledSparkApplication{} },
	} {
		for what, test := range map[string]struct {
			text   string
			format int64
			ok     bool
		}{
			"a known record":             {`{"metadata":{"name":"pi"},"spec":5,"status":{"firesteel":` + known + `}}`, 0, true},
			"a record of a newer one":    {`{"metadata":{"name":"pi"},"spec":[],"status":{"firesteel":{"format":2,"attempt":"none"}}}`, 2, true},
			"beside an odd status":       {`{"metadata":{"name":"pi"},"spec":{},"status":{"conditions":5,"firesteel":` + known + `}}`, 0, true},
			"no record":                  {`{"metadata":{"name":"pi"},"spec":5,"status":{"conditions":[]}}`, 0, false},
			"no status":                  {`{"metadata":{"name":"pi"},"spec":5}`, 0, false},
			"a status that is none":      {`{"metadata":{"name":"pi"},"spec":5,"status":"odd"}`, 0, false},
			"a record that is null":      {`{"metadata":{"name":"pi"},"spec":5,"status":{"firesteel":null}}`, 0, false},
			"a record that is none":      {`{"metadata":{"name":"pi"},"spec":5,"status":{"firesteel":{"sequence":"one","missed":"one"}}}`, 0, false},
			"a record in another's case": {`{"metadata":{"name":"pi"},"spec":5,"status":{"Firesteel":` + known + `}}`, 0, false},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				decoded := object()
				if err := json.Unmarshal([]byte(test.text), decoded); err != nil {
					t.Fatal(err)
				}
				undecodable, format, ok := recorded(decoded)
				if undecodable == "" || format != test.format || ok != test.ok || decoded.GetName() != "pi" {
					t.Errorf("undecodable %q, format %d, record %t", undecodable, format, ok)
				}
			})
		}
	}
}
