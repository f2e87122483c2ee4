// Package upload is the protocol between kubectl spark and kubectl-spark-upload: arguments, and events on the standard output. The second is a
// program of its own, because the libraries of the clouds would slow down each start of the first.
//
//	kubectl-spark-upload URL SHA256=PATH...
//
// URL names a bucket and a folder of it, or a folder: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, azblob://CONTAINER/FOLDER or file:///FOLDER, with
// the parameters of gocloud.dev/blob. Each file is written to the key sha256/SHA256/NAME below it, unless it is stored already. The program prints an
// Event for each step, as a line of JSON on its standard output. Its exit code is 0 if each file is stored, 1 if one is not, and 2 if its
// arguments are wrong. SIGINT and SIGTERM end it, and it leaves no part of a file.
package upload

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// Program is the name of the program that uploads.
const Program = "kubectl-spark-upload"

// File is a file of this machine.
type File struct {
	Path string
	// SHA256 is the hash of its content, in hexadecimal.
	SHA256 string
}

// Key returns the key under which the file is stored. It has the content's hash and the name, so no file overwrites another one.
func (f File) Key() string { return "sha256/" + f.SHA256 + "/" + filepath.Base(f.Path) }

// URL returns the key, escaped for a URL.
func (f File) URL() string { return "sha256/" + f.SHA256 + "/" + url.PathEscape(filepath.Base(f.Path)) }

// Argument returns the file as an argument of the program.
func (f File) Argument() string { return f.SHA256 + "=" + f.Path }

// ParseFile reads an argument of the program.
func ParseFile(argument string) (File, error) {
	hash, path, _ := strings.Cut(argument, "=")
	const sha256Bytes = 32
	if decoded, err := hex.DecodeString(hash); err != nil || len(decoded) != sha256Bytes || hash != strings.ToLower(hash) || path == "" {
		return File{}, fmt.Errorf("%q is no file: write SHA256=PATH, with the hash of its content in hexadecimal", argument)
	}
	return File{Path: path, SHA256: hash}, nil
}

// Step is what happened to a file.
type Step string

// The steps. The last one of a file is Present, Uploaded or Failed.
const (
	// Sending is repeated while a file is being sent.
	Sending Step = "sending"
	// Present: the file is stored already, with the same size and hash. Nothing is sent.
	Present Step = "present"
	// Uploaded: the file was sent, and is stored.
	Uploaded Step = "uploaded"
	// Failed: the file is not stored. The event has no path if the failure is not about a file.
	Failed Step = "failed"
)

// Event is a line that the program prints.
type Event struct {
	Step Step   `json:"step"`
	Path string `json:"path,omitempty"`
	// Sent is the number of bytes sent so far, and Size the size of the file.
	Sent int64 `json:"sent,omitempty"`
	Size int64 `json:"size,omitempty"`
	// Message is the reason of a failure, with the remedy. It holds no secret.
	Message string `json:"message,omitempty"`
	// Interrupted reports whether the program got a signal to end.
	Interrupted bool `json:"interrupted,omitempty"`
}
