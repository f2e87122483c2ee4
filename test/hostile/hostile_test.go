package hostile_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/cost"
	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	clusterapi "github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/hostile"
)

var (
	count = flag.Int("hostile.count", 10, "how many manifests of each kind are drawn")
	seed  = flag.Uint64("hostile.seed", 0, "what they are drawn from; 0 for anything")
)

// allowance is what a step may take, garbage included, for each byte of an object.
type allowance struct {
	cpu   time.Duration
	bytes uint64
}

// ordinaryDecoding is what decoding takes for each byte of an ordinary object on an idle machine.
const ordinaryDecoding = 10 * time.Nanosecond

// Every step may take mostCPU and mostBytes, and what a byte of an ordinary object explains. BenchmarkOrdinaryObjects measures
// that: decoding takes ordinaryDecoding and 6 bytes for each, and what takes most takes 61 ns and 28 bytes. The rest is for
// noise, and for objects that a launch is then refused for. A step that takes more is measured again, against what the machine
// needs at that moment.
var (
	toDecode   = allowance{30 * time.Nanosecond, 16}
	toDoOthers = allowance{300 * time.Nanosecond, 128}
)

const (
	mostCPU, mostBytes = 100 * time.Millisecond, 64 << 20
	// mostRepeats is how often a step that takes too long is measured again.
	mostRepeats = 5
	// mostSaid is how long a status may become.
	mostSaid = 64 << 10
)

func (s step) allowance() allowance {
	if s.name == "decoding" {
		return toDecode
	}
	return toDoOthers
}

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// step is a part of what is done with an object.
type step struct {
	name string
	do   func() error
}

func TestHostileObjectsCostWhatTheirSizeExplains(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("repeat this with -hostile.seed=%d -hostile.count=%d", *seed, *count)
	for _, k := range hostile.Kinds {
		t.Run(k.String(), func(t *testing.T) {
			for number := range *count {
				m := k.Manifest(*seed, uint64(number), "hostile", "bad")
				if len(m.JSON) > hostile.MaxSize {
					t.Errorf("%d: %s is of %d bytes", number, m.What, len(m.JSON))
				}
				if !wantCheap(t, k, m.JSON) {
					t.Errorf("this was manifest %d: %s", number, m.What)
				}
			}
		})
	}
}

