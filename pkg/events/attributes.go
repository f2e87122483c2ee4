package events

// Attribute is a context attribute of events.
type Attribute struct {
	// Name is the attribute's, as CloudEvents have it.
	Name string
	// On says which events have it.
	On Presence
	// Description is for the people who filter by it.
	Description string
	// Pattern is a regular expression that the whole value matches, where it is not that of another attribute.
	Pattern string
}

// Presence says which events have an attribute.
type Presence string

// The presences, in words for a table.
const (
	OnAll         Presence = "all"
	OnTransitions Presence = "transitions"
	OnEnds        Presence = "the end of an attempt"
	OnOutcomes    Presence = "the end of an attempt, the last transition"
	OnLast        Presence = "the last transition"
)

// RequiredOn says that every event of a type has the attribute.
func (a Attribute) RequiredOn(t Type) bool {
	return a.On == OnAll || a.On == OnTransitions && !t.Clock()
}

// AllowedOn says that an event of a type may have the attribute.
func (a Attribute) AllowedOn(t Type) bool {
	return a.RequiredOn(t) || !t.Clock() && (a.On != OnEnds || t.EndsAttempt)
}

// Attributes are all that Firesteel's events have. The extensions among them are for the filters of Triggers.
var Attributes = []Attribute{
	{
		Name: "specversion", On: OnAll, Pattern: `1\.0`, Description: "`1.0`",
	}, {
		Name: "id", On: OnAll, Pattern: `[0-9a-z-]+\..+`,
		Description: "`<uid>.<sequence>`; of a clock event `<uid>.<instant>`. The same happening always has the same id",
	}, {
		Name: "source", On: OnAll, Pattern: `/apis/[^/]+/namespaces/[^/]+/[^/]+/[^/]+/[^/]+`,
		Description: "`/apis/<group>/namespaces/<namespace>/<resource>/<name>/<uid>`",
	}, {
		Name: "type", On: OnAll, Pattern: `dev\.firesteel\.[a-z]+\.[a-z-]+\.v[0-9]+`, Description: "see above",
	}, {
		Name: "dataschema", On: OnAll, Pattern: `https://.+`, Description: "names the JSON schema of the data; see above",
	}, {
		Name: "datacontenttype", On: OnAll, Pattern: `application/json`, Description: "`application/json`",
	}, {
		Name: "subject", On: OnAll, Pattern: `[^/]+/[^/]+`, Description: "`<namespace>/<name>`",
	}, {
		Name: "time", On: OnAll, Pattern: `[0-9]{4}-[0-9]{2}-[0-9]{2}T.+Z`,
		Description: "when it happened, not when it was sent; of a clock event the instant that it stands for",
	}, {
		Name: ExtensionKind, On: OnAll, Pattern: `[A-Z][A-Za-z]+`, Description: "the kind of the application, cluster or schedule",
	}, {
		Name: ExtensionNamespace, On: OnAll, Pattern: `[a-z0-9-]+`, Description: "its namespace",
	}, {
		Name: ExtensionName, On: OnAll, Pattern: `[a-z0-9.-]+`, Description: "its name",
	}, {
		Name: ExtensionSequence, On: OnTransitions, Pattern: `[0-9]{10,}`,
		Description: "the number of the transition within its source, from `0000000001`, without gaps",
	}, {
		Name: ExtensionState, On: OnTransitions, Pattern: `[A-Z][A-Za-z]+`,
		Description: "the lifecycle state that began; `Degraded` where the status of a cluster goes on to show `RunningHealthy`",
	}, {
		Name: ExtensionAttempt, On: OnTransitions, Pattern: `[0-9]+`, Description: "the attempt, from `0`",
	}, {
		Name: ExtensionOutcome, On: OnOutcomes, Pattern: `Succeeded|Failed|Deleted`,
		Description: "`Succeeded` or `Failed`; on the last transition also `Deleted`, where the object was deleted before its end",
	}, {
		Name: ExtensionRestartAllowed, On: OnEnds, Pattern: `true|false`,
		Description: "`true` where the spec allows another attempt, else `false`",
	}, {
		Name: ExtensionFinal, On: OnLast, Pattern: `true`,
		Description: "`true`: the application or cluster has truly ended, with `sparkoutcome`",
	},
}
