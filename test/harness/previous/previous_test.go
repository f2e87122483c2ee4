package previous

import (
	"strings"
	"testing"
)

func TestMissingCommitIsNamed(t *testing.T) {
	const absent = "0123456789012345678901234567890123456789"
	err := CopyConfig(t.Context(), "../../..", t.TempDir(), absent)
	if err == nil || !strings.Contains(err.Error(), absent+" is not in this clone") {
		t.Errorf("a commit that is not there is answered with %v", err)
	}
}
