package receiver

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// session is what is known of the event log of one Pod: what is stored of each file. If another replica stores more, the client notices by the offsets.
type session struct {
	attempt *archive.Attempt
	// mutex is held while a request is handled.
	mutex sync.Mutex
	files map[string]eventlog.File
	total int64
}

func openSession(ctx context.Context, attempt *archive.Attempt) (*session, error) {
	stored, err := attempt.Files(ctx, archive.EventLogFolder)
	if err != nil {
		return nil, err
	}
	s := &session{attempt: attempt, files: map[string]eventlog.File{}}
	for _, file := range stored {
		if len(file.Path) != len([]string{archive.EventLogFolder, "name"}) {
			continue
		}
		part, _ := file.Last()
		s.note(eventlog.File{Name: file.Path[1], Bytes: file.Size, Part: part})
	}
	return s, nil
}

func (s *session) note(file eventlog.File) {
	s.total += file.Bytes - s.files[file.Name].Bytes
	s.files[file.Name] = file
}

func (s *session) list() eventlog.Files {
	list := eventlog.Files{Files: []eventlog.File{}}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		list.Files = append(list.Files, s.files[name])
	}
	return list
}

// store stores a part of a file. What is stored already changes nothing.
func (s *session) store(ctx context.Context, name string, offset int64, content []byte, most int64) (eventlog.File, error) {
	file, exists := s.files[name]
	length := int64(len(content))
	switch {
	case offset > file.Bytes:
		return file, refuse(http.StatusConflict, "%s has %d bytes, and the part begins at %d: send what is between first", name, file.Bytes, offset)
	case exists && offset+length <= file.Bytes:
		return file, nil
	case !exists && len(s.files) >= eventlog.MaxFiles:
		return file, refuse(http.StatusRequestEntityTooLarge, "the event log has %d files, and no more are stored", eventlog.MaxFiles)
	case s.total+offset+length-file.Bytes > most:
		return file, refuse(http.StatusRequestEntityTooLarge, "the event log has more than %d bytes: raise max-log-bytes in the ConfigMap config-archive", most)
	}
	var before int64
	if exists && offset == file.Part {
		before = file.Bytes - file.Part
	}
	if err := s.attempt.File(archive.EventLogFolder, name).Extend(ctx, offset, content, before); err != nil {
		return file, err
	}
	file = eventlog.File{Name: name, Bytes: offset + length, Part: offset}
	s.note(file)
	return file, nil
}
