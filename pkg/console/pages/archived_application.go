package pages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The parameters of the page of an application, or a cluster, that ask for what the archive has.
const (
	// paramFrom is "archive" for the page of the archive, also while the object is there.
	paramFrom, fromArchive = "from", "archive"
	// paramUID is the uid of one of the applications that had the name, and paramAttempt the number of an attempt.
	paramUID, paramAttempt = "uid", "attempt"
	// paramObject is the file of an archived object.
	paramObject = "object"
)

const (
	// maxArchivedPods bounds the Pods that are read of one attempt.
	maxArchivedPods = 50
	// maxEarlier bounds the attempts whose transitions are read since the object has them no more.
	maxEarlier = 20
	// archiveReaders is how many objects a page reads at once.
	archiveReaders = 4
	// maxMissing bounds what is said to be missing of an attempt.
	maxMissing = 20
)

// The kinds of archived objects that pages read.
const (
	kindTransition, kindPod, kindEvent = "Transition", "Pod", "Event"
)

// archivedView is what a page says of an application, or a cluster, that the archive has.
type archivedView struct {
	// Cluster reports whether it is a cluster: all that is stored of it belongs to one attempt.
	Cluster bool
	// Archived is when the shown attempt was archived; without a time it is not archived to its end.
	Archived instant
	// Living is the address of the page of the object that is there; empty if there is none. Others lists all that had the name.
	Living, Others string
	// Missing is what is missing of the shown attempt, and More how many further parts.
	Missing []api.Missing
	More    int
	// Choices choose an attempt and maybe an object of it. Action is where the form is sent, and Hidden are its hidden fields.
	Choices []picker
	Action  string
	Hidden  map[string]string
}

// archived is an application, or a cluster, that the archive has.
type archived struct {
	Archive
	*api.Details
	noun overview.Kind
	// shown is the attempt that the page shows; nil if none is archived.
	shown *api.Attempt
}

// archivedApplication finds what the archive has of an application: the one with a uid, or else the newest that had the name. The attempt with the number is
// the shown one, or else the last.
func (s *Server) archivedApplication(ctx context.Context, v *view, ref live.Ref, uid, number string) (*archived, error) {
	store := v.viewer.Archive()
	noun, known := live.NounOf(ref.Resource)
	if !known || noun == overview.Schedule || store == nil {
		return nil, errNotFound
	}
	wanted := &api.Application{Namespace: ref.Namespace, Resource: ref.Resource, Name: ref.Name, UID: uid}
	if wanted.UID == "" {
		found, err := store.Named(ctx, ref.Namespace, ref.Resource, ref.Name)
		if err != nil {
			return nil, absent(err)
		}
		if len(found.Items) == 0 {
			return nil, errNotFound
		}
		wanted = &found.Items[0]
	}
	details, err := store.Details(ctx, wanted)
	if err != nil {
		return nil, absent(err)
	}
	a := &archived{Archive: store, Details: details, noun: noun}
	if count := len(a.Attempts); count > 0 {
		a.shown = &a.Attempts[count-1]
	}
	for i := range a.Attempts {
		if number == strconv.FormatInt(a.Attempts[i].Attempt, 10) {
			a.shown = &a.Attempts[i]
		}
	}
	return a, nil
}

// absent returns errNotFound for what the archive does not have, or does not show.
func absent(err error) error {
	if api.IsNotFound(err) {
		return errNotFound
	}
	return err
}

// notArchived returns the error about what the archive does not have. The viewer may read it, if it exists.
func notArchived(ref live.Ref, exists, hasArchive bool) error {
	switch noun, _ := live.NounOf(ref.Resource); {
	case noun == overview.Cluster && !hasArchive:
		return &Refusal{Status: http.StatusNotFound, Message: "There is no such cluster. This installation has no archive, so nothing is known of clusters that are gone."}
	case noun == overview.Cluster && exists:
		return &Refusal{Status: http.StatusNotFound, Message: "The archive has nothing of this cluster. " + howClustersAreArchived}
	case noun == overview.Cluster:
		return &Refusal{Status: http.StatusNotFound, Message: "There is no such cluster, and the archive has nothing of one that is gone. " + howClustersAreArchived}
	case exists && hasArchive:
		return &Refusal{Status: http.StatusNotFound, Message: "The archive has nothing of this application: an attempt is archived when it has ended."}
	}
	return errNotFound
}

const howClustersAreArchived = "It has clusters if the admin sets cluster-logs: follow in the ConfigMap config-archive."

