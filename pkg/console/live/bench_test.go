package live

import (
	"fmt"
	"net/url"
	"runtime"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// benchApps and benchLiving are the applications of the benchmark, and how many of them run. Each of these has four executors.
const benchApps, benchLiving = 10_000, 2_000

// newBench returns a Live with the applications of the benchmark, and the memory that they take.
func newBench(b *testing.B) (*env, uint64) {
	b.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := newEnv(b)
	for i := range benchApps {
		a := app{
			namespace: fmt.Sprintf("team-%02d", i%50), name: fmt.Sprintf("application-%05d", i), age: time.Duration(i) * 8 * time.Second, acknowledged: 7,
			labels: map[string]string{"team": fmt.Sprintf("team-%d", i%20), "app.kubernetes.io/name": "etl"}, kubeflow: i%2 == 0, states: doneStates,
		}
		switch {
		case i < benchLiving:
			a.states = runningStates
		case i%10 == 0:
			a.states, a.failure = failedStates, "The driver exited with code 1."
		}
		e.set(a)
		if i < benchLiving {
			e.pod(newPodOf(a, "driver", "", corev1.PodRunning))
			for n := range 4 {
				e.pod(newPodOf(a, "executor", fmt.Sprint(n+1), corev1.PodRunning))
			}
		}
	}
	e.flush()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return e, after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}

func BenchmarkTenThousandApplications(b *testing.B) {
	e, memory := newBench(b)
	for name, parameters := range map[string]string{
		"first page": "", "last page": "offset=9900", "failed by duration": "outcome=failed&sort=duration", "by text": "text=999", "by label": "labelSelector=team%3Dteam-3&sort=name",
	} {
		values, err := url.ParseQuery(parameters)
		if err != nil {
			b.Fatal(err)
		}
		query, err := ParseQuery(values)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			measure(b, func() {
				if page := e.Page(everything{}, query); page.Total == 0 {
					b.Fatal("the page is empty")
				}
			})
			b.ReportMetric(float64(memory)/(1<<20), "MiB-held")
		})
	}
	b.Run("overview", func(b *testing.B) {
		measure(b, func() { e.Overview(everything{}, now.Add(-24*time.Hour)) })
	})
	b.Run("details", func(b *testing.B) {
		ref := app{namespace: "team-01", name: "application-00001"}.ref()
		measure(b, func() {
			if _, ok := e.Details(ref, true); !ok {
				b.Fatal("there are none")
			}
		})
	})
	b.Run("change", func(b *testing.B) {
		a := app{namespace: "team-01", name: "application-00001", states: runningStates, age: time.Hour}
		measure(b, func() {
			e.set(a)
			e.flush()
		})
	})
}

// measure repeats what is measured, and reports the CPU time that it takes: the machine may do other work, too.
func measure(b *testing.B, once func()) {
	b.Helper()
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
