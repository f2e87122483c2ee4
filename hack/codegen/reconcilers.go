package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// statusDiff is what a generated reconciler has to log how a status changes, in parts. Firesteel's reconcilers write their statuses themselves,
// so it never runs. But it needs go-cmp, which lists methods by reflection, so the linker would keep all exported methods of the controller:
// those of all clients of Kubernetes and of S3, half as much code again.
var statusDiff = []string{
	"\tzapcore \"go.uber.org/zap/zapcore\"\n",
	"\tkmp \"knative.dev/pkg/kmp\"\n",
	`		if logger.Desugar().Core().Enabled(zapcore.DebugLevel) {
			if diff, err := kmp.SafeDiff(existing.Status, desired.Status); err == nil && diff != "" {
				logger.Debug("Updating status with: ", diff)
			}
		}

`,
}

// removeStatusDiffs removes statusDiff from the generated reconcilers.
func removeStatusDiffs(root string) error {
	files, err := filepath.Glob(filepath.Join(root, clientDir, "injection/reconciler/*/*/*/reconciler.go"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("injection-gen has generated no reconciler.go where it is expected")
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := string(source)
		for _, part := range statusDiff {
			before, after, ok := strings.Cut(text, part)
			if !ok {
				return fmt.Errorf("%s has changed: adapt statusDiff, for which it should have:\n%s", file, part)
			}
			text = before + after
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
