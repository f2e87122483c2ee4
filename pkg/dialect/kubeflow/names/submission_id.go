package names

import "github.com/google/uuid"

// submissions is the UUID namespace of submission IDs. Those of other operators are random.
var submissions = uuid.MustParse("6f1b7c0e-3f0a-5d8e-9c55-0d6a7f7c3a10")

// SubmissionID returns the value of status.submissionID, and of the label sparkoperator.k8s.io/submission-id of Pods,
// Services and Ingresses. It is a function of the launch ID, so a resumed launch has the same one.
func SubmissionID(launchID string) string {
	return uuid.NewSHA1(submissions, []byte(launchID)).String()
}
