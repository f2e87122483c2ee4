package pages

import (
	"fmt"
	"net/url"

	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// paramAction is the parameter of an object's page with which a viewer asks what an action will do.
const paramAction = "action"

// actionsView is what a viewer may do with an object.
type actionsView struct {
	Buttons []buttonView
	// Offer is the action that the viewer asked for; nil if none.
	Offer *act.Offer
	// Done says what was done; empty if nothing was.
	Done string
	// Page is the address of the object's page.
	Page string
}

type buttonView struct {
	Title, Href string
	Danger      bool
}

// done are the sentences after an action.
var done = map[act.Verb]string{
	act.Suspend: "It is suspended.", act.Resume: "It was resumed.", act.Stop: "It is being stopped.", act.Rerun: "This is the new application.",
	act.Run: "This is the new run.", act.Scale: "The new number of workers was set.", act.Delete: "The object is being deleted.",
}

// Refusal is why an action cannot be offered.
type Refusal struct {
	Status  int
	Message string
}

// Error returns the message.
func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Status, r.Message) }

// actions returns what a viewer may do with an object.
func (p *page) actions(v *view, row *live.Row) (*actionsView, error) {
	view := &actionsView{Page: p.Prefix + hrefOf(row.Noun, row.Ref)}
	for _, button := range v.viewer.Buttons(v.Context(), row.Ref, act.Status{Suspended: row.Suspended, Ended: row.Noun == overview.Application && ended(row.Outcome)}) {
		view.Buttons = append(view.Buttons, buttonView{button.Title, view.Page + "?" + url.Values{paramAction: {string(button.Verb)}}.Encode(), button.Danger})
	}
	view.Done = done[act.Verb(v.URL.Query().Get(act.ParamDone))]
	if verb := v.URL.Query().Get(paramAction); verb != "" {
		offer, err := v.viewer.Offer(v.Context(), row.Ref, act.Verb(verb))
		if err != nil {
			return nil, err
		}
		view.Offer = offer
		p.Stream = "" // what is confirmed does not change under the viewer's hand
	}
	return view, nil
}
