package sender

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// localFile is a file that Spark wrote.
type localFile struct {
	name string
	size int64
}

// folderMode lets the driver write, whatever user its image has: all containers of the Pod are in the group, which new files get.
const folderMode = 0o770 | fs.ModeSetgid

// Prepare creates the folder that the driver writes into.
func Prepare(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the folder of event logs: %w", err)
	}
	if err := os.Chmod(folder, folderMode); err != nil {
		return fmt.Errorf("let the driver write into the folder of event logs: %w", err)
	}
	return nil
}

// logFolder returns the folder of the event log; empty before the driver has begun it. There is one for each SparkContext, and all of a driver have the
// same ID.
func logFolder(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", fmt.Errorf("read the folder of event logs: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), eventlog.FolderPrefix) {
			return filepath.Join(folder, entry.Name()), nil
		}
	}
	return "", nil
}

// localFiles returns the files of an event log in the order in which they are sent.
func localFiles(folder string) ([]localFile, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	var files []localFile
	for _, entry := range entries {
		if eventlog.CheckName(entry.Name()) != nil {
			continue // such as the checksums of Hadoop's local file system
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it was renamed, or is none of Spark's
		}
		files = append(files, localFile{entry.Name(), info.Size()})
	}
	slices.SortFunc(files, func(a, b localFile) int { return eventlog.Compare(a.name, b.name) })
	return files, nil
}

// isFinished reports whether Spark has finished a file of events: there is a next one. files are in order.
func isFinished(files []localFile, at int) bool {
	return at+1 < len(files) && eventlog.Index(files[at].name) > 0 && eventlog.Index(files[at+1].name) > 0
}

// readPart reads a part of a file.
func readPart(path string, offset int64, into []byte) (int, error) {
	file, err := os.OpenInRoot(filepath.Dir(path), filepath.Base(path)) // the driver may have put a link there
	if err != nil {
		return 0, fmt.Errorf("read the event log: %w", err)
	}
	defer file.Close()
	length, err := file.ReadAt(into, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read the event log: %w", err)
	}
	return length, nil
}
