package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/usage"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// profileLength is how long a CPU profile takes. It begins with the first creation.
const profileLength = 25 * time.Second

// profiler writes what bounds an operator into a folder: CPU profiles of the API server and of the operator, the CPU time of each
// process, and the requests that the API server answered, both by stage. A nil profiler does nothing.
type profiler struct {
	*run
	dir      string
	report   strings.Builder
	cpu      map[string]time.Duration
	requests map[string]float64
}

// begin has profiles made from now on.
func (p *profiler) begin(ctx context.Context) error {
	if p == nil {
		return nil
	}
	seconds := strconv.Itoa(int(profileLength.Seconds()))
	go func() {
		profile, err := p.Kube.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", seconds).DoRaw(ctx)
		p.keep("kube-apiserver", profile, err)
	}()
	if p.profileURL != "" {
		go func() {
			profile, err := firesteel.Fetch(ctx, p.profileURL+"profile?seconds="+seconds)
			p.keep("operator", profile, err)
		}()
	}
	var err error
	p.cpu, p.requests, err = p.sample(ctx)
	return err
}

func (p *profiler) keep(name string, profile []byte, err error) {
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, name+".pprof"), profile, 0o644)
	}
	if err != nil {
		p.say("no profile of %s: %v", name, err)
	}
}

// stage reports what a stage cost each of its applications.
func (p *profiler) stage(ctx context.Context, name string, count int) error {
	if p == nil {
		return nil
	}
	cpu, requests, err := p.sample(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.report, "%s\n  CPU time, ms for each application\n", name)
	for _, program := range slices.Sorted(maps.Keys(cpu)) {
		fmt.Fprintf(&p.report, "  %8.2f  %s\n", milliseconds(cpu[program]-p.cpu[program])/float64(count), program)
	}
	fmt.Fprintf(&p.report, "  requests for each application\n")
	for _, request := range slices.Sorted(maps.Keys(requests)) {
		if each := (requests[request] - p.requests[request]) / float64(count); each >= 0.01 {
			fmt.Fprintf(&p.report, "  %8.2f  %s\n", each, request)
		}
	}
	p.cpu, p.requests = cpu, requests
	return os.WriteFile(filepath.Join(p.dir, "stages.txt"), []byte(p.report.String()), 0o644)
}

// sample returns the CPU time of each process and the number of requests of each kind.
func (p *profiler) sample(ctx context.Context) (cpu map[string]time.Duration, requests map[string]float64, err error) {
	if cpu, err = p.cpuTimes(); err != nil {
		return nil, nil, err
	}
	requests, err = usage.Requests(ctx, p.Kube, func(label func(string) string) string {
		resource := label("resource")
		if subresource := label("subresource"); subresource != "" {
			resource += "/" + subresource
		}
		return strings.TrimSpace(label("verb") + " " + resource + " " + label("code"))
	})
	return cpu, requests, err
}
