package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/upload"
)

// interval is the time between two reports of progress.
const interval = 200 * time.Millisecond

var (
	// errInterrupted ends the upload of a file when the program gets a signal to end.
	errInterrupted = errors.New("it was interrupted")
	errChanged     = errors.New("it changed while it was read: run the command again once it is written")
)

// content is a reader of a file for the library that sends it. If the file has changed, or the program is interrupted, it returns an error and
// not io.EOF: the library then removes the parts that it has sent. With a cancelled context, it could not remove them.
type content struct {
	ctx    context.Context //nolint:containedctx // a reader takes none
	file   *os.File
	sum    hash.Hash
	want   upload.File
	size   int64
	sent   int64
	report func(upload.Event)
	last   time.Time
}

func newContent(ctx context.Context, want upload.File, report func(upload.Event)) (*content, error) {
	file, err := os.Open(want.Path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &content{ctx: ctx, file: file, sum: sha256.New(), want: want, size: info.Size(), report: report, last: time.Now()}, nil
}

func (c *content) Read(into []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, errInterrupted
	}
	count, err := c.file.Read(into)
	c.sum.Write(into[:count])
	c.sent += int64(count)
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.sum.Sum(nil)) != c.want.SHA256 {
		return count, errChanged
	}
	if now := time.Now(); now.Sub(c.last) >= interval {
		c.last = now
		c.report(upload.Event{Step: upload.Sending, Path: c.want.Path, Sent: c.sent, Size: c.size})
	}
	return count, err
}
