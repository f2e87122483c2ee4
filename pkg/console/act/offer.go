package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apirand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// Offer is an action on an object as it is now, for the page on which the user confirms it.
type Offer struct {
	Button
	// Action is where the form is sent.
	Action string
	// Effect is what the action will do.
	Effect string
	// Refusal is why it cannot be done, or why nothing is left to do; empty if it can be done. Then there is no form.
	Refusal string
	// Warning is what the user should know besides; empty if nothing.
	Warning string
	// Fields are those that the user fills in, and Hidden the others. The token of the form comes with them.
	Fields, Hidden []Field
}

// Field is a field of a form.
type Field struct {
	Name, Label, Help, Value string
	// Type is text, number, textarea or checkbox.
	Type     string
	Required bool
	MaxBytes int
}

// Names of fields.
const (
	fieldResource, fieldNamespace, fieldName = "resource", "namespace", "object"
	fieldUID, fieldShown                     = "uid", "shown"
	fieldReason, fieldWorkers, fieldNewName  = "reason", "workers", "name"
	fieldChanges, fieldConcurrent            = "set", "concurrent"
	// fieldEnd is the random end of a name. It comes with the form, so that a form that is sent twice creates one application.
	fieldEnd = "end"
)

// Offer reads an object with the user's identity, and says what an action will do to it. Its errors are made for people by Explain.
func (a *Actions) Offer(ctx context.Context, s *session.Session, ref Ref, verb Verb) (*Offer, error) {
	subject, kind, err := a.subject(ctx, s, ref, verb)
	if err != nil {
		return nil, err
	}
	button, _ := buttonOf(kind, verb)
	offer := &Offer{Button: button, Action: a.Prefix() + "/actions/" + string(verb), Fields: fieldsOf(verb, subject)}
	plan, err := a.offered(subject, verb)
	switch {
	case err != nil:
		offer.Refusal = sentence(err.Error())
		return offer, nil
	case plan.Nothing != "":
		offer.Refusal = sentence(subject.Reference() + " " + plan.Nothing)
		return offer, nil
	}
	switch err := s.Check(ctx, rightTo(verb, kind, ref)); {
	case errors.Is(err, access.ErrNotAllowed):
		offer.Refusal = sentence("you may not do that: " + err.Error())
		return offer, nil
	case err != nil:
		return nil, err
	}
	offer.Effect, offer.Warning = plan.Effect, sentence(plan.Warning)
	offer.Hidden = []Field{
		{Name: fieldResource, Value: ref.Resource}, {Name: fieldNamespace, Value: ref.Namespace}, {Name: fieldName, Value: ref.Name},
		{Name: fieldUID, Value: string(subject.GetUID())}, {Name: fieldShown, Value: shown(subject, plan)},
	}
	if verb == Rerun {
		offer.Hidden = append(offer.Hidden, Field{Name: fieldEnd, Value: apirand.String(endLength)})
	}
	return offer, nil
}

// endLength is the length of the random end of a name, as that which Kubernetes makes.
const endLength = 5

// nameOfRerun returns the name of a new application: the one that the user wrote or, without it, the one of the form.
func nameOfRerun(s *actions.Subject, form url.Values) string {
	name, end := strings.TrimSpace(form.Get(fieldNewName)), form.Get(fieldEnd)
	if name == "" && len(end) == endLength {
		return actions.NameOfRerun(s.GetName(), end)
	}
	return name
}

// subject reads the object of an action.
func (a *Actions) subject(ctx context.Context, s *session.Session, ref Ref, verb Verb) (*actions.Subject, actions.Kind, error) {
	kind, known := ref.kind()
	if _, ok := buttonOf(kind, verb); !known || !ok {
		return nil, kind, errNoAction
	}
	if !a.Allowed() {
		return nil, kind, errOff
	}
	client, err := a.Clients.Of(s)
	if err != nil {
		return nil, kind, fmt.Errorf("create client: %w", err)
	}
	subject, err := read(ctx, client, kind, ref)
	return subject, kind, err
}

