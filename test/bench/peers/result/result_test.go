package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// example returns a result of three rounds. The medians of all figures are those of the second round.
func example() *Result {
	ours := Figures{
		Drivers: 38.25, ThreeQuarters: 60, Released: 67.5, Deleted: 13.25, AtRestP50: 27, AtRestP99: 49,
		OperatorCPU: 8.9, AllCPU: 137, Memory: 109,
	}
	theirs := Figures{
		Drivers: 49.5, ThreeQuarters: 90, Released: 191.9, Deleted: 9.8, AtRestP50: 30, AtRestP99: 49,
		OperatorCPU: 45, AllCPU: 122, Memory: 1876,
	}
	return &Result{
		Date:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Machine: report.Machine{CPU: "a CPU", Cores: 2, Memory: "24 GiB", Kernel: "6.1", Load: "0.10"},
		Versions: Versions{
			Firesteel: "abc", ApacheOperator: "def", JavaOperatorSDK: "v5.5.1", Java: "25.0.3", Kubernetes: "v1.35.4",
		},
		Applications: 1000, AtRest: 100,
		Rounds: []Round{
			{First: Firesteel, Firesteel: times(ours, 0.5), Apache: times(theirs, 3)},
			{First: Apache, Firesteel: ours, Apache: theirs},
			{First: Firesteel, Firesteel: times(ours, 4), Apache: times(theirs, 0.25)},
		},
	}
}

// times returns figures multiplied by a factor.
func times(f Figures, factor float64) Figures {
	return Figures{
		Drivers: f.Drivers * factor, ThreeQuarters: f.ThreeQuarters * factor, Released: f.Released * factor, Deleted: f.Deleted * factor,
		AtRestP50: f.AtRestP50 * factor, AtRestP99: f.AtRestP99 * factor,
		OperatorCPU: f.OperatorCPU * factor, AllCPU: f.AllCPU * factor, Memory: f.Memory * factor,
	}
}

const exampleTable = `2026-01-02, 2 cores of a CPU, 24 GiB of memory, load 0.10 before. Firesteel abc; Apache operator def with Java Operator SDK v5.5.1, Java 25.0.3; Kubernetes v1.35.4.
1,000 applications at once, then 100 one at a time. Medians of 3 rounds, 2 of them with Firesteel first.

| | Firesteel | Apache operator | ratio |
|---|---:|---:|---:|
| all drivers created | 38.2 s | 49.5 s | 1.29 |
| 750 of 1,000 released | 60 s | 90 s | 1.50 |
| all released | 67.5 s | 192 s | 2.84 |
| all deleted, in one call | 13.2 s | 9.8 s | 0.74: Firesteel is slower |
| one at a time, from creation to driver Pod, p50 | 27 ms | 30 ms | 1.11 |
| the same, p99 | 49 ms | 49 ms | 1.00 |
| CPU time of the operator for one application | 8.9 ms | 45 ms | 5.06 |
| CPU time of all processes for one application | 137 ms | 122 ms | 0.89: Firesteel uses more |
| memory of the operator, peak | 109 MiB | 1876 MiB | 17.21 |
`

func TestTableHasMediansRatiosAndWhatIsWorse(t *testing.T) {
	if diff := cmp.Diff(exampleTable, example().Table()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTableOfOneRoundNamesIt(t *testing.T) {
	r := example()
	r.Rounds = r.Rounds[:1]
	if table := r.Table(); !strings.Contains(table, " One round.\n") || strings.Contains(table, "Medians") {
		t.Errorf("table is:\n%s", table)
	}
}

func TestMedianOfAnEvenNumberOfRoundsIsBetweenTheMiddleTwo(t *testing.T) {
	r := example()
	r.Rounds = r.Rounds[:2]
	if table := r.Table(); !strings.Contains(table, "| all released | 50.6 s | 384 s | 7.58 |") {
		t.Errorf("table is:\n%s", table)
	}
}

func TestRatioIsBelowOneIfItIsWrittenSo(t *testing.T) {
	for theirs, want := range map[float64]string{
		0.994: "0.99: worse", 0.996: "1.00", 1: "1.00", 1.004: "1.00", 1.006: "1.01", 0.5: "0.50: worse",
	} {
		if got := ratio(1, theirs, "worse"); got != want {
			t.Errorf("the ratio of %g to 1 is written %q, want %q", theirs, got, want)
		}
	}
}

func TestThousandsHaveCommas(t *testing.T) {
	for n, want := range map[int]string{7: "7", 750: "750", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

func TestPageGetsTheTableBetweenItsMarkers(t *testing.T) {
	before, after := "# A page\n\n", "\nMore.\n"
	page, err := example().Insert(before + begin + "an earlier table\n" + end + after)
	if err != nil {
		t.Fatal(err)
	}
	if want := before + begin + exampleTable + end + after; page != want {
		t.Errorf("page (-want +got):\n%s", cmp.Diff(want, page))
	}
	again, err := example().Insert(page)
	if err != nil || again != page {
		t.Errorf("the second time the page differs, error %v:\n%s", err, cmp.Diff(page, again))
	}
}

func TestPageWithoutMarkersIsRefused(t *testing.T) {
	for name, page := range map[string]string{"neither": "# A page\n", "only the first": begin, "only the last": end, "reversed": end + begin} {
		if got, err := example().Insert(page); err == nil {
			t.Errorf("%s: the page is %q", name, got)
		}
	}
}

func TestResultIsReadAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	if err := example().Write(file); err != nil {
		t.Fatal(err)
	}
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), read); diff != "" {
		t.Errorf("result (-written +read):\n%s", diff)
	}
}

func TestIncompleteResultIsRefused(t *testing.T) {
	for name, damage := range map[string]func(*Result){
		"date":        func(r *Result) { r.Date = time.Time{} },
		"machine":     func(r *Result) { r.Machine.CPU = "" },
		"version":     func(r *Result) { r.Versions.ApacheOperator = "" },
		"number":      func(r *Result) { r.AtRest = 0 },
		"a round":     func(r *Result) { r.Rounds = nil },
		"round 2":     func(r *Result) { r.Rounds[1].First = "" },
		"all deleted": func(r *Result) { r.Rounds[2].Apache.Deleted = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := example()
			damage(r)
			file := filepath.Join(t.TempDir(), "result.json")
			if err := r.Write(file); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), name) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestFileThatIsNoResultIsRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "a report of make bench": `{"time": "2026-01-02T03:04:05Z", "figures": []}`} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "result.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
