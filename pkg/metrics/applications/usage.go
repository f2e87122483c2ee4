package applications

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	attributeGroup = attribute.Key("firesteel.group")
	attributeRole  = attribute.Key("firesteel.role")
	// labelPrefix precedes the name of a label of applications.
	labelPrefix = "firesteel.label."
	// maxLabelValues bounds the values of a label. All others are otherValue.
	maxLabelValues = 100
	otherValue     = "other"
)

// usage are the metrics of what Pods used.
type usage struct {
	pods, cores, memory, gpus, gaps metric.Float64Counter

	mutex sync.Mutex
	// values are the values of each label that were counted.
	values map[string]map[string]bool
}

func newUsage(meter metric.Meter) (*usage, error) {
	by := ", by " + string(attributeNamespace) + ", " + string(attributeGroup) + ", " + string(attributeRole) +
		" (driver or executor) and the labels of usage-labels in config-events."
	u := usage{values: map[string]map[string]bool{}}
	var errs [5]error
	counter := func(name, unit, description string) (metric.Float64Counter, error) {
		return meter.Float64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	}
	u.pods, errs[0] = counter("firesteel.usage.pod.seconds", "s", "Time of Pods from their scheduling to the end of their containers"+by)
	u.cores, errs[1] = counter("firesteel.usage.core.seconds", "{core.s}", "Requested CPU of Pods, in cores, by time"+by)
	u.memory, errs[2] = counter("firesteel.usage.gib.seconds", "{GiB.s}", "Requested memory of Pods, in GiB, by time"+by)
	u.gpus, errs[3] = counter("firesteel.usage.gpu.seconds", "{GPU.s}", "Requested GPUs of Pods by time"+by)
	u.gaps, errs[4] = counter("firesteel.usage.gap.seconds", "s", "Time for which Pods may have run that are not counted, by "+
		string(attributeNamespace)+", "+string(attributeGroup)+" and the labels of usage-labels in config-events.")
	return &u, errors.Join(errs[:]...)
}

// CountUsage counts what the Pods of an application of a group used since its record was written before; before may be nil. labels are the
// names of the labels by which is counted.
func (m *Metrics) CountUsage(group string, app metav1.Object, before, after *v1alpha1.Record, labels []string) {
	if after == nil || after.Usage == nil {
		return
	}
	var counted v1alpha1.Usage
	if before != nil && before.Usage != nil {
		counted = before.Usage.Total
	}
	used, u := after.Usage.Total, m.usage
	common := []attribute.KeyValue{attributeNamespace.String(app.GetNamespace()), attributeGroup.String(group)}
	for _, label := range labels {
		common = append(common, attribute.String(labelPrefix+label, u.bounded(label, app.GetLabels()[label])))
	}
	u.add("driver", used.Driver, counted.Driver, common)
	u.add("executor", used.Executors, counted.Executors, common)
	u.count(u.gaps, used.GapSeconds-counted.GapSeconds, 1, metric.WithAttributes(common...))
}

func (u *usage) add(role string, used, counted *v1alpha1.PodUsage, common []attribute.KeyValue) {
	if used == nil {
		return
	}
	if counted == nil {
		counted = &v1alpha1.PodUsage{}
	}
	attributes := metric.WithAttributes(append(common[:len(common):len(common)], attributeRole.String(role))...)
	u.count(u.pods, used.Seconds-counted.Seconds, 1, attributes)
	u.count(u.cores, used.CoreMilliseconds-counted.CoreMilliseconds, 1000, attributes)
	u.count(u.memory, used.MebibyteSeconds-counted.MebibyteSeconds, 1024, attributes)
	u.count(u.gpus, used.GPUSeconds-counted.GPUSeconds, 1, attributes)
}

// count adds to a counter. A Pod may turn out to have ended some seconds before it was counted: a counter cannot take that back.
func (u *usage) count(counter metric.Float64Counter, more int64, unit float64, attributes metric.MeasurementOption) {
	if more > 0 {
		counter.Add(context.Background(), float64(more)/unit, attributes)
	}
}

// bounded returns the value of a label, or otherValue if the label has too many values.
func (u *usage) bounded(label, value string) string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	values := u.values[label]
	if values == nil {
		values = map[string]bool{}
		u.values[label] = values
	}
	if !values[value] {
		if len(values) >= maxLabelValues {
			return otherValue
		}
		values[value] = true
	}
	return value
}
