package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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
	urls := map[string]string{"kube-apiserver": "/debug/pprof/profile"}
	for name, path := range urls {
		go func() {
			body, err := p.Kube.CoreV1().RESTClient().Get().AbsPath(path).
				Param("seconds", strconv.Itoa(int(profileLength.Seconds()))).DoRaw(ctx)
			p.keep(name, body, err)
		}()
	}
	if p.profiles != "" {
		go func() {
			body, err := fetch(ctx, fmt.Sprintf("%sprofile?seconds=%d", p.profiles, int(profileLength.Seconds())))
			p.keep("operator", body, err)
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
	for _, program := range sortedKeys(cpu) {
		fmt.Fprintf(&p.report, "  %8.2f  %s\n", milliseconds(cpu[program]-p.cpu[program])/float64(count), program)
	}
	fmt.Fprintf(&p.report, "  requests for each application\n")
	for _, request := range sortedKeys(requests) {
		if each := (requests[request] - p.requests[request]) / float64(count); each >= 0.01 {
			fmt.Fprintf(&p.report, "  %8.2f  %s\n", each, request)
		}
	}
	p.cpu, p.requests = cpu, requests
	return os.WriteFile(filepath.Join(p.dir, "stages.txt"), []byte(p.report.String()), 0o644)
}

// sample returns the CPU time of each process and the number of requests of each kind.
func (p *profiler) sample(ctx context.Context) (cpu map[string]time.Duration, requests map[string]float64, err error) {
	cpu = map[string]time.Duration{}
	if cpu["the operator"], err = p.process.CPU(); err != nil {
		return nil, nil, err
	}
	for _, other := range p.Plane.Processes() {
		if cpu[other.Program()], err = other.CPU(); err != nil {
			return nil, nil, err
		}
	}
	text, err := p.Kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		return nil, nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	requests = map[string]float64{}
	for _, metric := range families["apiserver_request_total"].GetMetric() {
		label := func(name string) string {
			i := slices.IndexFunc(metric.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name })
			if i < 0 {
				return ""
			}
			return metric.GetLabel()[i].GetValue()
		}
		resource := label("resource")
		if subresource := label("subresource"); subresource != "" {
			resource += "/" + subresource
		}
		requests[strings.TrimSpace(label("verb")+" "+resource+" "+label("code"))] += metric.GetCounter().GetValue()
	}
	return cpu, requests, nil
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

func sortedKeys[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
