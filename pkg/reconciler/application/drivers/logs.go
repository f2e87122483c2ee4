package drivers

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/lru"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// logTimeout bounds the reading of a log. It delays the record of an attempt's end by that time at most.
	logTimeout = 2 * time.Second
	// logBytes bounds what is read. The record stores the end of it, as much as it has room for.
	logBytes = 64 << 10
	// maxLogReaders bounds the logs that are read at once, and maxLogReadersPerNamespace those of one namespace. Beyond
	// these bounds, an end is recorded without its log.
	maxLogReaders             = 256
	maxLogReadersPerNamespace = 16
	// maxRememberedLogs bounds the memory of logs that are read and not yet recorded.
	maxRememberedLogs = 256
)

// Logs reads the last lines of the logs of drivers, each once. No worker waits for a log.
type Logs struct {
	kube    kubernetes.Interface
	readers *fairshare.Limiter

	mutex sync.Mutex
	read  *lru.Cache
}

// driverLog is a log that is being read, or that was read.
type driverLog struct {
	done bool
	text string
}

// NewLogs returns a reader that has read nothing yet.
func NewLogs(kube kubernetes.Interface) *Logs {
	return &Logs{kube: kube, readers: fairshare.New(maxLogReaders, maxLogReadersPerNamespace), read: lru.New(maxRememberedLogs)}
}

// Tail returns the last lines of a Pod's log. It returns false while they are read, and calls finished when they are.
func (l *Logs) Tail(
	ctx context.Context, pod types.NamespacedName, uid types.UID, container string, lines int, finished func(),
) (string, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if known, begun := l.read.Get(uid); begun {
		log := known.(driverLog)
		return log.text, log.done
	}
	release, ok := l.readers.TryAcquire(pod.Namespace)
	if !ok {
		return "", true
	}
	l.read.Add(uid, driverLog{})
	go func() {
		text := l.fetch(context.WithoutCancel(ctx), pod, container, int64(lines))
		release()
		l.mutex.Lock()
		l.read.Add(uid, driverLog{done: true, text: text})
		l.mutex.Unlock()
		finished()
	}()
	return "", false
}

// fetch reads a log. If that fails, the end is recorded without the log.
func (l *Logs) fetch(ctx context.Context, pod types.NamespacedName, container string, lines int64) string {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	limit := int64(logBytes)
	text, err := l.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: container, TailLines: &lines, LimitBytes: &limit,
	}).DoRaw(ctx)
	if err != nil {
		logging.FromContext(ctx).Warnw("driver log not readable, apply config/driver-logs for the right to read it",
			"pod", pod, zap.Error(err))
	}
	return string(text)
}
