package sender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

const (
	// interval is how often what is new is sent. After failures, the wait grows up to maxInterval.
	interval, maxInterval = 5 * time.Second, time.Minute
	// lastInterval is the time between two tries once the driver has ended.
	lastInterval = time.Second
)

// Sender follows an event log until its driver has ended.
type Sender struct {
	Client *Client
	// Folder is where Spark writes.
	Folder string
	// Grace is how long the end may take to be sent once the driver has ended.
	Grace time.Duration
	// MaxBacklog is how much may wait for the service. Of more, the log lacks all that follows: the folder is bounded, and a driver whose folder is full
	// would be evicted.
	MaxBacklog int64
	Logger     *zap.SugaredLogger

	// stored is what the service has of each file; nil until it is known.
	stored map[string]eventlog.File
	// over is true once nothing is sent any more.
	over bool
	// buffer is the part that is sent.
	buffer [eventlog.MaxPart]byte
}

// Run sends what is new until ctx ends, which is when the driver has ended, and then what is left. Nothing that happens here concerns the driver, so it
// returns no error.
func (s *Sender) Run(ctx context.Context) {
	wait, next := interval, time.Now()
	for {
		select {
		case <-ctx.Done():
			s.finish(context.WithoutCancel(ctx))
			return
		case <-time.After(interval):
		}
		if !time.Now().Before(next) {
			wait = s.try(ctx, wait)
			next = time.Now().Add(wait - interval)
		}
		s.bound()
	}
}

// try sends what is new, and returns the time until the next try.
func (s *Sender) try(ctx context.Context, waited time.Duration) time.Duration {
	err := s.pass(ctx)
	if err == nil || ctx.Err() != nil {
		return interval
	}
	s.Logger.Warnw("the event log is not sent for the moment", "retryAfter", waited, zap.Error(err))
	return min(2*waited, maxInterval)
}

// finish sends what is left, within the grace.
func (s *Sender) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	for {
		err := s.pass(ctx)
		if err == nil {
			s.Logger.Infow("the driver has ended", "files", len(s.stored), "complete", s.complete())
			return
		}
		select {
		case <-ctx.Done():
			s.Logger.Errorw("the end of the event log was not sent in time", zap.Error(err))
			return
		case <-time.After(lastInterval):
		}
	}
}

// complete reports whether the log is stored to its end.
func (s *Sender) complete() bool {
	for name := range s.stored {
		if eventlog.IsFinal(name) {
			return true
		}
	}
	return false
}

// pass sends what is new.
func (s *Sender) pass(ctx context.Context) error {
	if s.over {
		return nil
	}
	folder, err := logFolder(s.Folder)
	if err != nil || folder == "" {
		return err
	}
	if s.stored == nil {
		files, err := s.Client.files(ctx)
		if err != nil {
			return err
		}
		s.stored = map[string]eventlog.File{}
		for _, file := range files {
			s.stored[file.Name] = file
		}
	}
	files, err := localFiles(folder)
	if err != nil {
		return err
	}
	for i, file := range files {
		if eventlog.Index(file.name) > 0 && file.size == 0 {
			continue
		}
		if err := s.send(ctx, filepath.Join(folder, file.name), file); err != nil {
			return s.judge(err)
		}
		if isFinished(files, i) {
			if err := os.Remove(filepath.Join(folder, file.name)); err != nil {
				return fmt.Errorf("delete what is stored of the event log: %w", err)
			}
		}
	}
	return nil
}

// send sends what is new of a file. What was written after it was listed follows with the next pass.
func (s *Sender) send(ctx context.Context, path string, local localFile) error {
	file, known := s.stored[local.name]
	if local.size < file.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, and more were stored of it: something else than Spark writes it", errOver, local.name, local.size)
	}
	file.Name = local.name
	for begin := !known; begin || file.Bytes < local.size; begin = false {
		if file.Bytes-file.Part >= eventlog.MaxPart {
			file.Part = file.Bytes
		}
		length, err := readPart(path, file.Part, s.buffer[:min(eventlog.MaxPart, local.size-file.Part)])
		if err != nil {
			return err
		}
		if whole := file.Part+int64(length) == min(local.size, file.Part+eventlog.MaxPart); !whole {
			return fmt.Errorf("%s became shorter while it was read", local.name)
		}
		if err := s.Client.store(ctx, local.name, file.Part, s.buffer[:length]); err != nil {
			return err
		}
		file.Bytes = file.Part + int64(length)
		s.stored[local.name] = file
	}
	return nil
}

// errOver ends the log: what follows is not sent.
var errOver = errors.New("the event log ends here")

// judge decides what an error means for what follows.
func (s *Sender) judge(err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		switch refused.status {
		case http.StatusRequestEntityTooLarge, http.StatusBadRequest:
			err = fmt.Errorf("%w: %w", errOver, err)
		case http.StatusConflict: // another replica of the service knows better
			s.stored = nil
		}
	}
	if errors.Is(err, errOver) {
		s.end(err)
		return nil
	}
	return err
}

// end ends the log. Without its last status, it is shown as that of an application that has not ended.
func (s *Sender) end(why error) {
	s.over = true
	s.Logger.Errorw("the event log is not stored any further", zap.Error(why))
}

// bound keeps the folder below its size: once too much waits, or nothing is sent any more, files that Spark has finished are deleted.
func (s *Sender) bound() {
	folder, err := logFolder(s.Folder)
	if err != nil || folder == "" {
		return
	}
	files, err := localFiles(folder)
	if err != nil {
		return
	}
	var backlog int64
	for _, file := range files {
		backlog += file.size - min(s.stored[file.name].Bytes, file.size)
	}
	if !s.over && backlog > s.MaxBacklog {
		s.end(fmt.Errorf("%d bytes wait for the service, and at most %d may", backlog, s.MaxBacklog))
	}
	if !s.over {
		return
	}
	for i, file := range files {
		if isFinished(files, i) {
			_ = os.Remove(filepath.Join(folder, file.name)) // the next pass tries again
		}
	}
}
