package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkATransitionBecomesAnEvent says how long it takes at the median, where nothing else is to be done, from the
// change of a driver Pod until the event of it is at the sink: event-ms. Of that the API server alone needs raw-ms, for
// the watch that tells of the change and for one write of a status; ratio is the one by the other.
func BenchmarkATransitionBecomesAnEvent(b *testing.B) {
	s := newScene(b)
	s.ownController(controller{sink: s.sink.url()})
	var events, raws []time.Duration
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		name := fmt.Sprintf("pi-%d", i)
		s.create(App(name))
		s.untilState(name, "DriverRequested")
		d := s.driver(name, 0)
		b.StartTimer()

		events = append(events, s.untilEvent(name, "DriverStarted", func() { d.start() }))
		raws = append(raws, s.rawTurn(d))

		b.StopTimer()
		s.delete(name)
		untilGone(s, s.apps(), name)
		b.StartTimer()
	}
	event, raw := median(events), median(raws)
	b.ReportMetric(milliseconds(event), "event-ms")
	b.ReportMetric(milliseconds(raw), "raw-ms")
	b.ReportMetric(float64(event)/float64(raw), "ratio")
}

// untilEvent is the time from before something is done until the event of a state is delivered.
func (s *scene) untilEvent(name, state string, do func()) time.Duration {
	s.Helper()
	begin := time.Now()
	do()
	for _, d := range s.untilDelivered(state+" of "+name, func(heard []delivery) bool {
		return slices.ContainsFunc(heard, func(d delivery) bool { return d.Application == name && d.State == state })
	}) {
		if d.Application == name && d.State == state {
			return d.At.Sub(begin)
		}
	}
	panic("unreachable: it was delivered")
}

// rawTurn is the time from before a Pod's change until a watch tells of it and a status is written after that.
func (s *scene) rawTurn(d *driver) time.Duration {
	s.Helper()
	pods := s.kube.CoreV1().Pods(s.ns)
	w, err := pods.Watch(s.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + d.Name})
	s.must(err)
	defer w.Stop()
	<-w.ResultChan() // the Pod as it is
	write := func(message string) {
		patch, err := json.Marshal(map[string]any{"status": corev1.PodStatus{Message: message}})
		s.must(err)
		_, err = pods.Patch(s.Context(), d.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		s.must(err)
	}
	begin := time.Now()
	write("once")
	for event := range w.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && event.Type == watch.Modified && pod.Status.Message == "once" {
			break
		}
	}
	write("twice")
	return time.Since(begin)
}

func median(durations []time.Duration) time.Duration {
	slices.Sort(durations)
	return durations[len(durations)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
