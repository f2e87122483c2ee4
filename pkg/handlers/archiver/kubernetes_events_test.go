package archiver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// eventServer is an API server with a Kubernetes Event about each of some objects, on two pages. It keeps the first list waiting until held is closed.
type eventServer struct {
	held    chan struct{}
	objects []string
	// takes is how long each list takes.
	takes time.Duration
	// unlisted is the number that follows the first page.
	unlisted int64

	mu    sync.Mutex
	lists []string
}

func (s *eventServer) reader() *eventReader {
	core := kubefake.NewClientset()
	core.PrependReactor("list", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		<-s.held
		<-time.After(s.takes)
		options := action.(clienttesting.ListActionImpl).ListOptions
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lists = append(s.lists, strings.TrimSpace(options.FieldSelector+" "+options.Continue))
		list := &corev1.EventList{}
		for i, object := range s.objects {
			listed := options.FieldSelector == "involvedObject.uid="+object || options.FieldSelector == "" && (i < len(s.objects)/2) == (options.Continue == "")
			if listed {
				list.Items = append(list.Items, corev1.Event{Message: object, InvolvedObject: corev1.ObjectReference{UID: types.UID(object)}})
			}
		}
		if options.FieldSelector == "" && options.Continue == "" {
			list.Continue, list.RemainingItemCount = "page 2", &s.unlisted
		}
		return true, list, nil
	})
	return newEventReader(core.CoreV1())
}

// TestKubernetesEventsOfAttemptsAreReadTogether: what waits while a list is under way shares the next one. A list for each object would take the API server
// the number of Kubernetes Events times that of attempts.
func TestKubernetesEventsOfAttemptsAreReadTogether(t *testing.T) {
	const first = "involvedObject.uid=app-0 involvedObject.uid=driver-0"
	for name, test := range map[string]struct {
		attempts int
		unlisted int64
		want     string
	}{
		"one":  {attempts: 1, want: first},
		"few":  {attempts: 2, want: first + " involvedObject.uid=app-1 involvedObject.uid=driver-1"},
		"many": {attempts: 9, want: first + " page 2"},
		"in too many pages": {attempts: 4, unlisted: maxEventsShared + 1, want: first + " involvedObject.uid=app-1 involvedObject.uid=app-2" +
			" involvedObject.uid=app-3 involvedObject.uid=driver-1 involvedObject.uid=driver-2 involvedObject.uid=driver-3"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &eventServer{held: make(chan struct{}), unlisted: test.unlisted}
				for i := range 20 {
					s.objects = append(s.objects, fmt.Sprintf("app-%d", i), fmt.Sprintf("driver-%d", i))
				}
				reader := s.reader()
				for i := range test.attempts {
					go func() {
						app, driver := types.UID(fmt.Sprintf("app-%d", i)), types.UID(fmt.Sprintf("driver-%d", i))
						items, truncated, err := reader.of(t.Context(), "team-a", app, driver)
						if err != nil || truncated || len(items) != 2 || items[0].InvolvedObject.UID != app || items[1].InvolvedObject.UID != driver {
							t.Errorf("attempt %d has %v; truncated: %t; %v", i, items, truncated, err)
						}
					}()
					synctest.Wait()
				}
				close(s.held)
				synctest.Wait()
				rest := s.lists[2:]
				slices.Sort(s.lists[:2])
				slices.Sort(rest)
				if got := strings.Join(strings.Fields(strings.Join(s.lists, " ")), " "); got != test.want {
					t.Errorf("the lists are\n%q, want\n%q", got, test.want)
				}
				if len(reader.next) > 0 {
					t.Errorf("%d readings are left", len(reader.next))
				}
			})
		})
	}
}

func TestAnAttemptThatIsOverLeavesTheReadingToTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &eventServer{held: make(chan struct{}), objects: []string{"app-0", "app-1"}}
		reader := s.reader()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if _, _, err := reader.of(ctx, "team-a", "app-0"); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
		}()
		synctest.Wait()
		go func() {
			if items, _, err := reader.of(t.Context(), "team-a", "app-1"); err != nil || len(items) != 1 {
				t.Errorf("the other has %v; %v", items, err)
			}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(s.held)
		synctest.Wait()
	})
}

