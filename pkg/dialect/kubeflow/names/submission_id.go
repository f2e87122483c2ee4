package names

import "github.com/google/uuid"

// submissions is the namespace of submission ids: those of other operators are random.
var submissions = uuid.MustParse("6f1b7c0e-3f0a-5d8e-9c55-0d6a7f7c3a10")

// SubmissionID is status.submissionID, and the label sparkoperator.k8s.io/submission-id of Pods, Services and Ingresses:
// a function of the launch id, so that a launch that is taken up again has the same.
func SubmissionID(launchID string) string {
	return uuid.NewSHA1(submissions, []byte(launchID)).String()
}
