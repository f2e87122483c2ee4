package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
)

func TestRetryOnConflictRetriesAfterConflictsOnly(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "pi", errors.New("changed"))
	late := fmt.Errorf("create: %w", context.DeadlineExceeded)
	for name, test := range map[string]struct {
		answers []error
		want    error
	}{
		"done":                  {[]error{nil}, nil},
		"done after a conflict": {[]error{conflict, nil}, nil},
		"out of time":           {[]error{late}, late},
		"canceled":              {[]error{context.Canceled}, context.Canceled},
		"refused":               {[]error{conflict, late}, late},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			err := lookup.RetryOnConflict(func() error { tries++; return test.answers[tries-1] })
			if !errors.Is(err, test.want) || tries != len(test.answers) {
				t.Errorf("%v after %d tries, want %v", err, tries, test.want)
			}
		})
	}
}
