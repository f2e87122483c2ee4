package events

// Attribute is a context attribute of events.
type Attribute struct {
	// Name is the name in the CloudEvents format.
	Name string
	// On names the events that have the attribute.
	On Presence
	// Description is published for subscribers.
	Description string
	// Pattern is a regular expression for the whole value.
	Pattern string
}

// Presence names the events that have an attribute.
type Presence string

// The values of Presence are shown in the published table.
const (
	OnAll         Presence = "all"
	OnTransitions Presence = "transitions"
	OnEnds        Presence = "the end of an attempt"
	OnOutcomes    Presence = "the end of an attempt, the last transition"
	OnLast        Presence = "the last transition"
)

// RequiredOn reports whether every event of the type has the attribute.
func (a Attribute) RequiredOn(t Type) bool {
	return a.On == OnAll || a.On == OnTransitions && !t.Clock()
}

// AllowedOn reports whether an event of the type may have the attribute.
func (a Attribute) AllowedOn(t Type) bool {
	return a.RequiredOn(t) || !t.Clock() && (a.On != OnEnds || t.EndsAttempt)
}

// Attributes lists all attributes of Firesteel's events. Triggers can filter by the extensions among them.
var Attributes = []Attribute{
	{
		Name: "specversion", On: OnAll, Pattern: `1\.0`, Description: "`1.0`",
	}, {
		Name: "id", On: OnAll, Pattern: `[0-9a-z-]+\..+`,
		Description: "`<uid>.<sequence>`, or `<uid>.<instant>` for a clock event. The same transition or instant always has the same id",
	}, {
		Name: "source", On: OnAll, Pattern: `/apis/[^/]+/namespaces/[^/]+/[^/]+/[^/]+/[^/]+|/api/namespaces/[^/]+/[^/]+`,
		Description: "`/apis/<group>/namespaces/<namespace>/<resource>/<name>/<uid>`, of a Namespace `/api/namespaces/<name>/<uid>`",
	}, {
		Name: "type", On: OnAll, Pattern: `dev\.firesteel\.[a-z]+\.[a-z-]+\.v[0-9]+`, Description: "see above",
	}, {
		Name: "dataschema", On: OnAll, Pattern: `https://.+`, Description: "names the JSON schema of the data; see above",
	}, {
		Name: "datacontenttype", On: OnAll, Pattern: `application/json`, Description: "`application/json`",
	}, {
		Name: "subject", On: OnAll, Pattern: `[^/]+/[^/]+`, Description: "`<namespace>/<name>`; a Namespace is in itself",
	}, {
		Name: "time", On: OnAll, Pattern: `[0-9]{4}-[0-9]{2}-[0-9]{2}T.+Z`,
		Description: "when the transition happened, not when it was sent; the instant of a clock event",
	}, {
		Name: ExtensionKind, On: OnAll, Pattern: `[A-Z][A-Za-z]+`, Description: "the kind of the application, cluster, schedule or Namespace",
	}, {
		Name: ExtensionNamespace, On: OnAll, Pattern: `[a-z0-9-]+`, Description: "its namespace",
	}, {
		Name: ExtensionName, On: OnAll, Pattern: `[a-z0-9.-]+`, Description: "its name",
	}, {
		Name: ExtensionSequence, On: OnTransitions, Pattern: `[0-9]{10,}`,
		Description: "the number of the transition within its source, from `0000000001`, without gaps",
	}, {
		Name: ExtensionState, On: OnTransitions, Pattern: `[A-Z][A-Za-z]+`,
		Description: "the lifecycle state that began; `Degraded` also if the status of a cluster still shows `RunningHealthy`",
	}, {
		Name: ExtensionAttempt, On: OnTransitions, Pattern: `[0-9]+`, Description: "the attempt, from `0`",
	}, {
		Name: ExtensionOutcome, On: OnOutcomes, Pattern: `Succeeded|Failed|Deleted`,
		Description: "`Succeeded` or `Failed`; on the last transition also `Deleted`, if the object was deleted before its end",
	}, {
		Name: ExtensionRestartAllowed, On: OnEnds, Pattern: `true|false`,
		Description: "`true` if the spec allows another attempt, otherwise `false`",
	}, {
		Name: ExtensionFinal, On: OnLast, Pattern: `true`,
		Description: "`true`: the application or cluster has ended for good, with `sparkoutcome`",
	},
}
