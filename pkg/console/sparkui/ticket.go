package sparkui

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// handover is what a ticket and a visit's cookie hold.
type handover struct {
	// Secret is the segment of the path that only this visit has. It identifies a ticket, too.
	Secret string    `json:"s"`
	Ref    Ref       `json:"r"`
	UID    types.UID `json:"u"`
	Token  string    `json:"t"`
	// Past is the ID of the application in the History Server; empty for the driver's own UI. Namespace is the uid of the namespace.
	Past      string    `json:"p,omitempty"`
	Namespace types.UID `json:"m,omitempty"`
	// Until is when the ticket is void. Ends is when the visit ends. Both are in seconds since 1970.
	Until int64 `json:"n,omitempty"`
	Ends  int64 `json:"e"`
}

const (
	// forTickets and forVisits are what sealed texts are for: a ticket is no cookie, and a cookie no ticket.
	forTickets, forVisits = "ticket of a Spark UI 1", "visit of a Spark UI 1"
	// ticketLife is how long a ticket is valid, and maxTickets bounds those that are remembered as used.
	ticketLife = 30 * time.Second
	maxTickets = 16384
)

// newSecret returns a segment of a path. It is none that Spark's scripts look for.
func newSecret() string { return strings.ToLower(rand.Text()) }

func (s *SparkUIs) seal(purpose string, h handover) (string, error) {
	encoded, err := json.Marshal(h) //nolint:gosec // it is sealed
	if err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.Key.Seal(purpose, encoded)), nil
}

func (s *SparkUIs) open(purpose, text string) (handover, bool) {
	var h handover
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return h, false
	}
	opened, err := s.Key.Open(purpose, decoded)
	if err != nil || json.Unmarshal(opened, &h) != nil {
		return handover{}, false
	}
	return h, true
}

// redeem returns what a ticket hands over. A ticket is valid once, at this replica, and for a short time.
func (s *SparkUIs) redeem(text string) (handover, bool) {
	h, ok := s.open(forTickets, text)
	now := s.Clock.Now()
	if !ok || !time.Unix(h.Until, 0).After(now) {
		return handover{}, false
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, used := s.used.Get(h.Secret); used {
		return handover{}, false
	}
	s.used.Add(h.Secret, true, ticketLife)
	return h, true
}
