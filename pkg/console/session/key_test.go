package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

func TestKeyIsThatOfTheSecret(t *testing.T) {
	folder := t.TempDir()
	for _, absent := range []string{"", folder, filepath.Join(folder, "absent")} {
		if key, shared, err := session.LoadKey(absent); key == nil || shared || err != nil {
			t.Errorf("without a Secret in %q: %v, shared %t, %v", absent, key, shared, err)
		}
	}
	for content, valid := range map[string]bool{
		strings.Repeat("k", 44): true, "": false, strings.Repeat("k", 31): false, strings.Repeat("k", 1<<20): false,
	} {
		if err := os.WriteFile(filepath.Join(folder, "key"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		key, shared, err := session.LoadKey(folder)
		if (err == nil) != valid || shared != valid || (key != nil) != valid {
			t.Errorf("%d bytes: %v, shared %t, %v", len(content), key, shared, err)
		}
		if err != nil && (len(content) > 0 && strings.Contains(err.Error(), content) || !strings.Contains(err.Error(), "openssl")) {
			t.Errorf("%d bytes: %v", len(content), err)
		}
	}
}
