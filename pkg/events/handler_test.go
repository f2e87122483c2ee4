package events

import (
	"errors"
	"testing"
)

func TestPermanentErrors(t *testing.T) {
	if Permanent(nil) != nil {
		t.Error("Permanent(nil) is not nil")
	}
	if cause := errors.New("cause"); !errors.Is(Permanent(cause), cause) {
		t.Error("Permanent hides its cause")
	}
	if IsPermanent(errors.New("other")) {
		t.Error("an unmarked error is permanent")
	}
}
