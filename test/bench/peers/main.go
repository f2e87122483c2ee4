// Peers compares Firesteel with the Apache operator: both run the same applications on the same machine, one after the other,
// each on a control plane of its own with simulated nodes.
//
//	peers -ako=CLONE -josdk=CLONE    measures, and writes the result to a file
//	peers table FILE                 makes that result the one of the repository, and writes its table into the pages
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/machine"
	"github.com/firesteel-dev/firesteel/test/bench/peers/result"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

const (
	fewest, most = 20, 10_000
	mostRounds   = 20
	// roundLimit bounds a round.
	roundLimit = time.Hour
)

// pages are those that have the table, and committed is the result that it is of.
var pages = []string{"README.md", "docs/operators/benchmarks.md"}

const committed = "test/bench/peers/result.json"

// comparison is a run of this program.
type comparison struct {
	root         string
	applications int
	rounds       int
	// only names the one operator that is measured; empty for both.
	only string
	// profiles is the folder for profiles; empty for none.
	profiles string
	began    time.Time
}

func main() {
	if err := start(); err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(1)
	}
}

func start() error {
	c := &comparison{began: time.Now()}
	flag.StringVar(&c.root, "root", ".", "the folder of Firesteel's source")
	operatorClone := flag.String("ako", "", "a clone of apache/spark-kubernetes-operator; what it has checked out is measured")
	sdkClone := flag.String("josdk", "", "a clone of operator-framework/java-operator-sdk, with tags")
	flag.IntVar(&c.applications, "n", 1000, fmt.Sprintf("the number of applications at once, %d to %d", fewest, most))
	flag.IntVar(&c.rounds, "rounds", 3, fmt.Sprintf("the number of rounds, 1 to %d; every other one begins with Firesteel", mostRounds))
	flag.StringVar(&c.only, "only", "", "measure only one operator, and write no result: "+result.Firesteel+" (which needs no clones) or "+result.Apache)
	flag.StringVar(&c.profiles, "profiles", "", "the folder for profiles of the API server and of Firesteel, CPU times and requests by stage; none by default")
	out := flag.String("out", "peers.json", "the file for the result")
	flag.Parse()
	if flag.Arg(0) == "table" && flag.NArg() == 2 {
		return table(c.root, flag.Arg(1))
	}
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is not understood: the one command is table FILE", flag.Args())
	case c.only != "" && c.only != result.Firesteel && c.only != result.Apache:
		return fmt.Errorf("-only=%q: name %s or %s", c.only, result.Firesteel, result.Apache)
	case c.only != result.Firesteel && (*operatorClone == "" || *sdkClone == ""):
		return errors.New("name clones of apache/spark-kubernetes-operator and operator-framework/java-operator-sdk: make bench-peers AKO=DIR JOSDK=DIR")
	case c.applications < fewest || c.applications > most:
		return fmt.Errorf("-n=%d: name a number from %d to %d", c.applications, fewest, most)
	case c.rounds < 1 || c.rounds > mostRounds:
		return fmt.Errorf("-rounds=%d: name a number from 1 to %d", c.rounds, mostRounds)
	case os.Getenv(controlplane.Assets) == "":
		return fmt.Errorf("%s names no folder with etcd, kube-apiserver and kwok: run make bench-peers, which builds them", controlplane.Assets)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "firesteel-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if c.only != "" {
		return c.alone(ctx, dir, *operatorClone, *sdkClone)
	}
	r, err := c.compare(ctx, dir, *operatorClone, *sdkClone)
	if r == nil || len(r.Rounds) == 0 {
		return err
	}
	// The rounds before a failure are worth as much.
	err = errors.Join(err, r.Write(*out))
	fmt.Printf("\n%s", r.Table())
	return err
}

