package parity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// checkMessage checks that the message of the condition names the field of the manifest, so that a user can correct it.
func (c Comparison) checkMessage(problems finding.List) []error {
	var wrong []error
	parts := said(problems)
	switch {
	case c.ofValue:
		parts = append(parts, c.Refused)
	case c.Refused != "":
		parts = append(parts, c.place())
	}
	for _, part := range parts {
		if !strings.Contains(c.Message, part) {
			wrong = append(wrong, fmt.Errorf("the condition does not say %s: %s", part, c.Message))
		}
	}
	return wrong
}

func said(problems finding.List) []string {
	var parts []string
	for _, problem := range problems {
		parts = append(parts, problem.Remedy)
		if problem.Value != nil {
			parts = append(parts, strconv.Quote(fmt.Sprint(problem.Value)))
		}
	}
	return parts
}

// place is where in the manifest the refused field is.
func (c Comparison) place() string {
	switch c.API {
	case Kubeflow:
		return c.placeInKubeflow()
	case Early:
		return c.placeInEarly()
	default:
		return c.placeInApache()
	}
}
