package gateway

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/harness/pause"
)

// fault is a way in which a request fails.
type fault struct {
	name   string
	weight float64
	// of defines which requests can fail so.
	of    func(*http.Request) bool
	serve func(g *Gateway, w http.ResponseWriter, request *http.Request)
}

func ofAny(*http.Request) bool { return true }

// faults are all ways in which requests fail. Watches also fail while they last: frail.go.
var faults = []fault{
	{"409", 3, isWrite, refuse(http.StatusConflict, metav1.StatusReasonConflict)},
	{"410", 20, isResumed, refuse(http.StatusGone, metav1.StatusReasonExpired)},
	{"429", 1, ofAny, overloaded},
	{"500", 2, ofAny, refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError)},
	{"503", 2, ofAny, refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)},
	{"504", 1, ofAny, timeOut},
	{"request lost", 2, ofAny, lose},
	{"answer lost", 5, isWrite, loseAnswer},
	{"late", 2, isWrite, late},
}

// refuse answers at once, and does nothing.
func refuse(code int, reason metav1.StatusReason) func(*Gateway, http.ResponseWriter, *http.Request) {
	return func(_ *Gateway, w http.ResponseWriter, request *http.Request) {
		answer(w, failure(code, reason, request), code)
	}
}

func failure(code int, reason metav1.StatusReason, request *http.Request) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason,
		Message: fmt.Sprintf("chaos: %s %s", request.Method, request.URL.Path),
	}
}

func overloaded(_ *Gateway, w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Retry-After", "1")
	status := failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, request)
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	answer(w, status, http.StatusTooManyRequests)
}

// timeOut answers after a while, and does nothing.
func timeOut(g *Gateway, w http.ResponseWriter, request *http.Request) {
	_ = pause.For(request.Context(), g.rng.Between(0, g.rates.Delay))
	answer(w, failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, request), http.StatusGatewayTimeout)
}

// lose cuts the connection before the request reaches the API server.
func lose(*Gateway, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// loseAnswer cuts the connection after the API server did what it was asked.
func loseAnswer(g *Gateway, _ http.ResponseWriter, request *http.Request) {
	if keep(request) {
		g.forget(request)
	}
	panic(http.ErrAbortHandler)
}

// late has a request reach the API server after a while, when its client may be dead and another in its place.
func late(g *Gateway, w http.ResponseWriter, request *http.Request) {
	if !keep(request) {
		panic(http.ErrAbortHandler)
	}
	timer := time.NewTimer(g.rng.Between(0, g.rates.Delay))
	defer timer.Stop()
	<-timer.C
	if request.Context().Err() != nil {
		g.forget(request)
		return
	}
	g.proxy.ServeHTTP(w, request)
}
