package lifecycle

import (
	"encoding/json"
	"math"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// maxUnacknowledged is the number of transitions that the sink has not taken from which on running states
	// are no longer recorded. Ends always are.
	maxUnacknowledged = 64
	// maxTransitions bounds the acknowledged transitions that a record keeps.
	maxTransitions = 64
	// maxBacklog bounds the transitions that the sink has not taken, in bytes of JSON without drivers' statuses:
	// beyond it no further attempt is begun, and running states are no longer recorded. With what one attempt may add
	// the record stays below 64 KiB.
	maxBacklog = 24 * 1024
	// maxMessage, maxEvidence and maxReason bound texts, in bytes of JSON.
	maxMessage  = 1024
	maxEvidence = 2048
	maxReason   = 128
	// maxDriverStatus bounds the kept status of a driver Pod, in bytes of JSON.
	maxDriverStatus = 12 * 1024
)

// enter appends a transition into a state that is no end.
func (m *machine) enter(state State, message string) bool {
	m.append(v1alpha1.Transition{State: string(state), Message: message})
	return true
}

// enterRunning is enter for the states that come and go; it leaves them out where the sink is far behind.
func (m *machine) enterRunning(state State, message string) bool {
	return m.roomy() && m.enter(state, message)
}

// roomy says that the sink is not so far behind that what comes and goes is left out.
func (m *machine) roomy() bool {
	return m.record.Sequence-m.record.Acknowledged < maxUnacknowledged && backlog(m.record) <= maxBacklog
}

// fail ends the attempt badly.
func (m *machine) fail(state State, cause Cause) bool {
	return m.end(End{State: state, Cause: cause})
}

// end ends the attempt.
func (m *machine) end(end End) bool {
	transition := m.ended(end)
	transition.End.RestartAllowed = restartAllowed(m.policy, m.record.Attempt, transition)
	m.append(transition)
	return true
}

// ended is the transition that ends the attempt, with no other to follow.
func (m *machine) ended(end End) v1alpha1.Transition {
	outcome := outcomeSucceeded
	if end.State.Failure() {
		outcome = outcomeFailed
	}
	transition := v1alpha1.Transition{
		State:   string(end.State),
		Message: end.Cause.Message,
		End: &v1alpha1.AttemptEnd{
			Outcome: outcome, Class: end.Cause.Class, ExitCode: end.Cause.ExitCode,
			Reason: truncate(end.Cause.Reason, maxReason), Message: truncate(end.Cause.told(), maxEvidence),
		},
		Time: stamp(m.now),
	}
	if driver := m.seen.Driver; driver != nil && driver.Status != nil && driver.Status.Phase != corev1.PodSucceeded {
		transition.DriverStatus = bounded(driver.Status)
	}
	return transition
}

// told is all that is known of a cause, in words.
func (c Cause) told() string {
	told := truncate(c.Message, maxMessage)
	if c.Detail != "" {
		told += "\n" + c.Detail
	}
	return told
}

// terminate ends the application. outcome is empty where its end was told before.
func (m *machine) terminate(state State, message, outcome string) bool {
	m.append(v1alpha1.Transition{State: string(state), Message: message, Outcome: outcome})
	return true
}

func (m *machine) append(t v1alpha1.Transition) {
	m.record.Sequence++
	t.Sequence = m.record.Sequence
	t.Time = stamp(m.now)
	t.Message = truncate(t.Message, maxMessage)
	t.Attempt = m.record.Attempt.ID
	if m.record.Launch != nil {
		t.DriverPod, t.ApplicationID = m.record.Launch.DriverPod, m.record.Launch.ApplicationID
	}
	m.record.Transitions = append(m.record.Transitions, *t.DeepCopy()) // what was observed is the caller's
	m.changed = true
}

// stamp is a time as a record keeps it.
func stamp(now time.Time) metav1.MicroTime {
	return metav1.NewMicroTime(now.UTC().Truncate(time.Microsecond))
}

// mend keeps a record that somebody edited from telling a sequence twice, or a transition never.
func mend(record *v1alpha1.Record) {
	for _, t := range record.Transitions {
		record.Sequence = max(record.Sequence, t.Sequence)
	}
	record.Acknowledged = min(record.Acknowledged, record.Sequence)
}

// prune drops what nobody needs any more: transitions that the sink has taken, of attempts before the previous
// one, and the oldest of what is still too many. The last two stay: they say where the application stands, and
// since when.
func prune(record *v1alpha1.Record) {
	excess := len(record.Transitions) - maxTransitions
	kept := record.Transitions[:0]
	for i, t := range record.Transitions {
		acknowledged := t.Sequence <= record.Acknowledged
		if acknowledged && i < len(record.Transitions)-2 && (t.Attempt < record.Attempt.ID-1 || i < excess) {
			continue
		}
		if t.Attempt < record.Attempt.ID-1 {
			t.DriverStatus = nil
		}
		kept = append(kept, t)
	}
	record.Transitions = kept
}

// backlog is the size of what the sink has not taken, in bytes of JSON.
func backlog(record *v1alpha1.Record) int {
	size := 0
	for _, t := range record.Transitions {
		if t.Sequence > record.Acknowledged {
			t.DriverStatus = nil
			size += encodedSize(t)
		}
	}
	return size
}

// truncate cuts a text to a size in JSON.
func truncate(text string, limit int) string {
	const ellipsis = "..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit && encodedSize(text) <= limit {
		return text
	}
	text = text[:min(len(text), limit)]
	tooLong := func(n int) bool { return encodedSize(text[:n])+len(ellipsis) > limit }
	cut := max(sort.Search(len(text), tooLong)-1, 0)
	return strings.ToValidUTF8(text[:cut], "") + ellipsis // not within a character
}

func bounded(status *corev1.PodStatus) *corev1.PodStatus {
	if status == nil {
		return nil
	}
	if encodedSize(status) > maxDriverStatus {
		return &corev1.PodStatus{
			Phase: status.Phase, Reason: truncate(status.Reason, maxReason), Message: truncate(status.Message, maxMessage),
		}
	}
	return status
}

func encodedSize(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		return math.MaxInt
	}
	return len(encoded)
}
