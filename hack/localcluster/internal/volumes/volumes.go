// Package volumes lets every pod write to the volumes that the controller
// manager provisions. These are folders that root owns. Unlike with other
// provisioners, the kubelet does not give them to the group of a pod.
package volumes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is where the controller manager creates volumes. It is not configurable.
const Dir = "/tmp/hostpath_pv"

// Serve opens each new folder in the folder, until the context ends.
func Serve(ctx context.Context, dir string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	events, err := watch(dir)
	if err != nil {
		return fmt.Errorf("watching %s: %w", dir, err)
	}
	context.AfterFunc(ctx, func() { _ = events.Close() })
	buffer := make([]byte, 64<<10)
	for {
		if err := open(dir); err != nil {
			return err
		}
		if _, err := events.Read(buffer); err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
	}
}

// watch returns a file that can be read whenever a folder appears in the folder.
func watch(dir string) (*os.File, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "inotify"), nil
}

// open lets all users write to the folders in the folder.
func open(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		err := os.Chmod(filepath.Join(dir, entry.Name()), 0o777)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // deleted meanwhile
			return err
		}
	}
	return nil
}
