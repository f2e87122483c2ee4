package features

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
	"github.com/firesteel-dev/firesteel/test/harness/localhost"
)

// pages are those of a console on this machine, in a browser that has its session.
type pages struct {
	client  *http.Client
	address string
}

// console runs kubectl spark console, follows its link, and ends it as Ctrl-C does after the test.
func (u *user) console(t *testing.T) *pages {
	t.Helper()
	command := exec.Command(u.program, "console", "--no-browser", "-n", u.Namespace)
	output, err := command.StdoutPipe()
	cluster.Must(t, err)
	cluster.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			t.Errorf("the console ends with %v", err)
		}
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	cluster.Must(t, err)
	link, err := url.Parse(strings.TrimSpace(line))
	cluster.Must(t, err)
	jar, err := cookiejar.New(nil)
	cluster.Must(t, err)
	p := &pages{&http.Client{Transport: localhost.Transport(), Jar: jar}, link.Scheme + "://" + link.Host + strings.TrimSuffix(link.Path, "/sign-in")}
	p.until(t, link.String(), "Overview")
	return p
}

// until reads a page until it has a text, and returns the address to which it led.
func (p *pages) until(t *testing.T, address, want string) (at *url.URL) {
	t.Helper()
	var page []byte
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, cluster.RunTime, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false, err
		}
		response, err := p.client.Do(request)
		if err != nil {
			return false, err
		}
		defer response.Body.Close()
		at = response.Request.URL
		page, err = io.ReadAll(response.Body)
		return strings.Contains(string(page), want), err
	})
	if err != nil {
		t.Fatalf("%s does not have %q (%v): %.1000s", address, want, err, page)
	}
	return at
}

// The Spark UI comes from the real driver, through the API server. TestConsoleServesEachPageOfSparkUIs of test/history reads each of its pages.
func TestConsoleOnAMachineShowsAnApplicationAndItsUI(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	p := u.console(t)
	u.says(t, 0, nil, "submit", pi("long", "100000", "SparkPi")...)
	const application = "sparkapplications.spark.apache.org/long"
	page := p.address + "/applications/" + u.Namespace + "/" + application
	p.until(t, page, "RunningHealthy")
	p.until(t, page+"?tab=logs", "TaskSetManager")
	p.until(t, page+"?tab=events", "Scheduled")
	ui := p.address + "/spark-ui/" + u.Namespace + "/" + application
	jobs := p.until(t, ui, "Spark Jobs")
	for path, want := range map[string]string{
		"../stages/": "Stages for All Jobs", "../environment/": "Runtime Information", "../executors/threadDump/?executorId=1": "executor-heartbeater",
		"../api/v1/applications": "sparkUser", "../static/executorspage-template.html": "active-executors-table", "../jobs/job/kill/?id=0": "Nothing was done",
	} {
		at, err := jobs.Parse(path)
		cluster.Must(t, err)
		p.until(t, at.String(), want)
	}
	u.says(t, 0, []string{"stopped"}, "stop", "long")
	p.until(t, page, "Stopped")
	p.until(t, ui, "its UI ended with it")
}
