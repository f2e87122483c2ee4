package usage

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// maxAttempts is how many attempts with a driver have an entry of their own in a record. Pods of earlier ones are not followed any more.
const maxAttempts = 2

// Begin adds the attempt of a launch to the usage of an application, unless it has it. usage may be nil. since returns since when the
// Pods of the launch are counted: when its driver was scheduled, or now.
func Begin(usage *v1alpha1.ApplicationUsage, attempt int64, launch *v1alpha1.Launch, since func() time.Time) *v1alpha1.ApplicationUsage {
	if launch == nil || launch.DriverUID == "" {
		return usage
	}
	if usage == nil {
		usage = &v1alpha1.ApplicationUsage{}
	}
	for _, known := range usage.Attempts {
		if known.DriverUID == launch.DriverUID {
			return usage
		}
	}
	usage.Attempts = append(usage.Attempts, v1alpha1.AttemptUsage{
		Attempt: attempt, ApplicationID: launch.ApplicationID, DriverPod: launch.DriverPod, DriverUID: launch.DriverUID,
		CountedAt: metav1.NewTime(since().UTC().Truncate(time.Second)),
	})
	if more := len(usage.Attempts) - maxAttempts; more > 0 {
		usage.Attempts = usage.Attempts[more:]
	}
	return usage
}

// Update replaces what was counted of one of the attempts.
func Update(usage *v1alpha1.ApplicationUsage, i int, next v1alpha1.AttemptUsage) {
	peak := usage.Total.PeakExecutors
	usage.Total = Add(Subtract(usage.Total, Sum(usage.Attempts[i])), Sum(next))
	usage.Total.PeakExecutors = max(peak, next.Ended.PeakExecutors)
	usage.Attempts[i] = next
}
