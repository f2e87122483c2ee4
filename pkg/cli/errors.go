package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The exit codes.
const (
	exitFailed            = 1
	exitUsage             = 2
	exitApplicationFailed = 3
	exitInterrupted       = 130 // as a shell reports SIGINT
)

// UsageError reports that a command line is wrong: the exit code is 2.
type UsageError struct {
	message string
	// command is the command whose help the message names; Run fills it in.
	command string
}

// Usage returns a UsageError. The message names what is wrong, and what to write instead.
func Usage(format string, values ...any) error {
	return &UsageError{message: fmt.Sprintf(format, values...)}
}

func (e *UsageError) Error() string {
	if e.command == "" {
		return e.message
	}
	return fmt.Sprintf("%s (%s --help shows the usage)", e.message, e.command)
}

// asUsage returns the error of what a user wrote wrongly as one of the command line, and any other as it is.
func asUsage(err error) error {
	var invalid *actions.InvalidError
	if errors.As(err, &invalid) {
		return Usage("%v", err)
	}
	return err
}

// ApplicationFailedError reports that the command succeeded and the application failed: the exit code is 3.
type ApplicationFailedError struct{ message string }

// ApplicationFailed returns an ApplicationFailedError.
func ApplicationFailed(format string, values ...any) error {
	return &ApplicationFailedError{fmt.Sprintf(format, values...)}
}

func (e *ApplicationFailedError) Error() string { return e.message }

// FoundError reports that a check has found problems, and has printed them: the exit code is 1, and Run prints nothing.
type FoundError struct{}

func (*FoundError) Error() string { return "something is wrong with the manifests" }

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	var usage *UsageError
	var failed *ApplicationFailedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &failed):
		return exitApplicationFailed
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// oneLine returns an error as one line without secrets.
func (o *Options) oneLine(err error) string {
	lines := strings.FieldsFunc(o.explained(err), func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return Printable(redact.Text(strings.Join(lines, "; ")))
}

// explained returns the text of an error. For errors of the API server and of the connection, it adds the remedy.
func (o *Options) explained(err error) string {
	text := err.Error()
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.Canceled):
		return interruption(err)
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept your credentials (" + text + "): log in again, or choose another user by --context, --user or --token"
	case apierrors.IsForbidden(err) && !strings.Contains(text, "admission"):
		return text + ": ask for the right, or choose another user by --context, --user or --as"
	case meta.IsNoMatchError(err):
		return text + ": the CustomResourceDefinition is not in this cluster, so apply it or choose another --context"
	case errors.As(err, &status):
		return text
	default:
		return o.unanswered(err)
	}
}