// FuzzObjects checks that an applied object costs no more than its size explains.
func FuzzObjects(f *testing.F) {
	for i, k := range hostile.Kinds {
		for number := range 3 {
			if m := k.Manifest(1, uint64(number), "hostile", "bad"); len(m.JSON) < 64<<10 {
				f.Add(uint8(i), m.JSON)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		wantCheap(t, hostile.Kinds[int(which)%len(hostile.Kinds)], data)
	})
}

// wantCheap measures each step of the work on an object.
func wantCheap(t *testing.T, k hostile.Kind, data []byte) bool {
	t.Helper()
	before := heap()
	cheap := true
	for _, s := range stepsOf(k, data) {
		var err error
		spent := cost.Of(func() { err = s.do() })
		its := s.allowance()
		most := cost.Cost{CPU: mostCPU + its.cpu*time.Duration(len(data)), Bytes: mostBytes + its.bytes*uint64(len(data))}
		for range mostRepeats { // since other processes slow this one for a while
			if spent.CPU <= most.CPU {
				break
			}
			again := float64(cost.Of(func() { err = s.do() }).CPU) / slowness(t)
			spent.CPU = min(spent.CPU, time.Duration(again))
		}
		if spent.CPU > most.CPU || spent.Bytes > most.Bytes {
			cheap = false
			t.Errorf("%s: %s of %d KiB takes %s and %d MiB", k, s.name, len(data)>>10, spent.CPU, spent.Bytes>>20)
		}
		if err != nil {
			cheap = false
			t.Errorf("%s: %s: %.1000v", k, s.name, err)
		}
	}
	if after := heap(); after > before+mostBytes {
		cheap = false
		t.Errorf("%s: %d MiB stay", k, (after-before)>>20)
	}
	return cheap
}

// slowness is how many times as long as on an idle machine an ordinary object takes to decode now; at least 1.
func slowness(t *testing.T) float64 {
	t.Helper()
	k := hostile.Kinds[0]
	data := k.With(ordinarySpecs()["properties"].(map[string]any))
	decoding := stepsOf(k, data)[0]
	spent := cost.Of(func() {
		if err := decoding.do(); err != nil {
			t.Fatal(err)
		}
	})
	return max(1, float64(spent.CPU)/float64(ordinaryDecoding*time.Duration(len(data))))
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func stepsOf(k hostile.Kind, data []byte) []step {
	switch k.APIVersion + " " + k.Kind {
	case "spark.apache.org/v1 SparkApplication":
		return stepsOfApplication(data, &sparkv1.SparkApplication{}, apache.New(apache.Defaults{}))
	case "spark-operator.k8s.io/v1alpha1 SparkApplication":
		return stepsOfApplication(data, &earlyv1alpha1.SparkApplication{}, early.New(early.NewSettings()))
	case "sparkoperator.k8s.io/v1beta2 SparkApplication":
		return stepsOfApplication(data, &v1beta2.SparkApplication{}, kubeflow.New(settings.NewDefaults()))
	case "spark.apache.org/v1 SparkCluster":
		return stepsOfCluster(data)
	case "firesteel.dev/v1alpha1 ScheduledSparkApplication":
		return stepsOfSchedule(data, variant.Apache, &firesteelv1alpha1.ScheduledSparkApplication{})
	default:
		return stepsOfSchedule(data, variant.Kubeflow, &v1beta2.ScheduledSparkApplication{})
	}
}

// decode decodes an object that may be none at all, which no API server has.
func decode(data []byte, into any, undecodable func() string) (ok bool, err error) {
	if json.Unmarshal(data, into) != nil {
		return false, nil
	}
	if said := undecodable(); len(said) > 2<<10 {
		return false, fmt.Errorf("%d bytes say why it is undecodable", len(said))
	}
	return undecodable() == "", nil
}

func stepsOfApplication(data []byte, app dialect.Application, d dialect.Dialect) []step {
	var ok bool
	var warnings []string
	var refused string
	var objects *submission.Objects
	var told dialect.Application
	unless := func(do func() error) func() error {
		return func() error {
			if !ok {
				return nil
			}
			return do()
		}
	}
	return []step{
		{"decoding", func() (err error) { ok, err = decode(data, app, app.GetUndecodable); return err }},
		{"reading", unless(func() error { d.Policy(app); return nil })},
		{"hashing", unless(func() error { d.Spec(app).Hash(spec.HashVersion); return nil })},
		{"warning", unless(func() error { warnings = d.Warnings(app).Sentences(); return nil })},
		{"building", unless(func() (err error) {
			objects, err = build(app, d)
			if refused = ""; err != nil {
				refused = d.Refusals(app, err).String()
			}
			return nil
		})},
		{"encoding", unless(func() error {
			if objects != nil {
				_, err := json.Marshal(objects)
				return err
			}
			return nil
		})},
		{"projecting", unless(func() error { told = project(app, d, warnings, refused); return nil })},
		{"telling", unless(func() error { return checkSaid(d, app, told) })},
	}
}

func build(app dialect.Application, d dialect.Dialect) (*submission.Objects, error) {
	plan, err := d.Plan(app, firesteelv1alpha1.Attempt{Since: metav1.NewMicroTime(now)})
	if err != nil {
		return nil, err
	}
	d.Ingredients(app)
	plan.Labels = map[string]string{"firesteel.dev/launch-id": "x"}
	d.AddLaunchLabels(&plan, strings.Repeat("0", 32))
	objects, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	return objects, d.Complete(app, objects)
}

// project makes the status of an application that is new, and of one that is refused.
func project(app dialect.Application, d dialect.Dialect, warnings []string, refused string) dialect.Application {
	policy := d.Policy(app)
	record, _ := lifecycle.Decide(nil, policy, lifecycle.Observation{}, now)
	if refused != "" {
		cause := &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: "InvalidSpec", Message: refused}
		record, _ = lifecycle.Decide(record, policy, lifecycle.Observation{LaunchRefused: cause}, now)
	}
	told := dialect.Copy(app)
	d.Project(told, record, dialect.Facts{Now: now, Policy: policy, Warnings: warnings})
	return told
}

// checkSaid checks that the messages of an application are short.
func checkSaid(d dialect.Dialect, app, told dialect.Application) error {
	for _, said := range d.KubernetesEvents(app, told) {
		if len(said.Message) > mostSaid {
			return fmt.Errorf("an Event is of %d bytes", len(said.Message))
		}
	}
	before, err := json.Marshal(app)
	if err != nil {
		return err
	}
	after, err := json.Marshal(told)
	if err != nil {
		return err
	}
	if added := len(after) - len(before); added > mostSaid {
		return fmt.Errorf("the status is of %d bytes", added)
	}
	return nil
}

func stepsOfCluster(data []byte) []step {
	var ok bool
	c := &sparkv1.SparkCluster{}
	var objects *resources.Objects
	return []step{
		{"decoding", func() (err error) { ok, err = decode(data, c, c.GetUndecodable); return err }},
		{"building", func() (err error) {
			if ok {
				objects, err = resources.Build(c, resources.Defaults{})
			}
			return err
		}},
		{"encoding", func() error { _, err := json.Marshal(objects); return err }},
		{"projecting", func() error {
			if !ok {
				return nil
			}
			policy := clusterapi.Policy(c, time.Minute, time.Minute)
			record, _ := cluster.Decide(nil, policy, cluster.Observation{}, now)
			told := c.DeepCopy()
			clusterapi.Project(told, record, clusterapi.Facts{Now: now, Warnings: clusterapi.Warnings(c).Sentences()})
			status, err := json.Marshal(told.Status)
			if len(status) > mostSaid {
				return fmt.Errorf("the status is of %d bytes", len(status))
			}
			return err
		}},
	}
}

func stepsOfSchedule(data []byte, k *variant.Kind, s variant.Schedule) []step {
	var ok bool
	var policy schedule.Policy
	return []step{
		{"decoding", func() (err error) { ok, err = decode(data, s, s.GetUndecodable); return err }},
		{"reading", func() error {
			if ok {
				policy = k.PolicyOf(s, now)
			}
			return nil
		}},
		{"deciding", func() error {
			if !ok {
				return nil
			}
			for _, at := range []time.Time{now, now.Add(time.Hour), now.AddDate(0, 1, 0)} {
				decision := schedule.Decide(s, policy, at)
				schedule.Project(s, policy, decision, "", at)
			}
			status, err := json.Marshal(s.GetScheduleStatus())
			if len(status) > mostSaid {
				return fmt.Errorf("the status is of %d bytes", len(status))
			}
			return err
		}},
		{"starting", func() error {
			if ok && policy.Refusal() == nil {
				_, _ = k.NewRun(s, now) // which says why not
			}
			return nil
		}},
	}
}
