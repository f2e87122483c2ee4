package archive_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/firesteel-dev/firesteel/pkg/archive"
)

// scripted is a storage whose listings a test makes.
type scripted struct {
	driver.Bucket
	// note is the content of the note of the last sweep; empty for none.
	note    string
	noted   bool
	deleted []string
	list    func(prefix string, folders bool) ([]*driver.ListObject, error)
}

var errAbsent = errors.New("absent")

func (s *scripted) ErrorCode(err error) gcerrors.ErrorCode {
	if errors.Is(err, errAbsent) {
		return gcerrors.NotFound
	}
	return gcerrors.Unknown
}

func (s *scripted) ErrorAs(error, any) bool { return false }

func (s *scripted) ListPaged(_ context.Context, options *driver.ListOptions) (*driver.ListPage, error) {
	objects, err := s.list(options.Prefix, options.Delimiter != "")
	return &driver.ListPage{Objects: objects}, err
}

func (s *scripted) NewRangeReader(context.Context, string, int64, int64, *driver.ReaderOptions) (driver.Reader, error) {
	if s.note == "" {
		return nil, errAbsent
	}
	return note{strings.NewReader(s.note)}, nil
}

func (s *scripted) NewTypedWriter(context.Context, string, string, *driver.WriterOptions) (driver.Writer, error) {
	s.noted = true
	return discard{io.Discard}, nil
}

func (s *scripted) Delete(_ context.Context, key string) error {
	s.deleted = append(s.deleted, key)
	return nil
}

type note struct{ *strings.Reader }

func (n note) Attributes() *driver.ReaderAttributes { return &driver.ReaderAttributes{Size: n.Size()} }
func (note) As(any) bool                            { return false }
func (note) Close() error                           { return nil }

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

func (s *scripted) sweep(t *testing.T, now time.Time) (archive.Deleted, error) {
	t.Helper()
	all := func(string) bool { return true }
	return archive.New(blob.NewBucket(s)).SweepIfDue(t.Context(), now, time.Hour, archive.Retention{Age: time.Hour}, all)
}

func TestASweepIsDueIfItsNoteMakesNoSense(t *testing.T) {
	for content, due := range map[string]bool{
		"": true, `{"began":"2026-11-26T09:30:00Z"}`: false, `{"began":"2026-11-26T09:00:00Z"}`: true, `{"began":"2036-11-26T10:00:00Z"}`: true,
		`{"began":`: true, `{"began":"yesterday"}`: true, `[]`: true,
	} {
		s := &scripted{note: content, list: func(string, bool) ([]*driver.ListObject, error) { return nil, nil }}
		if _, err := s.sweep(t, begin); err != nil || s.noted != due {
			t.Errorf("%q is due: %t, %v", content, s.noted, err)
		}
	}
}

func TestNamespacesAreSweptAfterOneThatFails(t *testing.T) {
	key := "team-b/" + resource + "/pi/uid/application.json"
	s := &scripted{list: func(prefix string, folders bool) ([]*driver.ListObject, error) {
		switch {
		case folders:
			return []*driver.ListObject{{Key: "team-a/", IsDir: true}, {Key: "team-b/", IsDir: true}}, nil
		case strings.HasPrefix(prefix, "team-a/"):
			return nil, errors.New("it is broken")
		}
		return []*driver.ListObject{{Key: key, ModTime: begin, Size: 7}}, nil
	}}
	deleted, err := s.sweep(t, begin.Add(2*time.Hour))
	if err == nil || !strings.Contains(err.Error(), "team-a") || deleted != (archive.Deleted{Applications: 1, Bytes: 7}) {
		t.Errorf("%+v, %v", deleted, err)
	}
	if !slices.Equal(s.deleted, []string{key}) {
		t.Errorf("deleted: %v", s.deleted)
	}
}

// Another attempt may end while the archive is listed.
func TestAnApplicationThatIsWrittenDuringASweepStays(t *testing.T) {
	folder := "team-a/" + resource + "/pi/uid/"
	s := &scripted{list: func(prefix string, folders bool) ([]*driver.ListObject, error) {
		objects := []*driver.ListObject{{Key: folder + "application.json", ModTime: begin}}
		switch {
		case folders:
			return []*driver.ListObject{{Key: "team-a/", IsDir: true}}, nil
		case prefix == folder:
			objects = slices.Insert(objects, 0, &driver.ListObject{Key: folder + "1/objects/x.json.gz", ModTime: begin.Add(2 * time.Hour)})
		}
		return objects, nil
	}}
	if deleted, err := s.sweep(t, begin.Add(2*time.Hour)); err != nil || deleted.Applications > 0 || len(s.deleted) > 0 {
		t.Errorf("%+v, %v: %v", deleted, err, s.deleted)
	}
}
