package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// example is a report of one figure of each kind.
func example() *Report {
	r := &Report{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Commit: "abc",
		Machine:  Machine{CPU: "a CPU", Cores: 2, Memory: "24 GiB", Kernel: "6.1", Load: "0.10"},
		Settings: map[string]string{"n": "1000", Failed: "cost: interrupted"},
	}
	r.Add("throughput", "Apache, in process", "drivers exist", "applications/s", 40, 44, 42).Against(50).RatioAbove(0.75)
	r.Add("throughput", "Apache, in process", "released", "applications/s", 20).Against(50).RatioAbove(0.75)
	r.Add("cost", "Apache", "CPU", "ms/application", 4.25).Below(5)
	r.Add("cost", "Apache", "events", "events/application", 7)
	r.Add("cost", "Apache", "gets", "requests/application", 0.25)
	r.Add("cost", "Kubeflow", "gets", "requests/application", 0.5)
	return r
}

func TestTableHasFiguresAndGoals(t *testing.T) {
	var text strings.Builder
	if err := example().Table(&text); err != nil {
		t.Fatal(err)
	}
	want := `2026-01-02 03:04 UTC, commit abc: 2 cores of a CPU, 24 GiB, Linux 6.1, load 0.10
1000 applications

**Incomplete**: cost: interrupted

| throughput | | | against | ratio | goal |
|---|---|---:|---:|---:|---|
| Apache, in process | drivers exist | 42 applications/s | 50 | 0.84 | ≥ 0.75: met |
| Apache, in process | released | 20 applications/s | 50 | 0.40 | ≥ 0.75: **missed** |

| cost | | | against | ratio | goal |
|---|---|---:|---:|---:|---|
| Apache | CPU | 4.25 ms/application |  |  | ≤ 5 ms/application: met |

| cost | | Apache | Kubeflow |
|---|---|---:|---:|
| events | events/application | 7 |  |
| gets | requests/application | 0.25 | 0.5 |
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTheBenchmarkFormatHasALineForEachFigure(t *testing.T) {
	var text strings.Builder
	if err := example().Benchmarks(&text); err != nil {
		t.Fatal(err)
	}
	want := `cpu: a CPU
applications: 1000
Unit applications/s better=higher
Unit events/application better=lower
Unit ms/application better=lower
Unit ratio:applications/s better=higher
Unit requests/application better=lower
BenchmarkFiresteel/throughput/Apache,in-process/drivers-exist 1 42 applications/s 0.84 ratio:applications/s
BenchmarkFiresteel/throughput/Apache,in-process/released 1 20 applications/s 0.4 ratio:applications/s
BenchmarkFiresteel/cost/Apache/CPU 1 4.25 ms/application
BenchmarkFiresteel/cost/Apache/events 1 7 events/application
BenchmarkFiresteel/cost/Apache/gets 1 0.25 requests/application
BenchmarkFiresteel/cost/Kubeflow/gets 1 0.5 requests/application
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("benchmarks (-want +got):\n%s", diff)
	}
}

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	if err := example().Write(file); err != nil {
		t.Fatal(err)
	}
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), read); diff != "" {
		t.Errorf("report (-written +read):\n%s", diff)
	}
}

func TestSamplesOfTheSameFigureAreGathered(t *testing.T) {
	r := &Report{}
	r.Add("a", "b", "c", "s", 1)
	r.Add("a", "b", "d", "s", 5)
	r.Add("a", "b", "c", "s", 3, 2)
	if len(r.Figures) != 2 || r.Figures[0].Value() != 2 {
		t.Errorf("figures are %+v", r.Figures)
	}
}

func TestFileThatIsNoReportIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut off": `{"figures": [{"part": "co`, "of something else": `{}`, "with a figure that is missing": `{"figures": [null]}`,
		"with a figure without samples": `{"figures": [{"part": "cost"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestARatioToNothingMeetsNoGoal(t *testing.T) {
	if !new(Report).Add("growth", "many", "CPU", "ms", 4).Against(0).RatioBelow(1.2).Missed() {
		t.Error("the goal is met")
	}
}

func TestTimesHaveQuantiles(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	p50, p90, p99 := (&Report{}).AddTimes("latency", "Apache", "driver Pod", times)
	for want, figure := range map[float64]*Figure{50.5: p50, 91: p90, 100: p99} {
		if figure.Value() != want {
			t.Errorf("%s is %g, want %g", figure.Name, figure.Value(), want)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 0.012345: "0.0123", 1.5: "1.5", 12.345: "12.3", 123.4: "123", 12345: "12345", 0.1: "0.1"} {
		if got := Number(value); got != want {
			t.Errorf("%g is written %s, want %s", value, got, want)
		}
	}
}
