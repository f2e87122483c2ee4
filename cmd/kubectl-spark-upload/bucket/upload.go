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
	// maxFiles files are sent at the same time, each in maxPartsInMemory parts at the same time.
	maxFiles, maxPartsInMemory = 4, 2
	// hashKey is the key of an object's metadata that holds the hash of its content.
	hashKey = "sha256"
	// partSize is the smallest size of a part. maxParts bounds the parts of a file: S3 takes 10,000.
	partSize, maxParts = 8 << 20, 9000
	// grace is how long a request that has begun may take after an interrupt.
	grace = 2 * time.Second
)

// Upload uploads the files that are not stored yet, and reports each step. The first error ends it.
func Upload(ctx context.Context, address string, files []upload.File, report func(upload.Event)) error {
	p, err := open(ctx, address)
	if err != nil {
		report(upload.Event{Step: upload.Failed, Message: explain(p.scheme, err)})
		return err
	}
	defer p.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxFiles)
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

// upload uploads a file unless it is stored already. It returns the last event of the file.
func (p *place) upload(ctx context.Context, file upload.File, report func(upload.Event)) (upload.Event, error) {
	reader, err := newContent(ctx, file, report)
	if err != nil {
		return upload.Event{}, err
	}
	defer reader.file.Close()
	stored, err := p.has(ctx, file, reader.size)
	switch {
	case err != nil:
		return upload.Event{}, err
	case stored:
		return upload.Event{Step: upload.Present, Size: reader.size}, nil
	}
	if err := p.send(ctx, file.Key(), reader); err != nil {
		return upload.Event{}, err
	}
	return upload.Event{Step: upload.Uploaded, Sent: reader.sent, Size: reader.size}, nil
}

// has reports whether the object of a file exists with the same content. If its metadata has no hash, the object is read.
func (p *place) has(ctx context.Context, file upload.File, size int64) (bool, error) {
	attributes, err := p.Attributes(ctx, file.Key())
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return false, nil // a bucket that does not exist is refused when the file is sent
	case gcerrors.Code(err) == gcerrors.PermissionDenied:
		return false, nil // S3 answers so if the object does not exist and the user may not list the bucket; the user may still write it
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

// send writes an object. After an interrupt, the reader returns an error, so that the library removes the parts that it has sent. A request that
// then takes longer than grace is cancelled.
func (p *place) send(ctx context.Context, key string, reader *content) error {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	err := p.Upload(sending, key, reader, &blob.WriterOptions{
		ContentType: "application/octet-stream", Metadata: map[string]string{hashKey: reader.want.SHA256},
		BufferSize: int(max(partSize, reader.size/maxParts)), MaxConcurrency: maxPartsInMemory,
	})
	if err != nil && sending.Err() != nil {
		p.abort(key, err)
	}
	return err
}

// abort removes the parts of an object of S3. The library does so itself, unless its context was cancelled. Other services remove or hide them.
func (p *place) abort(key string, failure error) {
	var failed interface{ UploadID() string }
	var client *s3.Client
	if !errors.As(failure, &failed) || !p.As(&client) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	id := failed.UploadID()
	key = p.folder + key
	_, _ = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &p.name, Key: &key, UploadId: &id}) // the failure is reported
}
