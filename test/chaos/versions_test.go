package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the folders with the programs of each version that takes turns: of this one only, or of an earlier one too.
func (w *env) programs() []string {
	if *versionsFlag == "" {
		return []string{w.dir}
	}
	return []string{w.earlier(), w.dir}
}

// version is the folder that the nth of the programs that take turns is started from.
func (w *env) version(n int) string {
	folders := w.programs()
	return folders[n%len(folders)]
}

func (w *env) earlier() string { return filepath.Join(w.dir, "earlier") }

// buildEarlier builds the programs of another commit, in a work tree that is gone afterwards.
func (w *env) buildEarlier(ctx context.Context, commit string) (err error) {
	source := filepath.Join(w.dir, "source")
	if err := command(ctx, "", "git", "worktree", "add", "--detach", source, commit); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, command(context.WithoutCancel(ctx), "", "git", "worktree", "remove", "--force", source))
	}()
	return command(ctx, source, "go", "build", "-o", w.earlier()+"/", "./cmd/controller", "./cmd/handler")
}

// command runs a program in a folder.
func command(ctx context.Context, dir, program string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(arguments, " "), err, output)
	}
	return nil
}
