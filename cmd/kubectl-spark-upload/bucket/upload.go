package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/firesteel-dev/firesteel/pkg/upload"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"
)

const (
	// atOnce is how many files are sent at the same time, and partsAtOnce how many parts of each. Parts are held in memory.
	atOnce, partsAtOnce = 4, 2
	// hashKey is the key of an object's metadata that holds the hash of its content.
	hashKey = "sha256"
	// partSize is the least size of a part, and maxParts how many a file has at most: S3 takes 10,000.
	partSize, maxParts = 8 << 20, 9000
	// grace is how long a part that is on its way may take after an interrupt.
	grace = 2 * time.Second
)

// Upload uploads files that are not there yet, and reports each step. The first error ends it.
func Upload(ctx context.Context, address string, files []upload.File, report func(upload.Event)) error {
	p, err := open(ctx, address)
	if err != nil {
		report(upload.Event{Step: upload.Failed, Message: explain(p.scheme, err)})
		return err
	}
	defer p.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, file := range files {
		group.Go(func() error {
			event, err := p.upload(ctx, file, report)
			event.Path = file.Path
			if err != nil {
				event = upload.Event{Step: upload.Failed, Path: file.Path, Interrupted: ctx.Err() != nil}
				event.Message = fmt.Sprintf("%s cannot be uploaded: %s", filepath.Base(file.Path), explain(p.scheme, err))
			}
			report(event)
			return err
		})
	}
	return group.Wait()
}

// upload uploads a file unless it is there. It returns the last event of the file.
func (p *place) upload(ctx context.Context, file upload.File, report func(upload.Event)) (upload.Event, error) {
	read, err := newContent(ctx, file, report)
	if err != nil {
		return upload.Event{}, err
	}
	defer read.file.Close()
	there, err := p.has(ctx, file, read.size)
	switch {
	case err != nil:
		return upload.Event{}, err
	case there:
		return upload.Event{Step: upload.Present, Size: read.size}, nil
	}
	if err := p.send(ctx, file.Key(), read); err != nil {
		return upload.Event{}, err
	}
	return upload.Event{Step: upload.Uploaded, Sent: read.sent, Size: read.size}, nil
}

// has reports whether an object has the content of a file. One whose metadata does not tell is read.
func (p *place) has(ctx context.Context, file upload.File, size int64) (bool, error) {
	attributes, err := p.Attributes(ctx, file.Key())
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return false, nil // a bucket that does not exist is refused when the file is sent
	case gcerrors.Code(err) == gcerrors.PermissionDenied:
		return false, nil // so S3 answers those who may not list the bucket, if the object is not there; they may write it
	case err != nil:
		return false, err
	case attributes.Size != size:
		return false, nil
	case attributes.Metadata[hashKey] != "":
		return attributes.Metadata[hashKey] == file.SHA256, nil
	}
	object, err := p.NewReader(ctx, file.Key(), nil)
	if err != nil {
		return false, err
	}
	defer object.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, object); err != nil {
		return false, err
	}
	return hex.EncodeToString(sum.Sum(nil)) == file.SHA256, nil
}

// send writes an object. An interrupt reaches the library by an error of the reader: it then removes what it has sent. A part that hangs is
// cancelled.
func (p *place) send(ctx context.Context, key string, read *content) error {
	sending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, end) })()
	err := p.Upload(sending, key, read, &blob.WriterOptions{
		ContentType: "application/octet-stream", Metadata: map[string]string{hashKey: read.want.SHA256},
		BufferSize: int(max(partSize, read.size/maxParts)), MaxConcurrency: partsAtOnce,
	})
	if err != nil && sending.Err() != nil {
		p.abort(key, err)
	}
	return err
}

// abort removes the parts of an object of S3. The library does so itself unless its context is over. Other places remove or hide them.
func (p *place) abort(key string, failure error) {
	var failed interface{ UploadID() string }
	var client *s3.Client
	if !errors.As(failure, &failed) || !p.As(&client) {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), grace)
	defer end()
	id := failed.UploadID()
	key = p.folder + key
	_, _ = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &p.name, Key: &key, UploadId: &id}) // the failure is reported
}
