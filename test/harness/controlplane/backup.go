package controlplane

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// Backup copies the data of etcd at one instant to a folder that does not exist yet.
func (c *ControlPlane) Backup(ctx context.Context, folder string) error {
	etcd := c.processes[slices.IndexFunc(c.processes, isProgram("etcd"))]
	if err := etcd.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, "cp", "--archive", c.path("etcd"), folder).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("copy the data of etcd: %w\n%s", err, output)
	}
	return errors.Join(err, etcd.Signal(syscall.SIGCONT))
}

// Restore kills the control plane and starts it with the data of a backup. With raise, resource versions continue above the
// highest one there was, as after etcdutl snapshot restore --bump-revision. Otherwise those after the backup are used again.
// When the API server answers, and before the other programs run, answered is called with the resource version of the backup.
func (c *ControlPlane) Restore(ctx context.Context, folder string, raise bool, answered func(backup string) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	before, err := c.revision(ctx)
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(c.processes) {
		p.Kill()
	}
	if err := os.RemoveAll(c.path("etcd")); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, "cp", "--archive", folder, c.path("etcd")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy the data of etcd: %w\n%s", err, output)
	}
	var backup int64
	for i, dead := range c.processes {
		if c.processes[i], err = dead.Restart(); err != nil {
			return err
		}
		switch p := c.processes[i]; {
		case isProgram("etcd")(p):
			err = await(ctx, p, func(ctx context.Context) bool {
				backup, err = c.revision(ctx)
				return err == nil
			})
			if err == nil && raise {
				err = c.raiseRevision(ctx, int(before-backup)+1)
			}
		case isProgram("kube-apiserver")(p):
			if err = await(ctx, p, c.answers); err == nil {
				err = answered(strconv.FormatInt(backup, 10))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isProgram(name string) func(*process.Process) bool {
	return func(p *process.Process) bool { return p.Program() == name }
}

// revision is the revision of etcd, which is the resource version of the API server.
func (c *ControlPlane) revision(ctx context.Context) (int64, error) {
	answer, err := c.askEtcd(ctx, "range", `{"key": "AA=="}`)
	return answer.Header.Revision, err
}

// raiseRevision writes a key that the API server does not read a number of times.
func (c *ControlPlane) raiseRevision(ctx context.Context, count int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(32)
	put := fmt.Sprintf(`{"key": %q}`, base64.StdEncoding.EncodeToString([]byte("revision")))
	for range count {
		group.Go(func() error {
			_, err := c.askEtcd(ctx, "put", put)
			return err
		})
	}
	return group.Wait()
}

// etcdAnswer is an answer of etcd.
type etcdAnswer struct {
	Header struct {
		Revision int64 `json:"revision,string"`
	} `json:"header"`
	Values []struct {
		Value []byte `json:"value"`
	} `json:"kvs"`
}

// askEtcd sends a request about keys to etcd.
func (c *ControlPlane) askEtcd(ctx context.Context, method, body string) (result etcdAnswer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.etcdURL+"/v3/kv/"+method, strings.NewReader(body))
	if err != nil {
		return result, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return result, err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		return result, fmt.Errorf("etcd: %s: %w", answer.Status, err)
	}
	if result.Header.Revision == 0 {
		return result, fmt.Errorf("etcd answers with %s", answer.Status)
	}
	return result, nil
}
