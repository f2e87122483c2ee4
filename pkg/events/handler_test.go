package events

import (
	"errors"
	"testing"
)

func TestPermanent(t *testing.T) {
	if Permanent(nil) != nil {
		t.Error("Permanent makes an error of none")
	}
	if cause := errors.New("cause"); !errors.Is(Permanent(cause), cause) {
		t.Error("Permanent hides its cause")
	}
	if IsPermanent(errors.New("other")) {
		t.Error("any error is permanent")
	}
}
