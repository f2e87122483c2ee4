package console

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

const (
	objectsFolder = "objects"
	// maxObject bounds an archived object. The API server takes none that is half as large.
	maxObject = 4 << 20
	// stallTimeout is how long a client may read nothing of a log.
	stallTimeout = 30 * time.Second
)

// readAttempt returns what is archived of an attempt. While it runs it has no manifest, and logs at most.
func readAttempt(ctx context.Context, stored *archive.Attempt, number int64) (api.Attempt, error) {
	answer := api.Attempt{Attempt: number}
	manifest, err := stored.Manifest(ctx)
	switch {
	case archive.IsNotFound(err):
		logs, err := stored.Logs(ctx)
		if err != nil {
			return answer, err
		}
		for _, log := range logs {
			answer.Logs = append(answer.Logs, logOf(archive.Log{LogID: log.LogID, Bytes: log.Bytes}))
		}
	case err != nil:
		return answer, err
	default:
		describe(&answer, manifest)
	}
	usage, err := stored.Get(ctx, maxUsage, usageFile)
	if err == nil && json.Valid(usage) {
		answer.Usage = usage
	}
	if err != nil && !archive.IsNotFound(err) {
		return answer, err
	}
	return answer, nil
}

func describe(answer *api.Attempt, manifest *archive.Manifest) {
	answer.ApplicationID = manifest.ApplicationID
	answer.Began, answer.Ended, answer.Archived = &manifest.Began, &manifest.Ended, &manifest.Archived
	answer.State, answer.Outcome, answer.Message = manifest.State, manifest.Outcome, manifest.Message
	for _, log := range manifest.Logs {
		answer.Logs = append(answer.Logs, logOf(log))
	}
	for _, object := range manifest.Objects {
		answer.Objects = append(answer.Objects, api.Object{File: object.File, Kind: object.Kind, Name: object.Name})
	}
	for _, missing := range manifest.Missing {
		answer.Missing = append(answer.Missing, api.Missing{What: missing.What, Why: missing.Why})
	}
}

func logOf(log archive.Log) api.Log {
	return api.Log{
		Pod: log.Pod, PodUID: string(log.PodUID), Container: log.Container, Restart: log.Restart, Role: log.Role, From: log.From, To: log.To,
		Bytes: log.Bytes, BeginningMissing: log.BeginningMissing, Missing: log.Missing,
	}
}

// attempt returns the attempt of a path, after a right was checked.
func (h *handler) attempt(q *Request, right access.Right) (*archive.Attempt, error) {
	number, err := strconv.ParseInt(q.PathValue("attempt"), 10, 64)
	if err != nil || number < 0 {
		return nil, Invalid("the attempt", q.PathValue("attempt"), "write a number from 0 on")
	}
	if err := q.allowedOn(right, q.PathValue("resource")); err != nil {
		return nil, err
	}
	from, id, err := h.find(q, &notFoundError{what: q.what(), needs: right.String()})
	if err != nil {
		return nil, err
	}
	return from.Attempt(id, number), nil
}

// objectRight returns the right that reading an archived object needs: that on its own kind, by its file.
func objectRight(q *Request, object archive.Object) (access.Right, bool) {
	namespace := q.PathValue("namespace")
	right := access.Right{Verb: "get", Namespace: namespace, Name: object.Name}
	switch object.Kind {
	case "SparkApplication", "SparkCluster", "Transition":
		return access.RightOn("get", q.PathValue("resource"), namespace, q.PathValue("name")), true
	case "Event":
		right.Resource, right.Name = "events", ""
	case "Pod":
		right.Resource = "pods"
	case "ConfigMap":
		right.Resource = "configmaps"
	case "Service":
		right.Resource = "services"
	default:
		return access.Right{}, false
	}
	return right, true
}