// archived shows an application, or a cluster, as the archive has it. living is the object of the name that is there; nil if there is none.
func (s *Server) archived(v *view, ref live.Ref, living *live.Row) error {
	ctx, cancel := context.WithTimeout(v.Context(), archiveTimeout)
	defer cancel()
	a, err := s.archivedApplication(ctx, v, ref, v.URL.Query().Get(paramUID), v.URL.Query().Get(paramAttempt))
	if errors.Is(err, errNotFound) {
		return notArchived(ref, living != nil, v.viewer.Archive() != nil)
	}
	if err != nil {
		return err
	}
	section := sectionOf(a.noun)
	p := s.newPage(v.Request, ref.Name, section.name)
	s.viewed(p, v.viewer)
	href := p.Prefix + hrefOf(a.noun, ref)
	keep := url.Values{paramFrom: {fromArchive}, paramUID: {a.UID}}
	if a.shown != nil && v.URL.Query().Get(paramAttempt) != "" {
		keep.Set(paramAttempt, strconv.FormatInt(a.shown.Attempt, 10))
	}
	body := applicationView{Kind: a.Kind, Section: p.linkTo(section), NoRecord: "The archive has no record of transitions."}
	body.Tabs, body.Tab = tabs(a.tabs(), v.URL.Query().Get("tab"), href, keep)
	latest, found, err := s.archivedDetails(ctx, a, body.Tab)
	if err != nil {
		return err
	}
	row := latest.Row
	body.Archived = p.archivedView(a, body.Tab, href, v.URL.Query().Get(paramObject))
	if living != nil && living.UID == row.UID {
		body.Archived.Living = href
	}
	if body.Row = p.row(row); a.isCluster() {
		a.describeCluster(p, &body, found)
	} else {
		body.Reasons, body.Facts, body.Earlier, body.PodsHidden = latest.Reasons, p.facts(row), found.Earlier, found.PodsHidden
		parameters := url.Values{paramUID: {a.UID}}
		if a.shown != nil {
			parameters.Set(paramAttempt, strconv.FormatInt(a.shown.Attempt, 10))
		}
		body.Facts = append(body.Facts, s.sparkUI(v, ref, true, parameters)...)
		body.Compare, body.CompareText = p.compareWith(nameOf(ref, a.UID), ""), compareOne
	}
	switch body.Tab {
	case tabEvents:
		body.Attempts = p.attempts(found.Attempts)
		body.Kubernetes, err = p.archivedEvents(ctx, a)
	case tabYAML:
		body.Manifest, err = a.manifest(ctx, v.URL.Query().Get(paramObject))
	case tabLogs:
		p.Scripts = []string{"logs.js"}
		body.Log = a.log(ctx, v.URL.Query(), href)
	default:
		body.known(p, row, found, latest.Conditions)
	}
	if err != nil {
		return err
	}
	if a.isCluster() && body.Archived.Living == "" && len(body.Attempts) > 0 {
		body.Attempts[0].Status = body.Row.Status // the last attempt ended with the object, whatever its last state says
	}
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "application", p)
}

// archivedView returns what a page says of an application, or a cluster, beside its details.
func (p *page) archivedView(a *archived, tab, href, file string) *archivedView {
	view := &archivedView{
		Cluster: a.isCluster(),
		Others:  p.Prefix + "/archive?" + url.Values{paramNamespace: {a.Namespace}, paramResource: {a.Resource}, paramName: {a.Name}}.Encode(),
		Action:  href, Hidden: map[string]string{"tab": tab, paramFrom: fromArchive, paramUID: a.UID},
	}
	if a.shown == nil {
		return view
	}
	view.Missing = a.shown.Missing[:min(len(a.shown.Missing), maxMissing)]
	view.More = len(a.shown.Missing) - len(view.Missing)
	if a.shown.Archived != nil {
		view.Archived = p.clock.ago(*a.shown.Archived)
	}
	if tab == tabTimeline || tab == tabLogs { // the first has all attempts, the second a form of its own
		return view
	}
	if view.Choices = a.attemptPickers(); tab == tabYAML {
		objects := picker{Label: "Object", Name: paramObject}
		for _, object := range a.shown.Objects {
			objects.Options = append(objects.Options, option{object.File, object.Kind + " " + object.Name, object.File == a.fileOf(file)})
		}
		view.Choices = append(view.Choices, objects)
	}
	return view
}

