// Command record runs real spark-submit of each version on all cases, and compares what it makes on a real API server
// with the recordings and with what Firesteel makes. With -write it writes the recordings.
//
// KUBEBUILDER_ASSETS is the folder of kube-apiserver and etcd; Java must be on the PATH.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/parity"
)

// ownNamespace is where Firesteel's objects are tried.
const ownNamespace = "built-by-firesteel"

// recorder runs the cases on one API server.
type recorder struct {
	*server
	folder   string // that spark-submit runs in
	write    bool
	missing  bool
	meant    parity.Deviations
	failures int
}

func main() {
	write := flag.Bool("write", false, "write the recordings instead of comparing with them")
	missing := flag.Bool("missing", false, "run only the cases without recording")
	versions := flag.String("versions", strings.Join(parity.Versions, ","), "run only these versions of Spark")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := record(ctx, *write, *missing, strings.Split(*versions, ","))
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, write, missing bool, versions []string) error {
	dir, err := os.MkdirTemp("", "parity-")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "conf"), 0o755); err != nil {
		return err
	}
	meant, err := parity.LoadDeviations()
	if err != nil {
		return err
	}
	s, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Stop()
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	r := &recorder{server: s, folder: folder, write: write, missing: missing, meant: meant}
	if err := r.createNamespaces(ctx, versions); err != nil {
		return err
	}
	for _, version := range versions {
		if err := r.version(ctx, version); err != nil {
			return fmt.Errorf("version %s: %w (files are in %s)", version, err, dir)
		}
	}
	if r.failures > 0 {
		return fmt.Errorf("%d differences; files are in %s", r.failures, dir)
	}
	return os.RemoveAll(dir)
}