// object answers with an archived object. The reader needs the right on the application, which names the objects, and that on the object's own kind.
func (h *handler) object(q *Request) error {
	onApplication := access.RightOn("get", q.PathValue("resource"), q.PathValue("namespace"), q.PathValue("name"))
	stored, err := h.attempt(q, onApplication)
	if err != nil {
		return err
	}
	manifest, err := stored.Manifest(q.Context())
	if err != nil {
		return q.missing(err, onApplication)
	}
	file := q.PathValue("file")
	i := slices.IndexFunc(manifest.Objects, func(object archive.Object) bool { return object.File == file })
	if i < 0 {
		return &notFoundError{what: q.what(), needs: onApplication.String()}
	}
	right, known := objectRight(q, manifest.Objects[i])
	if !known {
		return &notFoundError{what: q.what(), needs: onApplication.String()}
	}
	if err := q.allowed(right, q.what()); err != nil {
		return err
	}
	content, err := stored.Get(q.Context(), maxObject, objectsFolder, file)
	if err != nil {
		return q.missing(err, right)
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = q.w.Write(content) // the client has left
	return nil
}

// logRight is the right that logs need.
func logRight(namespace, pod string) access.Right {
	return access.Right{Verb: "get", Resource: "pods", Subresource: "log", Namespace: namespace, Name: pod}
}

// log answers with a log, or a part of it.
func (h *handler) log(q *Request) error {
	restart, err := strconv.ParseInt(q.PathValue("restart"), 10, 32)
	if err != nil || restart < 0 {
		return Invalid("the number of restarts", q.PathValue("restart"), "write a number from 0 on")
	}
	options, err := q.logOptions()
	if err != nil {
		return err
	}
	right := logRight(q.PathValue("namespace"), q.PathValue("pod"))
	stored, err := h.attempt(q, right)
	if err != nil {
		return err
	}
	id := archive.LogID{
		Pod: q.PathValue("pod"), PodUID: types.UID(q.PathValue("podUID")), Container: q.PathValue("container"), Restart: int32(restart),
	}
	var stream io.ReadCloser
	err = h.holding(q, func() error { // where its lines begin is found in memory
		stream, err = stored.OpenLog(q.Context(), id, options)
		return err
	})
	if err != nil {
		return q.missing(err, right)
	}
	defer stream.Close()
	if err := h.stream(q, stream); err != nil {
		h.logger.Infow("log broken off", "path", q.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // the client sees that the end is missing
	}
	return nil
}

func (q *Request) logOptions() (options archive.LogOptions, err error) {
	options.Tail = -1
	parameters := q.URL.Query()
	if text := parameters.Get("timestamps"); text != "" {
		if options.Timestamps, err = strconv.ParseBool(text); err != nil {
			return options, Invalid("timestamps", text, "write true or false")
		}
	}
	if options.Since, err = TimeOf("since", parameters.Get("since")); err != nil {
		return options, err
	}
	for name, number := range map[string]*int64{"tail": &options.Tail, "offset": &options.Offset, "length": &options.Length} {
		text := parameters.Get(name)
		if text == "" {
			continue
		}
		if *number, err = strconv.ParseInt(text, 10, 64); err != nil || *number < 0 {
			return options, Invalid(name, text, "write a number from 0 on")
		}
	}
	if (options.Offset > 0 || options.Length > 0) && !options.Timestamps {
		return options, Invalid("timestamps", parameters.Get("timestamps"), "offset and length count the bytes with timestamps: write timestamps=true")
	}
	return options, nil
}

// stream copies a log to the client, compressed if the client takes that and there is memory for it. A client that stops to read is disconnected.
func (h *handler) stream(q *Request, from io.Reader) error {
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q.w.Header().Set("Vary", "Accept-Encoding")
	to, err := q.patientWriter()
	if err != nil {
		return err
	}
	if !acceptsGzip(q.Header.Values("Accept-Encoding")) || !h.beginCompressing() {
		_, err := io.Copy(to, from)
		return err
	}
	defer h.endCompressing()
	q.w.Header().Set("Content-Encoding", "gzip")
	compressed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(compressed, from); err != nil {
		return err
	}
	return compressed.Close()
}

// beginCompressing reports whether another log may be compressed now.
func (h *handler) beginCompressing() bool {
	select {
	case h.compressed <- struct{}{}:
		return true
	default:
		return false
	}
}

func (h *handler) endCompressing() { <-h.compressed }

// acceptsGzip reports whether a client takes gzip, and does not forbid it by a quality of 0.
func acceptsGzip(values []string) bool {
	for _, coding := range strings.Split(strings.Join(values, ","), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(strings.TrimPrefix(quality, "q="), "0.") != "" || quality == ""
		}
	}
	return false
}

// patientWriter gives each write its own time, up to an end.
type patientWriter struct {
	to      io.Writer
	control *http.ResponseController
	end     time.Time
}

// patientWriter returns a writer of an answer that takes as long as the client reads, up to the deadline of the request, which handle sets.
func (q *Request) patientWriter() (*patientWriter, error) {
	control := http.NewResponseController(q.w)
	end, _ := q.Context().Deadline()
	// The server's bound on reading a request would end the request's context while its answer is sent.
	if err := control.SetReadDeadline(end); err != nil {
		return nil, fmt.Errorf("extend the bound on reading: %w", err)
	}
	return &patientWriter{q.w, control, end}, nil
}

// Write implements io.Writer.
func (p *patientWriter) Write(content []byte) (int, error) {
	deadline := time.Now().Add(stallTimeout)
	if p.end.Before(deadline) {
		deadline = p.end
	}
	if err := p.control.SetWriteDeadline(deadline); err != nil {
		return 0, fmt.Errorf("bound the time of a write: %w", err)
	}
	return p.to.Write(content)
}

// eventLogs answers with the files of Spark's event log. They hold what logs hold, and need the same right.
func (h *handler) eventLogs(q *Request) error {
	right := logRight(q.PathValue("namespace"), "")
	stored, err := h.attempt(q, right)
	if err != nil {
		return err
	}
	files, err := stored.Files(q.Context(), archive.EventLogFolder)
	if err != nil {
		return q.missing(err, right)
	}
	answer := api.EventLogs{Items: []api.EventLog{}}
	for _, file := range files {
		answer.Items = append(answer.Items, api.EventLog{Path: path.Join(file.Path[1:]...), Bytes: file.Size, Modified: file.Modified})
	}
	return q.Write(answer)
}