// Attempts end one after the other in a burst. A reading for each, or for those that end while another one is under way, would take the API server the square of their number.
func TestAttemptsThatEndSoonAfterAReadingShareTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &eventServer{held: make(chan struct{}), takes: time.Second}
		close(s.held)
		reader, begun := s.reader(), time.Now()
		var readings sync.WaitGroup
		for i := range 60 {
			readings.Go(func() {
				<-time.After(time.Duration(i) * 50 * time.Millisecond)
				if _, _, err := reader.of(t.Context(), "team-a", types.UID(fmt.Sprint("app-", i)), types.UID(fmt.Sprint("driver-", i))); err != nil {
					t.Errorf("attempt %d: %v", i, err)
				}
			})
		}
		readings.Wait()
		if got := strings.Join(s.lists[2:], " "); got != " page 2" || time.Since(begun) > 4*time.Second+maxEventsRest {
			t.Errorf("after the first attempt, the lists are %q, after %s", got, time.Since(begun))
		}
		<-time.After(maxEventsRest)
		begun = time.Now()
		if _, _, err := reader.of(t.Context(), "team-a", "app-0"); err != nil || time.Since(begun) > time.Second {
			t.Errorf("an attempt that ends later waits for %s: %v", time.Since(begun), err)
		}
		<-time.After(maxEventsRest)
	})
}

// heldCore is an API server that lists Kubernetes Events once held is closed, and answers all else at once.
type heldCore struct {
	corev1client.CoreV1Interface
	held chan struct{}
}

func (c heldCore) Events(namespace string) corev1client.EventInterface {
	return heldEvents{c.CoreV1Interface.Events(namespace), c.held}
}

type heldEvents struct {
	corev1client.EventInterface
	held chan struct{}
}

func (e heldEvents) List(ctx context.Context, options metav1.ListOptions) (*corev1.EventList, error) {
	<-e.held
	return e.EventInterface.List(ctx, options)
}

// An attempt that waits in a slot keeps others from theirs. One whose driver runs, or is gone, has no time to wait before it has one.
func TestOnlyAnAttemptWhoseDriverEndedWaitsForKubernetesEventsWithoutASlot(t *testing.T) {
	code := int32(1)
	for name, test := range map[string]struct {
		end  *v1alpha1.AttemptEnd
		free int
	}{
		"the driver succeeded": {&v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}, maxJobsPerNamespace},
		"the driver failed":    {&v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, ExitCode: &code}, maxJobsPerNamespace},
		"it was stopped":       {&v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, Class: lifecycle.ClassStopped}, maxJobsPerNamespace - 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t)
				e.app.Status.Firesteel.Transitions[2].End = test.end
				if _, err := e.spark.SparkV1().SparkApplications(pi.Namespace).Update(t.Context(), e.app, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				a, held, done := e.archiver(e.clock), make(chan struct{}), make(chan error)
				a.events = newEventReader(heldCore{e.core.CoreV1(), held})
				event := e.event()
				go func() { done <- a.handler(e.spark, nil)(t.Context(), event) }()
				synctest.Wait()
				var free []func()
				for leave, ok := a.slots.TryAcquire(pi.Namespace); ok; leave, ok = a.slots.TryAcquire(pi.Namespace) {
					free = append(free, leave)
				}
				if len(free) != test.free {
					t.Errorf("%d slots are free, want %d", len(free), test.free)
				}
				for _, leave := range free {
					leave()
				}
				close(held)
				if err := <-done; err != nil || e.annotation() != "whole.uid-of-driver" {
					t.Errorf("the annotation is %q: %v", e.annotation(), err)
				}
			})
		})
	}
}

// Tenants write as many Events as they want about their own objects. What waits for a slot holds few.
func TestManyKubernetesEventsOfAnAttemptAreReadInItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lists := kubefake.NewClientset(), 0
		core.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			lists++
			list := &corev1.EventList{}
			for range 100 {
				list.Items = append(list.Items, corev1.Event{Message: strings.Repeat("x", 1000), InvolvedObject: corev1.ObjectReference{UID: "app"}})
			}
			return true, list, nil
		})
		joined := newEventReader(core.CoreV1()).join(t.Context(), "team-a", maxJoinedBytes, "app")
		joined.wait(t.Context())
		if len(joined.items) > 0 || !joined.crowded {
			t.Errorf("it holds %d", len(joined.items))
		}
		if items, truncated, err := joined.get(t.Context()); len(items) != 100 || truncated || err != nil || lists != 2 {
			t.Errorf("%d are read with %d lists; truncated: %t; %v", len(items), lists, truncated, err)
		}
	})
}

func TestKubernetesEventsOfAnObjectAreBounded(t *testing.T) {
	room := math.MaxInt
	reading := &eventReading{about: map[types.UID]*eventsOf{"app": {room: &room}}}
	for range maxEvents + 1 {
		reading.keep(&corev1.EventList{Items: []corev1.Event{
			{InvolvedObject: corev1.ObjectReference{UID: "app"}, ObjectMeta: metav1.ObjectMeta{Name: "x"}}, {InvolvedObject: corev1.ObjectReference{UID: "other"}},
		}})
	}
	if found := reading.about["app"]; len(found.items) != maxEvents || !found.truncated || len(reading.about) != 1 {
		t.Errorf("%d are kept, of %d objects; truncated: %t", len(found.items), len(reading.about), found.truncated)
	}
}
