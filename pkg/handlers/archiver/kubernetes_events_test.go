package archiver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// eventServer is an API server with a Kubernetes Event about each of some objects, on two pages. It keeps the first list waiting until held is closed.
type eventServer struct {
	held    chan struct{}
	objects []string
	// unlisted is the number that follows the first page.
	unlisted int64

	mu    sync.Mutex
	lists []string
}

func (s *eventServer) reader() *eventReader {
	core := kubefake.NewClientset()
	core.PrependReactor("list", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		<-s.held
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

func TestKubernetesEventsOfAnObjectAreBounded(t *testing.T) {
	reading := &eventReading{about: map[types.UID]*eventsOf{"app": {}}}
	for range maxEvents + 1 {
		reading.keep(&corev1.Event{InvolvedObject: corev1.ObjectReference{UID: "app"}, ObjectMeta: metav1.ObjectMeta{Name: "x"}})
		reading.keep(&corev1.Event{InvolvedObject: corev1.ObjectReference{UID: "other"}})
	}
	if found := reading.about["app"]; len(found.items) != maxEvents || !found.truncated || len(reading.about) != 1 {
		t.Errorf("%d are kept, of %d objects; truncated: %t", len(found.items), len(reading.about), found.truncated)
	}
}
