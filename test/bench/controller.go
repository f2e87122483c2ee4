package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/integration/controlplane"
)

// controller is Firesteel's, in a process of its own.
type controller struct {
	*controlplane.Process
	profiles, metrics string
	// counting says that it serves metrics.
	counting bool
}

// setup says how a controller runs.
type setup struct {
	// sink is where it sends events; empty for nowhere.
	sink string
	// replica has it take part in elections.
	replica bool
	// counting has it serve metrics.
	counting bool
	// through is how it reaches the API server; nil for directly.
	through *rest.Config
}

// startController starts a controller, and waits until it works.
func (w *world) startController(ctx context.Context, s setup) (*controller, error) {
	c, err := w.launchController(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := w.untilWorking(ctx); err != nil {
		c.Kill()
		return nil, fmt.Errorf("%w\n%s", err, c.Tail(20))
	}
	return c, nil
}

// untilWorking has an application live whom nobody counts.
func (w *world) untilWorking(ctx context.Context) error {
	crowd, err := w.newCrowd(ctx, apacheKind, held, nil)
	if err != nil {
		return err
	}
	defer crowd.close()
	first := []string{"canary"}
	if err := crowd.create(ctx, first); err != nil {
		return err
	}
	if _, err := crowd.untilAll(ctx, first, launched); err != nil {
		return err
	}
	if err := crowd.remove(ctx, first); err != nil {
		return err
	}
	if _, err := crowd.untilAll(ctx, first, gone); err != nil {
		return err
	}
	return w.untilEmpty(ctx, crowd.namespace)
}

func (w *world) launchController(ctx context.Context, s setup) (*controller, error) {
	config := s.through
	if config == nil {
		var err error
		if config, err = w.controllerConfig(ctx); err != nil {
			return nil, err
		}
	}
	ports, err := controlplane.FreePorts(3)
	if err != nil {
		return nil, err
	}
	w.controllers++
	name := filepath.Join(w.dir, fmt.Sprintf("controller-%d", w.controllers))
	if err := controlplane.WriteKubeconfig(name+".kubeconfig", config); err != nil {
		return nil, err
	}
	protocol := "none"
	if s.counting {
		protocol = "prometheus"
	}
	if err := w.configure(ctx, "config-observability", map[string]string{"metrics-protocol": protocol}); err != nil {
		return nil, err
	}
	var arguments []string
	if !s.replica {
		arguments = append(arguments, "-local")
	}
	process, err := controlplane.StartProcess(name+".log", []string{
		"KUBECONFIG=" + name + ".kubeconfig",
		"SYSTEM_NAMESPACE=" + systemNamespace,
		"CONFIG_LOGGING_NAME=config-logging",
		"CONFIG_OBSERVABILITY_NAME=config-observability",
		"CONFIG_LEADERELECTION_NAME=config-leader-election",
		fmt.Sprintf("PROFILING_PORT=%d", ports[0]),
		fmt.Sprintf("METRICS_PROMETHEUS_PORT=%d", ports[1]),
		fmt.Sprintf("PROBE_PORT=%d", ports[2]),
		"K_SINK=" + s.sink,
	}, w.program, arguments...)
	return &controller{
		Process:  process,
		profiles: fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/", ports[0]),
		metrics:  fmt.Sprintf("http://127.0.0.1:%d/metrics", ports[1]),
		counting: s.counting,
	}, err
}

// controllerConfig is how the controller's service account reaches the API server.
func (w *world) controllerConfig(ctx context.Context) (*rest.Config, error) {
	day := int64(24 * 60 * 60)
	answer, err := w.kube.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, "controller",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of the controller: %w", err)
	}
	return w.plane.Config(answer.Status.Token), nil
}

// allocated is what the controller has allocated until now, in bytes, and how often it collected garbage. An answer takes
// memory itself, the more the larger the heap is, and does not count that; where something begins, what the answer before
// took is added for it.
func (c *controller) allocated(ctx context.Context, begins bool) (bytes, collections float64, err error) {
	memory, err := c.memory(ctx, false)
	if err != nil || !begins {
		return memory["TotalAlloc"], memory["NumGC"], err
	}
	again, err := c.memory(ctx, false)
	return again["TotalAlloc"] + again["TotalAlloc"] - memory["TotalAlloc"], again["NumGC"], err
}

// memory is what the Go runtime says of the controller's memory, in bytes, after a collection if that is asked for.
func (c *controller) memory(ctx context.Context, collected bool) (map[string]float64, error) {
	url := c.profiles + "heap?debug=1"
	if collected {
		url += "&gc=1"
	}
	text, err := fetch(ctx, url)
	if err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(text) {
		if name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "# "), " = "); is && strings.HasPrefix(line, "#") {
			if number, err := strconv.ParseFloat(value, 64); err == nil {
				numbers[name] = number
			}
		}
	}
	if numbers["TotalAlloc"] == 0 {
		return nil, errors.New("the profile of the heap does not say how much was allocated")
	}
	return numbers, nil
}

// profile writes what the controller spends its time on to a file, for a while.
func (c *controller) profile(ctx context.Context, file string, length time.Duration) error {
	text, err := fetch(ctx, fmt.Sprintf("%sprofile?seconds=%d", c.profiles, int(length.Seconds())))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func fetch(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return string(body), err
}

// tick is the unit of times in /proc.
const tick = 10 * time.Millisecond

// cpuOf is the time that a process has spent on processors.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in brackets, may have any character; utime and stime are 11 fields behind the one after it.
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", pid, text)
	}
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// residentOf is the memory of a process that is resident, in MiB.
func residentOf(pid int) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if after, is := strings.CutPrefix(lines.Text(), "VmRSS:"); is {
			kib, err := strconv.Atoi(strings.Fields(after)[0])
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no memory", pid)
}
