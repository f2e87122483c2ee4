package features

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// user is somebody with kubectl spark, in a namespace of the cluster.
type user struct {
	*cluster.Cluster
	program string
}

// programs is the folder of kubectl spark.
var programs string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "kubectl-spark"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// build builds kubectl spark once, and what it uploads with, which is a module of its own.
var build = sync.OnceValue(func() error {
	for _, source := range []string{"kubectl-spark", "kubectl-spark-upload"} {
		output, err := exec.Command("go", "-C", "../../../cmd/"+source, "build", "-tags=grpcnotrace", "-o", programs, ".").CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", source, err, output)
		}
	}
	return nil
})

func newUser(t *testing.T) *user {
	t.Helper()
	cluster.Must(t, build())
	return &user{Cluster: cluster.New(t), program: filepath.Join(programs, "kubectl-spark")}
}

// spark runs a verb, and returns what it prints and its exit code.
func (u *user) spark(t *testing.T, verb string, args ...string) (output string, code int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), u.program, append([]string{verb, "-n", u.Namespace}, args...)...)
	var both bytes.Buffer
	command.Stdout, command.Stderr = &both, &both
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return both.String(), command.ProcessState.ExitCode()
}

// says runs a verb, and checks its exit code and parts of what it prints.
func (u *user) says(t *testing.T, wantCode int, wants []string, verb string, args ...string) string {
	t.Helper()
	output, code := u.spark(t, verb, args...)
	if code != wantCode {
		t.Fatalf("%s %s: exit code %d, want %d:\n%s", verb, strings.Join(args, " "), code, wantCode, output)
	}
	for _, want := range wants {
		if !strings.Contains(output, want) {
			t.Errorf("%s %s does not say %q:\n%s", verb, strings.Join(args, " "), want, output)
		}
	}
	return output
}

// opens runs a verb that forwards a port, and reads the page behind it until it shows a text: at first, Spark asks for patience.
func (u *user) opens(t *testing.T, shows string, verb ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	command := exec.CommandContext(ctx, u.program, append(verb, "-n", u.Namespace)...)
	output, err := command.StdoutPipe()
	cluster.Must(t, err)
	cluster.Must(t, command.Start())
	defer func() { cancel(); _ = command.Wait() }()
	address := regexp.MustCompile(`http://\S+`)
	var url string
	for lines := bufio.NewScanner(output); url == "" && lines.Scan(); {
		url = address.FindString(lines.Text())
	}
	var page []byte
	err = wait.PollUntilContextTimeout(ctx, time.Second, cluster.RunTime, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err
		}
		defer response.Body.Close()
		page, err = io.ReadAll(response.Body)
		return strings.Contains(string(page), shows), err
	})
	if err != nil {
		t.Errorf("%v; the page of %s is %.500s", err, strings.Join(verb, " "), page)
	}
}

// pi is Spark's own example as its documentation submits it, in small, with the number of parts that it computes.
func pi(name, parts, class string) []string {
	return []string{
		"--spark-version", "4.1.4", "--deploy-mode", "cluster", "--class", "org.apache.spark.examples." + class, "--name", name, "--driver-memory", "512m", "--executor-memory", "512m", "--num-executors", "1",
		"--conf", "spark.kubernetes.driver.request.cores=200m", "--conf", "spark.kubernetes.executor.request.cores=200m",
		"--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=spark", "local:///opt/spark/examples/jars/spark-examples.jar", parts,
	}
}

func TestCommandLineSubmitsAndFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.says(t, 0, []string{"Pi is roughly 3.1"}, "submit", append([]string{"--logs"}, pi("pi", "20", "SparkPi")...)...)
	u.says(t, 0, []string{"pi"}, "wait", "pi")
	u.says(t, 0, []string{"RunningHealthy", "Succeeded"}, "get", "pi")
	u.says(t, 0, []string{"DriverRequested", "RunningHealthy", "Succeeded"}, "events", "pi")
	u.says(t, 0, []string{"application", "pi", "Succeeded"}, "list")
}

var rerunName = regexp.MustCompile(`\S+/(\S+)`)

// A wrong class fails. Why says so, with the command that corrects it, and what that creates succeeds.
func TestCommandLineExplainsAFailureAndRunsItsRemedy(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.says(t, 3, []string{"wrong failed"}, "submit", append([]string{"--wait"}, pi("wrong", "20", "SparkPie")...)...)
	u.says(t, 0, []string{"SparkPie", "Correct the name of the class", "kubectl spark rerun wrong"}, "why", "wrong")
	name := rerunName.FindStringSubmatch(u.says(t, 0, nil, "rerun", "wrong", "--set", "mainClass=org.apache.spark.examples.SparkPi", "-o", "name"))
	if name == nil {
		t.Fatal("rerun prints no name")
	}
	u.says(t, 0, nil, "wait", name[1], "--timeout", cluster.RunTime.String())
	u.says(t, 0, []string{"Succeeded"}, "get", name[1])
}

func TestCommandLineOpensTheUIOfADriver(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.says(t, 0, nil, "submit", pi("long", "100000", "SparkPi")...)
	u.says(t, 0, nil, "wait", "long", "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	u.opens(t, "Spark Jobs", "ui", "long")
	if _, err := u.Kube.Discovery().ServerResourcesForGroupVersion("metrics.k8s.io/v1beta1"); err != nil {
		u.says(t, 1, []string{"install a metrics server"}, "top", "long")
	}
}

// The driver is real, and would run for hours. With a restart policy, only a stop ends it for good.
func TestCommandLineStopsAnApplicationForGood(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	manifest, err := os.ReadFile("../../../examples/pi.yaml")
	cluster.Must(t, err)
	u.ApplyText(t, strings.NewReplacer(
		`driverArgs: ["20"]`, `driverArgs: ["100000"]`, "resourceRetainPolicy: Always", "restartConfig: {restartPolicy: Always, maxRestartAttempts: 3}",
	).Replace(string(manifest)))
	u.says(t, 0, nil, "wait", "spark-pi", "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	u.says(t, 0, []string{"stopped"}, "stop", "spark-pi", "--reason", "not needed")
	u.says(t, 3, nil, "wait", "spark-pi", "--timeout", cluster.RunTime.String())
	u.says(t, 0, []string{"Stopped", "not needed"}, "get", "spark-pi")
	u.AwaitPods(t, "spark-role in (driver, executor)", "are gone", func(pods []corev1.Pod) bool { return len(pods) == 0 })
}

func TestCommandLineStartsARunOfASchedule(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.Apply(t, "../../../examples/nightly.yaml")
	u.says(t, 0, []string{" 02:30:00 +0"}, "schedule", "next", "nightly")
	name := rerunName.FindStringSubmatch(u.says(t, 0, nil, "schedule", "run", "nightly", "-o", "name"))
	if name == nil {
		t.Fatal("schedule run prints no name")
	}
	u.says(t, 0, nil, "wait", name[1], "--timeout", cluster.RunTime.String())
}
