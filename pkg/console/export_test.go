package console

import (
	"net/http"
	"time"

	"go.uber.org/zap"
)

// NewHandlerForTest is NewHandler with another period of the check of sessions.
func NewHandlerForTest(guard Guard, archives Archives, sessionPeriod time.Duration, more ...Route) http.Handler {
	return newHandler(guard, archives, zap.NewNop().Sugar(), sessionPeriod, more)
}
