package console_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// noise stores a log that cannot be compressed well, in chunks of 1 MiB as the handler writes them.
func (e *env) noise(chunks int) {
	e.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	file := e.archive.Attempt(application("team-a", "etl", "uid-1", 0).ID(), 0).File(
		"logs", driverLog.Pod, string(driverLog.PodUID), driverLog.Container, "0")
	for i := range chunks {
		var text strings.Builder
		for text.Len() < 1<<20 {
			fmt.Fprintf(&text, "2026-01-31T12:%02d:00Z %x\n", i, random.Uint64())
		}
		if err := file.Append(e.t.Context(), int64(i)<<20, []byte(text.String()[:1<<20])); err != nil {
			e.t.Fatal(err)
		}
	}
}

// kernelBuffer is the size of the buffers in the kernel. A log is larger than all of them, so that the server waits for who reads slowly.
const kernelBuffer = 64 << 10

// smallBuffers is a listener whose connections have small buffers in the kernel.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err == nil {
		err = connection.(*net.TCPConn).SetWriteBuffer(kernelBuffer) //nolint:forcetypeassert // it is a listener of TCP
	}
	return connection, err
}

// memory returns the bytes that the process uses, without garbage.
func memory() int64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second one
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc + stats.StackInuse)
}

// The console may use 256 MiB.
func TestLogsThatAreReadSlowlyTakeLittleMemory(t *testing.T) {
	const readers, streams, most = 16, 16, 96 << 20
	e := newEnv(t)
	e.store(application("team-a", "etl", "uid-1", 0))
	e.noise(2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: console.NewHandler(e, e, zap.NewNop().Sugar()), ReadHeaderTimeout: time.Minute}
	defer server.Close()
	go func() { _ = server.Serve(smallBuffers{listener}) }() // it is closed
	before := memory()
	var compressed atomic.Int64
	var all sync.WaitGroup
	for reader := range readers {
		for range streams {
			all.Go(func() {
				if e.readSlowly(listener.Addr().String(), fmt.Sprintf("%s; reader %d", getLogs, reader)) {
					compressed.Add(1)
				}
			})
		}
	}
	all.Wait()
	used := memory() - before
	t.Logf("%d logs that are read slowly take %d KiB, which is %d KiB each; %d are compressed", readers*streams, used>>10, used/readers/streams>>10, compressed.Load())
	if used > most {
		t.Errorf("%d logs take %d MiB, want at most %d MiB", readers*streams, used>>20, most>>20)
	}
	// They are more if one takes so long that its reader is disconnected. What too many would take is more than the bound.
	if compressed.Load() < 32 {
		t.Errorf("%d logs are compressed, want 32", compressed.Load())
	}
}

// readSlowly begins to read a log that may be compressed, reads no further until the end of the test, and reports whether it is compressed.
func (e *env) readSlowly(address, rights string) bool {
	connection, err := (&net.Dialer{}).DialContext(context.WithoutCancel(e.t.Context()), "tcp", address)
	if err != nil {
		e.t.Error(err)
		return false
	}
	e.t.Cleanup(func() { connection.Close() })
	if err := connection.(*net.TCPConn).SetReadBuffer(kernelBuffer); err != nil { //nolint:forcetypeassert // it is a connection of TCP
		e.t.Error(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: console\r\nAuthorization: %s\r\nAccept-Encoding: gzip\r\n\r\n", api.Prefix+logPath, rights)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		e.t.Errorf("got %v, %v", answer, err)
		return false
	}
	e.t.Cleanup(func() { answer.Body.Close() })
	return answer.Header.Get("Content-Encoding") == "gzip"
}