func (r *recorder) createNamespaces(ctx context.Context, versions []string) error {
	names := []string{ownNamespace}
	for _, version := range versions {
		for _, c := range parity.Cases(version) {
			names = append(names, c.Namespace())
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := r.createNamespace(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) version(ctx context.Context, version string) error {
	home, err := sparkHome(ctx, version)
	if err != nil {
		return err
	}
	if !r.missing {
		if err := r.compareSpeed(ctx, home, version); err != nil {
			return err
		}
	}
	if err := r.executors(ctx, home, version); err != nil {
		return err
	}
	if err := r.lines(ctx, home, version); err != nil {
		return err
	}
	oracle, err := startOracle(ctx, r.server, home, version)
	if err != nil {
		return err
	}
	defer oracle.stop()
	recordings, err := parity.Load(version)
	if err != nil {
		return err
	}
	count, refused, start := 0, 0, time.Now()
	cases := parity.Cases(version)
	for _, c := range cases {
		if r.missing && recordings.Has(c) {
			continue
		}
		count++
		recording, err := r.run(ctx, oracle, version, c, recordings)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if recording.RefusedBy != "" {
			refused++
		}
	}
	fmt.Printf("Spark %s: %d cases, of which it refuses %d (%s)\n", version, count, refused, time.Since(start).Round(time.Second))
	if !r.write {
		return nil
	}
	return recordings.Write(cases)
}

// run records one case and compares the three: the recording of old, spark-submit of today, and Firesteel, which gets
// the case as a plan and as an application of the Apache operator's API.
func (r *recorder) run(
	ctx context.Context, o *oracle, version string, c parity.Case, recordings *parity.Recordings,
) (*parity.Recording, error) {
	recording, err := r.submit(ctx, o, c)
	if err != nil {
		return nil, err
	}
	known := recordings.Has(c)
	if changed := recordings.Set(c, recording); changed && known && !r.write {
		r.fail("%s/%s: spark-submit does otherwise now", version, c.Name)
	}
	built, refusal := c.Build(version, ownNamespace)
	r.compare(ctx, parity.Comparison{Case: c, Version: version, Recorded: recording, Refusal: refusal}, built)

	if c.OfValue() {
		return recording, nil // go test has them in that API
	}
	app, err := r.applied(ctx, c, version)
	if err != nil {
		return nil, err
	}
	built, refusal = c.BuildApache(app)
	r.compare(ctx, parity.Comparison{
		Case: c, Version: version, API: parity.Apache, Recorded: recording.Apache(c),
		Refusal: refusal, Message: parity.RefusalInApache(refusal, app),
	}, built)
	return recording, nil
}

// compare has the API server complete what Firesteel built, and compares that.
func (r *recorder) compare(ctx context.Context, c parity.Comparison, built []parity.Object) {
	if c.Refusal == nil {
		completed, err := r.tryCreate(ctx, ownNamespace, built)
		if err != nil {
			if c.Recorded.RefusedBy == "" {
				r.fail("%s/%s %s: the API server refuses it of Firesteel: %v", c.Version, c.Name, c.API, err)
			}
			return
		}
		if c.Recorded.RefusedBy == parity.ByServer {
			r.fail("%s/%s %s: the API server refuses it of spark-submit alone: %s", c.Version, c.Name, c.API, c.Recorded.Message)
		}
		built = completed
	}
	c.Built = renamed(parity.Normal(built), ownNamespace, c.Namespace())
	for _, wrong := range c.Wrong(r.meant) {
		r.fail("%s/%s %s: %v", c.Version, c.Name, c.API, wrong)
	}
}

// applied is the case as an application that the API server has taken.
func (r *recorder) applied(ctx context.Context, c parity.Case, version string) (*sparkv1.SparkApplication, error) {
	manifest, err := c.Manifest(version, ownNamespace)
	if err != nil {
		return nil, err
	}
	object := parity.Object{}
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return nil, err
	}
	taken, err := r.client.Resource(applications).Namespace(ownNamespace).Create(ctx,
		&unstructured.Unstructured{Object: object}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	text, err := taken.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return parity.Decode(text)
}

func (r *recorder) submit(ctx context.Context, o *oracle, c parity.Case) (*parity.Recording, error) {
	arguments, err := r.submitArguments(c, r.dir)
	if err != nil {
		return nil, err
	}
	by, message, err := o.submit(arguments)
	if err != nil {
		return nil, err
	}
	if by == parity.ByServer {
		_, err = r.take(ctx, c.Namespace())
	}
	if by != "" {
		return &parity.Recording{RefusedBy: by, Message: r.fixed(essence(message))}, err
	}
	objects, err := r.take(ctx, c.Namespace())
	if err != nil {
		return nil, err
	}
	fields := parity.Normal(objects)
	for field, value := range fields {
		if text, given := value.(string); given {
			fields[field] = r.fixed(text)
		}
	}
	return &parity.Recording{Fields: fields}, nil
}

// essence is a message without the repetitions of the API's client.
func essence(message string) string {
	if _, reason, found := strings.Cut(message, "Message: "); found {
		message = reason
	}
	message, _, _ = strings.Cut(message, " Received status:")
	return message[:min(len(message), 300)]
}

// positions are places in a list that Spark shuffles.
var positions = regexp.MustCompile(`volumeMounts\[\d+\]`)

// fixed replaces what differs from run to run.
func (r *recorder) fixed(text string) string {
	text = strings.ReplaceAll(text, r.config.Host, "https://kubernetes.default.svc")
	text = strings.ReplaceAll(text, r.folder, "/submitter")
	text = positions.ReplaceAllString(text, "volumeMounts[]")
	return parity.FixedText(strings.ReplaceAll(text, r.dir, "/tmp"))
}

func (r *recorder) fail(format string, arguments ...any) {
	r.failures++
	fmt.Printf("FAIL "+format+"\n", arguments...)
}

func renamed(fields parity.Fields, from, to string) parity.Fields {
	for field, value := range fields {
		if text, given := value.(string); given {
			fields[field] = strings.ReplaceAll(text, from, to)
		}
	}
	return fields
}

// compareSpeed prints the CPU times of the command spark-submit and of Firesteel for the same application.
func (r *recorder) compareSpeed(ctx context.Context, home, version string) error {
	c := parity.Cases(version)[0]
	arguments, err := r.submitArguments(c, r.dir)
	if err != nil {
		return err
	}
	sparks, err := r.realSubmit(ctx, home, arguments)
	if err != nil {
		return err
	}
	if _, err := r.take(ctx, c.Name); err != nil {
		return err
	}
	plan, err := c.Plan(version, c.Name)
	if err != nil {
		return err
	}
	var cpu time.Duration
	ours := testing.Benchmark(func(b *testing.B) {
		start := cpuTime()
		for range b.N {
			if _, err := submission.Build(plan); err != nil {
				b.Fatal(err)
			}
		}
		cpu = (cpuTime() - start) / time.Duration(b.N)
	})
	fmt.Printf("Spark %s: spark-submit takes %s of CPU time; Firesteel builds the same in %s and %d bytes, %d times less\n",
		version, sparks.Round(10*time.Millisecond), cpu, ours.AllocedBytesPerOp(), sparks/max(cpu, 1))
	return nil
}

// cpuTime is that of this process until now.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