func buttonOf(kind actions.Kind, verb Verb) (Button, bool) {
	of := buttons[kind.Noun]
	i := slices.IndexFunc(of, func(b Button) bool { return b.Verb == verb })
	if i < 0 {
		return Button{}, false
	}
	return of[i], true
}

// shown identifies what the user was shown: the object, its spec and what the action will do. A status that changes nothing of that may change.
func shown(s *actions.Subject, plan *actions.Plan) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(s.GetUID()), strconv.FormatInt(s.GetGeneration(), 10), plan.Effect, plan.Warning}, "\x00")))
	const enough = 16
	return hex.EncodeToString(sum[:enough])
}

// fieldsOf returns the fields that the user fills in.
func fieldsOf(verb Verb, s *actions.Subject) []Field {
	switch verb {
	case Stop:
		return []Field{{Name: fieldReason, Label: "Reason", Help: "Conditions and events repeat it, with your name.", Type: "text", MaxBytes: actions.MaxReason}}
	case Scale:
		workers := ""
		if cluster, ok := s.View.Typed.(*sparkv1.SparkCluster); ok {
			workers = strconv.Itoa(int(cluster.Spec.ClusterTolerations.InstanceConfig.InitWorkers))
		}
		return []Field{{Name: fieldWorkers, Label: "Workers", Type: "number", Value: workers, Required: true}}
	case Rerun:
		return []Field{
			{Name: fieldNewName, Label: "Name", Help: "Empty: the name of this application with a random end.", Type: "text", MaxBytes: 253},
			{Name: fieldChanges, Label: "Changes", Type: "textarea", MaxBytes: maxChangesBytes, Help: "One FIELD=VALUE a line, such as driver.memoryOverhead=2g or " +
				"sparkConf.spark.sql.shuffle.partitions=8. image, driver.memory, driver.cores, executor.memory, executor.cores and executor.instances are understood for every API."},
		}
	case Run:
		return []Field{{Name: fieldConcurrent, Label: "Although another run is active", Type: "checkbox", Value: "true"}}
	default:
		return nil
	}
}

// maxChangesBytes bounds the changes of a rerun.
const maxChangesBytes = 64 << 10

// defaults are the values of a form that the user has not filled in. A run is offered even if another one is active.
func defaults(fields []Field) url.Values {
	values := url.Values{}
	for _, field := range fields {
		values.Set(field.Name, field.Value)
	}
	return values
}

// offered returns an action on an object as the user is shown it, before the form is filled in.
func (a *Actions) offered(s *actions.Subject, verb Verb) (*actions.Plan, error) {
	if verb == Scale {
		return actions.Scalable(s)
	}
	return a.plan(s, verb, defaults(fieldsOf(verb, s)))
}

// plan returns an action on an object, with the values of the form.
func (a *Actions) plan(s *actions.Subject, verb Verb, form url.Values) (*actions.Plan, error) {
	switch verb {
	case Suspend:
		return actions.Suspend(s)
	case Resume:
		return actions.Resume(s)
	case Stop:
		return actions.Stop(s, form.Get(fieldReason))
	case Delete:
		return actions.Remove(s), nil
	case Run:
		return actions.Run(s, form.Get(fieldConcurrent) != "", a.Clock.Now())
	case Scale:
		workers, err := strconv.Atoi(strings.TrimSpace(form.Get(fieldWorkers)))
		if err != nil {
			return nil, actions.Invalid("workers is %.20q: write a number", form.Get(fieldWorkers))
		}
		return actions.Scale(s, workers)
	case Rerun:
		lines := slices.DeleteFunc(strings.FieldsFunc(form.Get(fieldChanges), func(r rune) bool { return r == '\n' || r == '\r' }), func(line string) bool {
			return strings.TrimSpace(line) == ""
		})
		changes, err := actions.ParseChanges(lines)
		if err != nil {
			return nil, err
		}
		return actions.Rerun(s, nameOfRerun(s, form), changes)
	default:
		return nil, errNoAction
	}
}

// sentence makes a text a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	return strings.TrimSuffix(text, ".") + "."
}
