package upload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

// Plan holds the files to send, and the URLs by which Spark reads them.
type Plan struct {
	place place
	// receiver is what the Pod needs that stores files in a claim.
	receiver sparksubmit.Receiver
	files    []upload.File
	size     map[string]int64
	// URLs are the URLs of files by the path that the user wrote. A path may be a pattern, with several URLs.
	URLs map[string][]string
	sent bool
}

// Empty reports whether there is nothing to send.
func (p *Plan) Empty() bool { return p == nil || len(p.files) == 0 }

// Plan reads files to compute their hashes. It sends nothing. receiver is what the Pod needs that stores files in a claim.
func (f *Flags) Plan(ctx context.Context, files []sparksubmit.LocalFile, receiver sparksubmit.Receiver) (*Plan, error) {
	place, err := placeOf(f.to, f.as, os.Getenv, receiver.Mounts...)
	if err != nil {
		return nil, err
	}
	receiver.Image = cmp.Or(f.image, receiver.Image)
	if place.claim != "" && (receiver.Image == "" || strings.Contains(receiver.Image, "{{")) {
		return nil, cli.Usage("--upload-to %q needs an image for the Pod that stores the files: write --upload-image IMAGE, such as that of the driver", f.to)
	}
	p := &Plan{place: place, receiver: receiver, size: map[string]int64{}, URLs: map[string][]string{}}
	var found finding.List
	for _, file := range files {
		if _, known := p.URLs[file.Path]; known {
			continue
		}
		paths, err := pathsOf(file)
		if errors.Is(err, fs.ErrNotExist) && file.OfImage {
			continue
		}
		if err != nil {
			found.Refuse(file.Field, file.Written, "cannot be uploaded ("+reason(err)+")", "name a file of this machine, or write local:///path for a file in the image")
			continue
		}
		for _, path := range paths {
			if err := p.add(ctx, file.Path, path); err != nil {
				return nil, err
			}
		}
	}
	if refused := found.Of(finding.Error); len(refused) > 0 {
		return nil, errors.New(refused.String())
	}
	return p, nil
}

// reason returns an error without the path: the finding names it.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// pathsOf returns the path of a file, or the paths that match its pattern.
func pathsOf(file sparksubmit.LocalFile) ([]string, error) {
	info, err := os.Stat(file.Path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New("it is no file, and folders are not uploaded")
	case err == nil || !file.Pattern:
		return []string{file.Path}, err
	}
	matches, invalid := filepath.Glob(file.Path)
	if invalid != nil || len(matches) == 0 {
		return nil, err
	}
	for _, match := range matches {
		if info, err := os.Stat(match); err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no file, and folders are not uploaded", match)
		}
	}
	return matches, nil
}

// add adds a file of the path or pattern that the user wrote.
func (p *Plan) add(ctx context.Context, written, path string) error {
	if _, known := p.size[path]; !known {
		hash, size, err := hashOf(ctx, path)
		if err != nil {
			return err
		}
		p.files = append(p.files, upload.File{Path: path, SHA256: hash})
		p.size[path] = size
	}
	for _, file := range p.files {
		if file.Path == path {
			p.URLs[written] = append(p.URLs[written], p.url(file))
		}
	}
	return nil
}

func (p *Plan) url(file upload.File) string { return p.place.as + "/" + file.URL() }

func hashOf(ctx context.Context, path string) (hash string, size int64, err error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return "", 0, fmt.Errorf("%w: make it readable", err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err = io.Copy(sum, &interruptible{ctx, file})
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// interruptible is a reader that fails when the user interrupts the command.
type interruptible struct {
	ctx  context.Context //nolint:containedctx // a reader takes none
	file io.Reader
}

func (r *interruptible) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(into)
}
