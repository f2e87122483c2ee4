package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/archive/address"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

const (
	// requestTimeout bounds one request to the storage.
	requestTimeout = time.Minute
	// maxDescription bounds a description in JSON that is read.
	maxDescription = 4 << 20
	// maxMessage bounds the text of an error of the storage.
	maxMessage = 512
	// partBytes is the buffer of one upload. Most objects are smaller.
	partBytes = 5 << 20
	// pageSize is the number of keys that one request lists.
	pageSize = 1000
)

// Archive is an archive in one bucket, or in a folder of one.
type Archive struct {
	bucket *blob.Bucket
}

// New returns the archive in a bucket. Close closes the bucket.
func New(bucket *blob.Bucket) *Archive { return &Archive{bucket} }

// Open opens the archive behind a URL: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER or file:///FOLDER, with the parameters of
// gocloud.dev/blob. The program must import package clouds, and large for gs:// and azblob://, which all programs but the controller do.
func Open(ctx context.Context, url string) (*Archive, error) {
	opened, err := address.Bucket(url)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", redact.Text(url), err)
	}
	if scheme, _, _ := strings.Cut(opened, "://"); !blob.DefaultURLMux().ValidBucketScheme(scheme) {
		return nil, fmt.Errorf("open archive %s: the controller has no library of %s://, which is large: run the handler outside of it, with archive: external "+
			"in config-handlers", redact.Text(url), scheme)
	}
	bucket, err := blob.OpenBucket(ctx, opened)
	if err != nil {
		return nil, failure("open archive", url, err)
	}
	return New(bucket), nil
}

// Close releases what the archive holds.
func (a *Archive) Close() error { return a.bucket.Close() }

// IsNotFound reports whether an error means that there is no such thing in the archive, or none that the reader may know of.
func IsNotFound(err error) bool {
	return gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, errNotFound)
}

var errNotFound = errors.New("it is not in the archive")

// IsStorage reports whether an error is one of the storage.
func IsStorage(err error) bool { return errors.As(err, new(*storageError)) }

// failure returns an error of the storage in one line. It holds no secret.
func failure(what, key string, err error) error {
	return &storageError{what: what + " " + redact.Text(key), cause: err}
}

// storageError is an error of the storage.
type storageError struct {
	what  string
	cause error
}

func (e *storageError) Error() string {
	message := strings.Join(strings.Fields(redact.Text(text.Clip(e.cause.Error(), maxMessage))), " ")
	switch gcerrors.Code(e.cause) {
	case gcerrors.PermissionDenied:
		message += ": give the identity of the Pod the right to read, write, list and delete there"
	case gcerrors.NotFound:
		message += ": it is not in the archive, or the bucket does not exist"
	}
	return e.what + ": " + message
}

func (e *storageError) Unwrap() error { return e.cause }

var compressors = sync.Pool{New: func() any {
	writer, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return writer
}}

// compress returns the content as one member of gzip. Equal contents have equal results.
func compress(content []byte) []byte {
	var buffer bytes.Buffer
	writer := compressors.Get().(*gzip.Writer)
	defer compressors.Put(writer)
	writer.Reset(&buffer)
	_, _ = writer.Write(content) // a buffer takes everything
	_ = writer.Close()
	return buffer.Bytes()
}

// put writes an object.
func (a *Archive) put(ctx context.Context, key string, content []byte, onlyIfAbsent bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	kind := "application/json"
	if strings.HasSuffix(key, compressed) {
		kind = "application/gzip"
	}
	err := a.bucket.Upload(ctx, key, bytes.NewReader(content),
		&blob.WriterOptions{ContentType: kind, BufferSize: partBytes, MaxConcurrency: 1, IfNotExist: onlyIfAbsent})
	if err != nil {
		return failure("write", key, err)
	}
	return nil
}

// get reads an object of at most limit bytes. It is decompressed if its name ends with .gz.
func (a *Archive) get(ctx context.Context, key string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	reader, err := a.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, failure("read", key, err)
	}
	defer reader.Close()
	plain := io.Reader(reader)
	if strings.HasSuffix(key, compressed) {
		if plain, err = gzip.NewReader(reader); err != nil {
			return nil, failure("read", key, err)
		}
	}
	content, err := readAll(plain, limit)
	if err != nil {
		return nil, failure("read", key, err)
	}
	return content, nil
}

func readAll(reader io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return content, nil
}

func (a *Archive) putJSON(ctx context.Context, key string, description any) error {
	content, err := json.Marshal(description)
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return a.put(ctx, key, content, false)
}

// putDescription writes a description, and reads it again: without it nothing else is found, and there is storage that takes what it does not store.
// With onlyIfAbsent, one that is stored already stays, and isThere reports that of the error.
func (a *Archive) putDescription(ctx context.Context, key string, description any, onlyIfAbsent bool) error {
	content, err := json.Marshal(description)
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	if err := a.put(ctx, key, content, onlyIfAbsent); err != nil {
		return err
	}
	stored, err := a.get(ctx, key, maxDescription)
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, content) {
		return failure("write", key, errors.New("the storage took it, and has something else: check the storage"))
	}
	return nil
}

// isThere reports whether an error means that an object was not written, since there is one.
func isThere(err error) bool { return gcerrors.Code(err) == gcerrors.FailedPrecondition }

func (a *Archive) getJSON(ctx context.Context, key string, into any) error {
	content, err := a.get(ctx, key, maxDescription)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}

// delete deletes an object, if it exists.
func (a *Archive) delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := a.bucket.Delete(ctx, key); err != nil && !IsNotFound(err) {
		return failure("delete", key, err)
	}
	return nil
}

// entry is a key of a listing: an object, or a folder, which ends with "/".
type entry struct {
	key      string
	size     int64
	modified time.Time
}

// page lists the keys with a prefix, from a token on. With flat=false, keys below a further "/" are one folder.
func (a *Archive) page(ctx context.Context, prefix string, flat bool, token []byte, size int) ([]entry, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	options := &blob.ListOptions{Prefix: prefix}
	if !flat {
		options.Delimiter = "/"
	}
	if len(token) == 0 {
		token = blob.FirstPageToken
	}
	objects, next, err := a.bucket.ListPage(ctx, token, size, options)
	if err != nil {
		return nil, nil, failure("list", prefix, err)
	}
	entries := make([]entry, len(objects))
	for i, object := range objects {
		entries[i] = entry{object.Key, object.Size, object.ModTime}
	}
	return entries, next, nil
}

// list calls visit for each key with a prefix, in order, until it returns false.
func (a *Archive) list(ctx context.Context, prefix string, flat bool, visit func(entry) bool) error {
	var token []byte
	for {
		entries, next, err := a.page(ctx, prefix, flat, token, pageSize)
		if err != nil {
			return err
		}
		for _, found := range entries {
			if !visit(found) {
				return nil
			}
		}
		if len(next) == 0 {
			return nil
		}
		token = next
	}
}

// folders returns the names of the folders below a prefix.
func (a *Archive) folders(ctx context.Context, prefix string) (names []string, err error) {
	err = a.list(ctx, prefix, false, func(found entry) bool {
		if name, isFolder := strings.CutSuffix(found.key[len(prefix):], "/"); isFolder {
			if name, ok := Unescape(name); ok {
				names = append(names, name)
			}
		}
		return true
	})
	return names, err
}

func itoa(number int64) string { return strconv.FormatInt(number, 10) }
