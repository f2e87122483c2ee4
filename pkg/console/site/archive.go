package site

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
)

// Archive returns what reads the archive by the console's own API, as any client with the user's token does: rights and bounds are the same.
func (v *viewer) Archive() pages.Archive {
	if !v.site.options.Archived() {
		return nil
	}
	return &api.Client{
		Base: &url.URL{Scheme: "http", Host: "console"},
		HTTP: &http.Client{Transport: &local{handler: v.site.api, token: v.session.Token, logger: v.site.options.Logger}},
	}
}

// local sends requests of a user to a handler of this process.
type local struct {
	handler http.Handler
	token   string
	logger  *zap.SugaredLogger
}

// RoundTrip returns once the handler begins its answer. The handler goes on while the body is read, and ends once that is closed.
func (l *local) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+l.token)
	reader, writer := io.Pipe()
	answer := &localAnswer{header: http.Header{}, body: writer, begun: make(chan int, 1)}
	go func() {
		defer func() {
			cause := recover() // this goroutine has no caller that could
			if cause == nil {
				answer.WriteHeader(http.StatusOK)
				_ = writer.Close() // it returns nil
				return
			}
			if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				l.logger.Errorw("handler panicked", "path", request.URL.Path, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			}
			answer.WriteHeader(http.StatusInternalServerError)
			_ = writer.CloseWithError(io.ErrUnexpectedEOF) // it returns nil
		}()
		l.handler.ServeHTTP(answer, request)
	}()
	select {
	case status := <-answer.begun:
		return &http.Response{
			Status: http.StatusText(status), StatusCode: status, Header: answer.sent, Body: reader, Request: request, ContentLength: -1,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}, nil
	case <-request.Context().Done():
		_ = reader.CloseWithError(request.Context().Err()) // it returns nil
		return nil, request.Context().Err()
	}
}

// localAnswer is the answer of a handler of this process. One goroutine writes it.
type localAnswer struct {
	header, sent http.Header
	body         *io.PipeWriter
	begun        chan int
}

func (a *localAnswer) Header() http.Header { return a.header }

func (a *localAnswer) WriteHeader(status int) {
	if a.sent == nil {
		a.sent = a.header.Clone()
		a.begun <- status
	}
}

func (a *localAnswer) Write(part []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(part)
}

// SetReadDeadline does nothing: there is no connection. The context of the page's request ends it.
func (a *localAnswer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, like SetReadDeadline.
func (a *localAnswer) SetWriteDeadline(time.Time) error { return nil }
