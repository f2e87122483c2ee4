package see

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type eventsOptions struct {
	*verbs
	follow bool
}

func (v *verbs) eventsCommand() *cobra.Command {
	e := &eventsOptions{verbs: v}
	command := &cobra.Command{
		Use: "events NAME [flags]", Aliases: []string{"event"}, Short: "Show transitions and Kubernetes Events, in order",
		Long: `Show the transitions of an object, from its record, and the Kubernetes Events about it and its Pods, in order.

` + target.NameHelp,
		Args: cli.One("object"),
		RunE: func(command *cobra.Command, args []string) error { return e.run(command.Context(), args[0]) },
	}
	command.Flags().BoolVarP(&e.follow, "follow", "f", false, "Go on with each that comes, until the object is gone.")
	return command
}

// happening is a transition or a Kubernetes Event.
type happening struct {
	at                            time.Time
	source, object, what, message string
}

func (h happening) cells() []string {
	return []string{h.at.UTC().Format(time.RFC3339), h.source, h.object, h.what, oneLine(h.message, 0)}
}

func (e *eventsOptions) run(ctx context.Context, name string) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	found, o, err := c.find(ctx, name)
	if err != nil {
		return err
	}
	s := &stream{cluster: c, eventsOptions: e, found: found, columns: columns{out: e.Out}, printed: map[string]string{}}
	if err := s.first(ctx, o); err != nil {
		return err
	}
	if !e.follow {
		return nil
	}
	return s.follow(ctx, o)
}

// stream prints what happens once.
type stream struct {
	*cluster
	*eventsOptions
	found *target.Found
	lock  sync.Mutex
	columns
	// sequence is that of the last transition that was printed, and printed are the Events by their uid, with the version.
	sequence int64
	printed  map[string]string
	// pods are the names of the Pods of the object, and others those of Pods that are not.
	pods, others map[string]bool
}

// transitions returns those that were not printed yet.
func (s *stream) transitions(o *overview.Object) (all []happening) {
	if o.Record == nil {
		return nil
	}
	for _, t := range o.Record.Transitions {
		if t.Sequence <= s.sequence {
			continue
		}
		s.sequence = t.Sequence
		message := t.Message
		if t.End != nil {
			message = cmp.Or(t.End.Message, message)
		}
		all = append(all, happening{
			t.Time.Time, "Transition", "attempt " + strconv.FormatInt(t.Attempt, 10), t.State, message,
		})
	}
	return all
}

// ofEvent returns what an Event says; nil if that was printed already.
func (s *stream) ofEvent(event *corev1.Event) *happening {
	if s.printed[string(event.UID)] == event.ResourceVersion && event.ResourceVersion != "" {
		return nil
	}
	s.printed[string(event.UID)] = event.ResourceVersion
	message := event.Message
	if event.Count > 1 {
		message += fmt.Sprintf(" (%d times)", event.Count)
	}
	return &happening{why.LastSeen(event), cmp.Or(event.Type, "Event"), event.InvolvedObject.Kind + "/" + event.InvolvedObject.Name, event.Reason, message}
}

// first prints what has happened so far.
func (s *stream) first(ctx context.Context, o *overview.Object) error {
	all := s.transitions(o)
	events, err := s.allEvents(ctx, o)
	if err != nil {
		s.Warn(fmt.Sprintf("Kubernetes Events cannot be read: %v", err))
	}
	for i := range events {
		if h := s.ofEvent(&events[i]); h != nil {
			all = append(all, *h)
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int { return a.at.Compare(b.at) })
	rows := [][]string{{"TIME", "TYPE", "OBJECT", "REASON", "MESSAGE"}}
	for _, h := range all {
		rows = append(rows, h.cells())
	}
	if len(all) == 0 && !s.eventsOptions.follow {
		fmt.Fprintln(s.ErrOut, "Nothing has happened that is still known.")
		return nil
	}
	return s.columns.print(rows, nil)
}

// allEvents returns the Events about an object and its Pods, and learns the names of the Pods.
func (s *stream) allEvents(ctx context.Context, o *overview.Object) ([]corev1.Event, error) {
	s.pods, s.others = map[string]bool{}, map[string]bool{}
	if err := s.learnPods(ctx, o); err != nil {
		return nil, err
	}
	list, err := s.kube.CoreV1().Events(o.Namespace()).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(event corev1.Event) bool { return !s.concerns(&event, o) }), nil
}

// learnPods learns the names of the Pods that an object has now. Names of Pods that are gone are kept.
func (s *stream) learnPods(ctx context.Context, o *overview.Object) error {
	pods, err := s.cluster.pods(ctx, o)
	if err != nil {
		return err
	}
	if pods.Driver != nil {
		s.pods[pods.Driver.Name] = true
	}
	for _, pod := range slices.Concat(pods.Executors, pods.Earlier) {
		s.pods[pod.Name] = true
	}
	if o.Record != nil {
		for _, t := range o.Record.Transitions {
			if t.DriverPod != "" {
				s.pods[t.DriverPod] = true
			}
		}
	}
	return nil
}

// concerns reports whether an Event is about an object or one of its Pods.
func (s *stream) concerns(event *corev1.Event, o *overview.Object) bool {
	if event.InvolvedObject.Kind == "Pod" {
		return s.pods[event.InvolvedObject.Name]
	}
	return event.InvolvedObject.UID == o.Source.GetUID() || event.InvolvedObject.UID == "" && event.InvolvedObject.Name == o.Name()
}

// follow prints what happens until the object is gone, or the context ends.
func (s *stream) follow(ctx context.Context, o *overview.Object) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go watched(ctx, "", func(options metav1.ListOptions) (watch.Interface, error) {
		return s.kube.CoreV1().Events(o.Namespace()).Watch(ctx, options)
	}, func(event watch.Event) {
		if happened, ok := event.Object.(*corev1.Event); ok && event.Type != watch.Deleted {
			s.printEvent(ctx, happened, o)
		}
	})
	gone := make(chan struct{})
	go watched(ctx, "", func(options metav1.ListOptions) (watch.Interface, error) {
		return s.watchObject(ctx, s.found.Resource, o.Namespace(), o.Name(), options)
	}, func(event watch.Event) {
		read, ok := event.Object.(*unstructured.Unstructured)
		if !ok || read.GetUID() != o.Source.GetUID() {
			return
		}
		if event.Type == watch.Deleted {
			close(gone)
			stop()
			return
		}
		if now, err := overview.Read(read); err == nil {
			s.printTransitions(now)
		}
	})
	select {
	case <-gone:
		fmt.Fprintln(s.ErrOut, "The object is gone.")
		return nil
	case <-ctx.Done():
		return nil // the user ended it
	}
}

func (s *stream) printTransitions(o *overview.Object) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, h := range s.transitions(o) {
		_ = s.columns.print([][]string{h.cells()}, nil) // an error of the stream repeats itself
	}
}

func (s *stream) printEvent(ctx context.Context, event *corev1.Event, o *overview.Object) {
	s.lock.Lock()
	defer s.lock.Unlock()
	name := event.InvolvedObject.Name
	if event.InvolvedObject.Kind == "Pod" && !s.pods[name] && !s.others[name] {
		if now, err := s.again(ctx, s.found); err == nil && now != nil {
			_ = s.learnPods(ctx, now) // asked again with the next Event
		}
		s.others[name] = !s.pods[name]
	}
	if !s.concerns(event, o) {
		return
	}
	if h := s.ofEvent(event); h != nil {
		_ = s.columns.print([][]string{h.cells()}, nil) // an error of the stream repeats itself
	}
}
