package history

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"knative.dev/pkg/logging"
)

// prefix is where WebHDFS begins.
const prefix = "/webhdfs/v1"

// contentParameter marks the second request of OPEN. The first one is redirected, as a name node does: the client needs that to seek.
const contentParameter = "content"

// permission lets all read.
const (
	filePermission   = "444"
	folderPermission = "555"
)

// ServeHTTP implements the part of WebHDFS that reads.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok {
		http.NotFound(w, r)
		return
	}
	query := r.URL.Query()
	operation := strings.ToUpper(query.Get("op"))
	if r.Method != http.MethodGet {
		refuse(w, operation)
		return
	}
	switch operation {
	case "GETFILESTATUS":
		status, err := v.stat(name)
		answer(w, r, map[string]any{"FileStatus": fileStatus(status)}, err)
	case "LISTSTATUS":
		statuses, err := v.list(name)
		entries := make([]map[string]any, len(statuses))
		for i, status := range statuses {
			entries[i] = fileStatus(status)
		}
		answer(w, r, map[string]any{"FileStatuses": map[string]any{"FileStatus": entries}}, err)
	case "CHECKACCESS":
		if strings.Contains(query.Get("fsaction"), "w") {
			refuse(w, operation)
			return
		}
		if _, err := v.stat(name); err != nil {
			fail(w, r, err)
		}
	case "GETDELEGATIONTOKEN":
		answer(w, r, map[string]any{"Token": nil}, nil) // as a cluster without Kerberos
	case "OPEN":
		v.serveFile(w, r, name, query)
	default:
		writeError(w, http.StatusBadRequest, "java.lang.IllegalArgumentException", "this view does not have the operation "+strconv.Quote(operation))
	}
}

// refuse answers an operation that would change something.
func refuse(w http.ResponseWriter, operation string) {
	writeError(w, http.StatusForbidden, "org.apache.hadoop.security.AccessControlException", strconv.Quote(operation)+" is refused: the archive is read-only here")
}

// serveFile answers OPEN.
func (v *View) serveFile(w http.ResponseWriter, r *http.Request, name string, query url.Values) {
	if !query.Has(contentParameter) {
		if _, err := v.file(name); err != nil {
			fail(w, r, err)
			return
		}
		location := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path}
		query.Set(contentParameter, "true")
		location.RawQuery = query.Encode()
		w.Header().Set("Location", location.String())
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	offset := int64(0)
	if text := query.Get("offset"); text != "" {
		var err error
		if offset, err = strconv.ParseInt(text, 10, 64); err != nil {
			writeError(w, http.StatusBadRequest, "java.lang.IllegalArgumentException", "offset is no number")
			return
		}
	}
	release, err := v.read(r.Context())
	if err != nil {
		fail(w, r, err)
		return
	}
	defer release()
	content, length, err := v.open(r.Context(), name, offset)
	if err != nil {
		fail(w, r, err)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	if _, err := io.Copy(w, content); err != nil && r.Context().Err() == nil {
		logging.FromContext(r.Context()).Errorw("an event log was not read to its end", "path", name, zap.Error(err))
	}
}

// fileStatus returns a status as WebHDFS has it.
func fileStatus(s status) map[string]any {
	status := map[string]any{
		"pathSuffix": s.name, "type": "FILE", "length": s.size, "permission": filePermission, "owner": "firesteel", "group": "firesteel",
		"modificationTime": milliseconds(s.modified), "accessTime": 0, "blockSize": 128 << 20, "replication": 1, "fileId": 0, "childrenNum": s.children,
	}
	if s.isFolder {
		status["type"], status["permission"], status["blockSize"], status["replication"] = "DIRECTORY", folderPermission, 0, 0
	}
	return status
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// answer writes a result, or the error.
func answer(w http.ResponseWriter, r *http.Request, result any, err error) {
	if err != nil {
		fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, result)
}

// fail writes an error as the client of Hadoop expects it: an exception of Java.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, ErrNotFound) {
		writeError(w, http.StatusNotFound, "java.io.FileNotFoundException", "File does not exist: "+strings.TrimPrefix(r.URL.Path, prefix))
		return
	}
	logging.FromContext(r.Context()).Errorw("an event log cannot be read", "path", r.URL.Path, zap.Error(err))
	writeError(w, http.StatusInternalServerError, "java.io.IOException", "the event log cannot be read: the log of the container that serves it has the reason")
}

func writeError(w http.ResponseWriter, code int, class, message string) {
	writeJSON(w, code, map[string]any{"RemoteException": map[string]any{
		"exception": class[strings.LastIndexByte(class, '.')+1:], "javaClassName": class, "message": message,
	}})
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	// Spark's copy of Hadoop's client cannot parse the header: it lacks a class for that. Without the header, it reads the body as JSON.
	w.Header()["Content-Type"] = nil
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value) // the client is gone if it fails
}
