// Package review asks the API server who a caller is (TokenReview) and what they may do (SubjectAccessReview). It decides nothing itself.
//
//	bearer token --Authenticate--> User --Check(access.Right)--> nil, or an error of package access
//	the process's own identity --> Self --Check(access.Right)--> the same, by SelfSubjectAccessReviews
//
// Answers are kept for a minute, and in bounded number. While the API server gives no answer, the last one is used up to three minutes: nobody changes
// rights then. Equal questions that arrive together are asked once. The numbers of questions under way, and of those that wait for that, are bounded. A
// failed request is no answer: it is never kept, and callers can tell it from a refusal.
//
//	reviewer.go      the Reviewer, and its bounds
//	authenticate.go  who a token belongs to
//	check.go         whether a user has a right
//	answers.go       how long answers are kept
//	self.go          what the process itself may do
package review