// table makes a result the committed one, and writes its table into the pages.
func table(root, file string) error {
	r, err := result.Read(file)
	if err != nil {
		return err
	}
	for _, page := range pages {
		page = filepath.Join(root, page)
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		changed, err := r.Insert(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		if err := os.WriteFile(page, []byte(changed), 0o644); err != nil {
			return err
		}
	}
	return r.Write(filepath.Join(root, committed))
}

// atRest is the number of applications that are created one at a time.
func (c *comparison) atRest() int { return max(c.applications/10, 20) }

// compare builds both operators in a folder, and measures them by turns.
func (c *comparison) compare(ctx context.Context, dir, operatorClone, sdkClone string) (*result.Result, error) {
	described := machine.Describe() // before the build, which is a load itself
	c.logf("building Firesteel and the Apache operator")
	ours, err := buildFiresteel(ctx, c.root, dir)
	if err != nil {
		return nil, err
	}
	build, err := buildApache(ctx, c.root, filepath.Join(dir, "apache"), operatorClone, sdkClone)
	if err != nil {
		return nil, err
	}
	r := &result.Result{
		Date: c.began, Machine: described, Applications: c.applications, AtRest: c.atRest(),
		Versions: result.Versions{
			Firesteel: machine.Commit(ctx, c.root), ApacheOperator: build.commit, JavaOperatorSDK: build.sdkTag, Java: build.javaVersion,
		},
	}
	version, err := output(ctx, filepath.Join(os.Getenv(controlplane.Assets), "kube-apiserver"), "--version")
	if err != nil {
		return nil, err
	}
	r.Versions.Kubernetes = strings.TrimPrefix(version, "Kubernetes ")
	for i := range c.rounds {
		order := []*operator{ours, build.operator()}
		if i%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		round, err := c.round(ctx, order, i+1, dir)
		if err != nil {
			return r, fmt.Errorf("round %d: %w", i+1, err)
		}
		r.Rounds = append(r.Rounds, round)
	}
	return r, nil
}

// alone measures the one operator that was asked for, and reports nothing but what it says on the way.
func (c *comparison) alone(ctx context.Context, dir, operatorClone, sdkClone string) error {
	c.logf("building %s", c.only)
	o, err := buildFiresteel(ctx, c.root, dir)
	if c.only == result.Apache {
		var build *apacheBuild
		if build, err = buildApache(ctx, c.root, filepath.Join(dir, "apache"), operatorClone, sdkClone); err == nil {
			o = build.operator()
		}
	}
	if err != nil {
		return err
	}
	for i := range c.rounds {
		c.logf("round %d of %d: %s", i+1, c.rounds, o.name)
		if _, err := c.measure(ctx, o, filepath.Join(dir, fmt.Sprint("run-", i))); err != nil {
			return err
		}
	}
	return nil
}

// profiler makes the profiler of a run; nil if no profiles are asked for.
func (c *comparison) profiler(ctx context.Context, o *operator, r *run) (*profiler, error) {
	if c.profiles == "" {
		return nil, nil
	}
	dir := filepath.Join(c.profiles, o.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if o.profileURL == "" {
		return &profiler{run: r, dir: dir}, nil
	}
	return &profiler{run: r, dir: dir}, r.Configure(ctx, "config-observability", map[string]string{"runtime-profiling": "enabled"})
}

// round measures both operators in an order.
func (c *comparison) round(ctx context.Context, order []*operator, number int, dir string) (result.Round, error) {
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	round := result.Round{First: order[0].name}
	for _, o := range order {
		c.logf("round %d of %d: %s", number, c.rounds, o.name)
		folder := filepath.Join(dir, "run")
		figures, err := c.measure(ctx, o, folder)
		if err != nil {
			return round, err
		}
		if err := os.RemoveAll(folder); err != nil {
			return round, err
		}
		if o.name == result.Firesteel {
			round.Firesteel = figures
		} else {
			round.Apache = figures
		}
	}
	return round, nil
}

// logf prints the progress of the run.
func (c *comparison) logf(format string, arguments ...any) {
	log.Printf("%7.1fs  %s", time.Since(c.began).Seconds(), fmt.Sprintf(format, arguments...))
}
