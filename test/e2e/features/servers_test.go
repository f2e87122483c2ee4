package features

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestConnectServerAnswersQueries(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/connect-server.yaml")
	var rows int64
	awaitAnswer(t, c, "connect", func(ctx context.Context) error {
		address, stop, err := forward(ctx, c, "connect-0-driver", "15002")
		if err != nil {
			return err
		}
		defer stop()
		rows, err = countRows(ctx, address, "select explode(sequence(1, 42))")
		return err
	})
	if rows != 42 {
		t.Errorf("the query has %d rows, not 42", rows)
	}
}

func TestThriftServerAnswersQueries(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/thrift-server.yaml")
	inDriver := []string{"-n", c.Namespace, "exec", "thrift-0-driver", "--"}
	awaitAnswer(t, c, "thrift", func(ctx context.Context) error {
		return exec.CommandContext(ctx, "kubectl", append(inDriver, "bash", "-c", "</dev/tcp/localhost/10000")...).Run()
	})
	answer := c.Run(t, "", "kubectl", append(inDriver, "/opt/spark/bin/beeline", "--silent=true", "--outputformat=csv2",
		"-u", "jdbc:hive2://localhost:10000", "-e", "select concat('sum ', sum(id)) as answer from range(101)")...)
	if !strings.Contains(answer, "sum 5050\n") {
		t.Errorf("the answer is %s", answer)
	}
}

func TestHistoryServerAnswers(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/history-server.yaml")
	var answer []byte
	awaitAnswer(t, c, "history", func(ctx context.Context) (err error) {
		answer, err = c.Kube.CoreV1().Pods(c.Namespace).
			ProxyGet("http", "history-0-driver", "18080", "/api/v1/version", nil).DoRaw(ctx)
		return err
	})
	if !strings.Contains(string(answer), manifested) {
		t.Errorf("the version is %s", answer)
	}
}

// awaitAnswer asks the server that an application is until it answers.
func awaitAnswer(t *testing.T, c *cluster.Cluster, name string, ask func(context.Context) error) {
	t.Helper()
	var problem error
	defer func() {
		if t.Failed() {
			t.Logf("asked, %s last said: %v", name, problem)
		}
	}()
	healthy := cluster.InState("RunningHealthy")
	c.Await(t, name, "answering", func(app *sparkv1.SparkApplication) bool {
		if !healthy(app) {
			return false
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		problem = ask(ctx)
		return problem == nil
	})
}

var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+)`)

// forward makes a pod's port one of this machine's, and returns its address. kubectl gives up when nothing answers there.
func forward(ctx context.Context, c *cluster.Cluster, pod, port string) (address string, stop func(), err error) {
	kubectl := exec.CommandContext(ctx, "kubectl", "-n", c.Namespace, "port-forward", pod, ":"+port)
	output, err := kubectl.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := kubectl.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = kubectl.Process.Kill()
		_ = kubectl.Wait()
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	match := forwarding.FindStringSubmatch(line)
	if err != nil || match == nil {
		stop()
		return "", nil, errors.Join(fmt.Errorf("kubectl port-forward says %q", line), err)
	}
	return match[1], stop, nil
}