// attemptPickers returns the choice of an attempt; none if it is a cluster.
func (a *archived) attemptPickers() []picker {
	if a.isCluster() {
		return nil
	}
	choice := picker{Label: "Attempt", Name: paramAttempt}
	for i := range slices.Backward(a.Attempts) {
		number := strconv.FormatInt(a.Attempts[i].Attempt, 10)
		choice.Options = append(choice.Options, option{number, strings.TrimSpace(number + " " + a.Attempts[i].State), &a.Attempts[i] == a.shown})
	}
	return []picker{choice}
}

// archivedDetails returns the application as it was at the end of its last attempt, and as it was at the end of the shown one.
func (s *Server) archivedDetails(ctx context.Context, a *archived, tab string) (latest, shown *live.Details, err error) {
	at := func(attempt *api.Attempt, all bool) (*live.Details, error) {
		return s.detailsAt(ctx, a, attempt, tab, all)
	}
	last := a.lastWithObject()
	if last == nil {
		described := a.described()
		return described, described, nil
	}
	other := a.shown != last && tab != tabTimeline && fileOf(a.shown, a.Kind) != ""
	if latest, err = at(last, !other); err != nil || !other {
		return latest, latest, err
	}
	shown, err = at(a.shown, true)
	return latest, shown, err
}

func (a *archived) lastWithObject() *api.Attempt {
	for i := range slices.Backward(a.Attempts) {
		if fileOf(&a.Attempts[i], a.Kind) != "" {
			return &a.Attempts[i]
		}
	}
	return nil
}

// fileOf returns the file of the first object of a kind; empty if there is none.
func fileOf(attempt *api.Attempt, kind string) string {
	if at := slices.IndexFunc(attempt.Objects, func(o api.Object) bool { return o.Kind == kind }); at >= 0 {
		return attempt.Objects[at].File
	}
	return ""
}

// detailsAt returns the application as it was at the end of an attempt. all reports whether the Pods are wanted, too.
func (s *Server) detailsAt(ctx context.Context, a *archived, attempt *api.Attempt, tab string, all bool) (*live.Details, error) {
	past := live.Past{Resource: a.Resource, Object: &unstructured.Unstructured{}, Attempt: attempt.Attempt}
	if err := a.Object(ctx, &a.Application, attempt.Attempt, fileOf(attempt, a.Kind), &past.Object.Object); err != nil {
		return nil, absent(err)
	}
	var err error
	if all && tab != tabLogs && tab != tabYAML {
		if past.Pods, past.PodsHidden, err = a.pods(ctx, attempt); err != nil {
			return nil, err
		}
	}
	if tab == tabTimeline || tab == tabEvents {
		if past.Earlier, err = a.earlier(ctx, past.Object); err != nil {
			return nil, err
		}
	}
	past.Usage = map[int64]v1alpha1.Usage{}
	for i := range a.Attempts {
		var used archive.Usage
		if json.Unmarshal(a.Attempts[i].Usage, &used) == nil { // else it is not archived
			past.Usage[a.Attempts[i].Attempt] = used.Attempt
			past.Total = &used.Application
		}
	}
	found, err := past.Details(s.options.Source.Settings(), s.options.Clock.Now())
	if err != nil {
		return a.described(), nil // the object cannot be read: its YAML can
	}
	return found, nil
}

// described returns what the archive knows of an application without its object.
func (a *archived) described() *live.Details {
	row := &live.Row{
		Ref: live.Ref{Namespace: a.Namespace, Resource: a.Resource, Name: a.Name}, APIVersion: a.APIVersion, Kind: a.Kind, Noun: a.noun, Labels: a.Labels,
		UID: types.UID(a.UID), State: cmp.Or(a.State, "New"), Outcome: archivedOutcome(a.Outcome), Attempt: a.Application.Attempt, Sentence: a.Message, Created: a.Created,
	}
	if a.Ended != nil {
		row.Ended, row.Since = *a.Ended, *a.Ended
	}
	found := &live.Details{Row: row}
	for i := range a.Attempts {
		attempt := &a.Attempts[i]
		known := live.Attempt{Attempt: attempt.Attempt, ApplicationID: attempt.ApplicationID, Outcome: archivedOutcome(attempt.Outcome), Message: attempt.Message}
		if attempt.Began != nil && attempt.Ended != nil {
			known.Began, known.Ended = *attempt.Began, *attempt.Ended
		}
		found.Attempts = append(found.Attempts, known)
	}
	return found
}

// archivedOutcome returns the outcome of an application or an attempt in the archive.
func archivedOutcome(outcome string) live.Outcome {
	return live.Outcome(strings.ToLower(cmp.Or(outcome, string(overview.Waiting))))
}

