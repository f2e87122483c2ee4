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
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

type eventsOptions struct {
	*verbs
	follow, allNamespaces bool
}

func (v *verbs) eventsCommand() *cobra.Command {
	e := &eventsOptions{verbs: v}
	command := &cobra.Command{
		Use: "events [NAME] [flags]", Aliases: []string{"event"}, Short: "Show transitions and Kubernetes Events, in order",
		Long: `Show the transitions of an object, from its record, and the Kubernetes Events about it and its Pods, in order. Without a name, those of all
objects of the namespace are shown.

` + target.NameHelp,
		Example: `  kubectl spark events etl -f
  kubectl spark events -A`,
		Args: func(command *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return nil
			case e.allNamespaces:
				return cli.Usage("-A is for the objects of all namespaces, and %s is one: leave one of them out", args[0])
			default:
				return cli.One("object")(command, args)
			}
		},
		RunE: func(command *cobra.Command, args []string) error {
			c, err := e.connect()
			if err != nil {
				return err
			}
			s := e.stream(c)
			if len(args) == 0 {
				return s.all(command.Context())
			}
			return s.one(command.Context(), args[0])
		},
	}
	command.Flags().BoolVarP(&e.follow, "follow", "f", false, "Go on with each that comes; of one object until it is gone.")
	command.Flags().BoolVarP(&e.allNamespaces, "all-namespaces", "A", false, "Show those of the objects of all namespaces.")
	return command
}

// EventsRequest are events that another verb prints.
type EventsRequest struct {
	Namespace, Name string
	// Follow goes on as events -f does.
	Follow bool
	// Print prints what has happened so far, and then each that comes.
	Print func([]Happening) error
}

// Events prints what happened to an application, as the verb events finds it.
func Events(ctx context.Context, o *cli.Options, request EventsRequest) error {
	c, err := connectTo(o, request.Namespace)
	if err != nil {
		return err
	}
	s := (&eventsOptions{verbs: &verbs{Options: o}, follow: request.Follow}).stream(c)
	s.print = request.Print
	return s.one(ctx, request.Name, overview.Application)
}

// Transition is the type of a transition.
const Transition = "Transition"

// Happening is a transition or a Kubernetes Event.
type Happening struct {
	Time time.Time
	// Namespace is that of the object.
	Namespace string
	// Type is Transition, or the type of an Event.
	Type string
	// Object is the attempt or the object that it is about.
	Object          string
	Reason, Message string
}

// stream prints what happens, each once.
type stream struct {
	*cluster
	*eventsOptions
	print func([]Happening) error
	// lock protects the following fields: the watches run at the same time.
	lock sync.Mutex
	// sequences are the sequence numbers of the last transition that was printed, by the UID of the object.
	sequences map[types.UID]int64
	// printed are the resourceVersions of the Events that were printed, by UID.
	printed map[types.UID]string
}

// maxRemembered bounds printed. The API server deletes Events after an hour.
const maxRemembered = 50_000

func (e *eventsOptions) stream(c *cluster) *stream {
	s := &stream{cluster: c, eventsOptions: e, sequences: map[types.UID]int64{}, printed: map[types.UID]string{}}
	table := columns{out: e.Out}
	headed := false
	s.print = func(all []Happening) error {
		var rows [][]string
		if !headed {
			headed = true
			rows = append(rows, e.cells("NAMESPACE", "TIME", "TYPE", "OBJECT", "REASON", "MESSAGE"))
		}
		for _, h := range all {
			rows = append(rows, e.cells(h.Namespace, h.Time.UTC().Format(time.RFC3339), h.Type, h.Object, h.Reason, oneLine(h.Message, 0)))
		}
		return table.print(rows, nil)
	}
	return s
}

// cells are those of a row. The namespace is the first.
func (e *eventsOptions) cells(cells ...string) []string {
	if !e.allNamespaces {
		return cells[1:]
	}
	return cells
}

// transitions returns those that were not printed yet. name begins what each is about; it may be empty.
func (s *stream) transitions(o *overview.Object, name string) (all []Happening) {
	if o.Record == nil {
		return nil
	}
	uid := o.Source.GetUID()
	for _, t := range o.Record.Transitions {
		if t.Sequence <= s.sequences[uid] {
			continue
		}
		s.sequences[uid] = t.Sequence
		message := t.Message
		if t.End != nil {
			message = cmp.Or(t.End.Message, message)
		}
		all = append(all, Happening{t.Time.Time, o.Namespace(), Transition, name + "attempt " + strconv.FormatInt(t.Attempt, 10), t.State, message})
	}
	return all
}

// event returns a Kubernetes Event as a Happening; false if it was printed already.
func (s *stream) event(event *corev1.Event) (Happening, bool) {
	if version, ok := s.printed[event.UID]; ok && version == event.ResourceVersion && version != "" {
		return Happening{}, false
	}
	if len(s.printed) >= maxRemembered {
		clear(s.printed)
	}
	s.printed[event.UID] = event.ResourceVersion
	message := event.Message
	if event.Count > 1 {
		message += fmt.Sprintf(" (%d times)", event.Count)
	}
	about := event.InvolvedObject
	return Happening{why.LastSeen(event), cmp.Or(about.Namespace, event.Namespace), cmp.Or(event.Type, "Event"), about.Kind + "/" + about.Name, event.Reason, message}, true
}

// first prints what has happened so far, in order.
func (s *stream) first(all []Happening) error {
	if len(all) == 0 && !s.eventsOptions.follow {
		fmt.Fprintln(s.ErrOut, "Nothing has happened that is still known.")
		return nil
	}
	slices.SortStableFunc(all, func(a, b Happening) int { return a.Time.Compare(b.Time) })
	return s.print(all)
}

// printNow prints what has just happened.
func (s *stream) printNow(all ...Happening) {
	if len(all) > 0 {
		_ = s.print(all) // an error of the stream repeats itself
	}
}
