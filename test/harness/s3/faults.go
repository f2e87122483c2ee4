package s3

import (
	"io"
	"net/http"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// Refuse answers with an error of the S3 protocol.
func Refuse(status int, code string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body) // the client has left
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code><Message>the test refuses it</Message></Error>`)
	}
}

// Lie answers that an object is stored, and stores nothing. Other requests are served.
func Lie(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method != http.MethodPut {
		next.ServeHTTP(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // the client has left
	w.Header().Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
}

// Lose serves a request and loses the answer.
func Lose(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(&discarded{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// discarded is an answer that no client gets.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header               { return d.header }
func (d *discarded) Write(content []byte) (int, error) { return len(content), nil }
func (d *discarded) WriteHeader(int)                   {}

// Cut breaks the connection of an answer off after some bytes.
func Cut(bytes int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&cut{w, bytes}, r)
	}
}

type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(content []byte) (int, error) {
	if len(content) > c.left {
		_, _ = c.ResponseWriter.Write(content[:c.left]) // the client has left
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(content)
	return c.ResponseWriter.Write(content)
}

// stormy is a way in which a request fails in a storm.
type stormy struct {
	name   string
	weight float64
	// onlyWrites reports whether only requests that store something fail so.
	onlyWrites bool
	serve      Fault
}

// StormFaults are the names of the faults of Storm.
func StormFaults() (names []string) {
	for _, fault := range storm(nil, 0) {
		names = append(names, fault.name)
	}
	return names
}

func storm(random *rng.Rand, delay time.Duration) []stormy {
	slow := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		timer := time.NewTimer(random.Between(0, delay))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		next.ServeHTTP(w, r)
	}
	return []stormy{
		{"storage error", 2, false, Refuse(http.StatusInternalServerError, "InternalError")},
		{"storage busy", 2, false, Refuse(http.StatusServiceUnavailable, "SlowDown")},
		{"storage forbidden", 1, false, Refuse(http.StatusForbidden, "AccessDenied")},
		{"storage full", 2, true, Refuse(http.StatusInsufficientStorage, "XMinioStorageFull")},
		{"storage slow", 3, false, slow},
		{"storage answer lost", 2, false, Lose},
		{"storage lies", 2, true, Lie},
	}
}

// Storm lets a share of the requests fail at random, in all of these ways. It counts each fault by its name.
func Storm(random *rng.Rand, share float64, delay time.Duration, count func(fault string)) Fault {
	faults := storm(random, delay)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		fault := rng.Pick(random, faults, func(f stormy) float64 { return f.weight })
		if !random.Chance(share) || fault.onlyWrites && r.Method != http.MethodPut {
			next.ServeHTTP(w, r)
			return
		}
		count(fault.name)
		fault.serve(w, r, next)
	}
}