// pods reads the Pods of an attempt, that of the driver first. hidden reports whether the viewer may not read some of them.
func (a *archived) pods(ctx context.Context, attempt *api.Attempt) (pods []corev1.Pod, hidden bool, err error) {
	stored := slices.DeleteFunc(slices.Clone(attempt.Objects), func(o api.Object) bool { return o.Kind != kindPod })
	slices.SortFunc(stored, func(x, y api.Object) int { // executors have longer names than the driver, and later ones longer names than earlier ones
		return cmp.Or(cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name))
	})
	stored = stored[:min(len(stored), maxArchivedPods)]
	all := make([]*corev1.Pod, len(stored))
	err = each(ctx, len(stored), func(ctx context.Context, i int) error {
		pod := &corev1.Pod{}
		err := a.Object(ctx, &a.Application, attempt.Attempt, stored[i].File, pod)
		if err == nil {
			all[i] = pod
		}
		if api.IsNotFound(err) {
			return nil
		}
		return err
	})
	for _, pod := range all {
		if pod == nil {
			hidden = true
			continue
		}
		pods = append(pods, *pod)
	}
	return pods, hidden && len(pods) == 0, err
}

// each does some work for numbers from 0 on, a few at once.
func each(ctx context.Context, count int, work func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(archiveReaders)
	for i := range count {
		group.Go(func() error { return work(ctx, i) })
	}
	return group.Wait()
}

// transitions are the content of an object of the kind Transition.
type transitions struct {
	Items []v1alpha1.Transition `json:"items"`
}

// earlier reads the transitions of attempts that the record of an object does not have from their beginning.
func (a *archived) earlier(ctx context.Context, object *unstructured.Unstructured) ([]v1alpha1.Transition, error) {
	known, _, _ := unstructured.NestedSlice(object.Object, "status", "firesteel", "transitions")
	if len(known) == 0 {
		return nil, nil
	}
	first, _ := known[0].(map[string]any)
	number, _, _ := unstructured.NestedFloat64(first, "attempt")
	var attempts []*api.Attempt
	for i := range a.Attempts {
		if attempt := &a.Attempts[i]; attempt.Attempt <= int64(number) && fileOf(attempt, kindTransition) != "" {
			attempts = append(attempts, attempt)
		}
	}
	attempts = attempts[max(len(attempts)-maxEarlier, 0):]
	read := make([]transitions, len(attempts))
	err := each(ctx, len(attempts), func(ctx context.Context, i int) error {
		err := a.Object(ctx, &a.Application, attempts[i].Attempt, fileOf(attempts[i], kindTransition), &read[i])
		if api.IsNotFound(err) { // retention deleted it meanwhile
			return nil
		}
		return err
	})
	var all []v1alpha1.Transition
	for _, of := range read {
		all = append(all, of.Items...)
	}
	return all, err
}

// archivedEvents reads the Kubernetes Events of the shown attempt, the newest first.
func (p *page) archivedEvents(ctx context.Context, a *archived) (*eventsView, error) {
	view := &eventsView{None: "There were none."}
	if a.shown == nil || fileOf(a.shown, kindEvent) == "" {
		view.Problem = "The archive has none of this attempt."
		return view, nil
	}
	var list corev1.EventList
	err := a.Object(ctx, &a.Application, a.shown.Attempt, fileOf(a.shown, kindEvent), &list)
	if problem, ok := explained(err); ok {
		view.Problem = "The Kubernetes Events cannot be read: " + problem
		return view, nil
	}
	view.Rows = p.eventViews(list.Items)
	return view, err
}

// fileOf returns a file if the shown attempt has it, or else that of the application.
func (a *archived) fileOf(file string) string {
	if slices.ContainsFunc(a.shown.Objects, func(o api.Object) bool { return o.File == file }) {
		return file
	}
	return fileOf(a.shown, a.Kind)
}

// manifest returns an object of the shown attempt as YAML.
func (a *archived) manifest(ctx context.Context, file string) (*manifestView, error) {
	view := &manifestView{When: "the attempt ended"}
	if a.isCluster() {
		view.When = "it was there last"
	}
	if a.shown == nil || a.fileOf(file) == "" {
		view.Problem = "The archive has no such object of this attempt."
		return view, nil
	}
	object := &unstructured.Unstructured{}
	err := a.Object(ctx, &a.Application, a.shown.Attempt, a.fileOf(file), &object.Object)
	if problem, ok := explained(err); ok {
		view.Problem = "The object cannot be read: " + problem
		return view, nil
	}
	if err != nil {
		return nil, err
	}
	view.Text, err = manifestOf(object)
	return view, err
}
