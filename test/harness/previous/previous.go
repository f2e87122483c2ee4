// Package previous knows the previous release of Firesteel, for tests of upgrades and of two versions side by side.
package previous

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The file commit names the release. There is no release yet, so it is the last commit before Firesteel could be installed as one:
// the version that a user of a checkout upgrades from. It writes the record of today, and fences a first launch in another way.
//
//go:embed commit
var commit string

// Commit is the commit of the previous release.
func Commit() string { return strings.TrimSpace(commit) }

// CopyConfig copies the folder config of a commit of the repository into a folder.
func CopyConfig(ctx context.Context, repository, folder, commit string) error {
	return InWorkTree(ctx, repository, folder, commit, func(source string) error {
		return os.CopyFS(filepath.Join(folder, "config"), os.DirFS(filepath.Join(source, "config")))
	})
}

// InWorkTree does something with a work tree of a commit. It is in a folder, and gone afterwards.
func InWorkTree(ctx context.Context, repository, folder, commit string, do func(source string) error) (err error) {
	err = git(ctx, repository, "cat-file", "-e", commit+"^{commit}")
	if err != nil { // the clone is shallow
		err = git(ctx, repository, "fetch", "--quiet", "--depth=1", "origin", commit)
	}
	if err != nil {
		return fmt.Errorf("the commit %s is not in this clone: if it is shallow, run git fetch --unshallow: %w", commit, err)
	}
	source := filepath.Join(folder, "source")
	if err := git(ctx, repository, "worktree", "add", "--quiet", "--detach", source, commit); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, git(context.WithoutCancel(ctx), repository, "worktree", "remove", "--force", source))
	}()
	return do(source)
}

func git(ctx context.Context, repository string, arguments ...string) error {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", repository}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(arguments, " "), err, output)
	}
	return nil
}
