// Package review asks the API server who a caller is (TokenReview) and what they may do (SubjectAccessReview). It decides nothing itself.
//
//	bearer token --Authenticate--> User --Check(access.Right)--> nil, access.ErrNotAllowed or access.ErrUnavailable
//
// Answers are kept for a minute at most, and in bounded number. Equal questions that arrive together are asked once, and the number of
// questions under way is bounded. A failed request is no answer: it is never kept, and callers can tell it from a refusal.
package review
