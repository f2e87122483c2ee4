package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/eventing"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

const (
	eventingModule = "eventing" // a folder with a go.mod of its own
	// eventingItem holds the layer with the programs, and the manifests.
	eventingItem      = "images/eventing"
	eventingManifests = "manifests.json"
	programFolder     = "/ko-app"
	// eventingApplied is what was applied to the running cluster.
	eventingApplied = "cluster/eventing.json"
)

// eventingSteps are the way to Knative Eventing in the cluster, after these steps.
func (c *Cluster) eventingSteps(built, booted []string) []step.Step {
	return []step.Step{
		{Name: "build of eventing", After: built, Do: c.buildEventing, Remedy: offline},
		{Name: "eventing", After: append([]string{"build of eventing"}, booted...), Do: c.startEventing,
			Remedy: "see the log; kubectl -n " + eventing.Namespace + " describe pods shows those that do not start"},
	}
}

// buildEventing has the programs of Knative Eventing in the cache, as one layer
// that all its images share, and beside it what is applied to run them.
func (c *Cluster) buildEventing(ctx context.Context, t *step.Task) error {
	dir, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, eventingModule)
	key, err := sourceKey(dir, ".")
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure(eventingItem, cache.Key(key, "layer 2"), func(dest string) error {
		t.Say("building Knative Eventing")
		programs, err := os.MkdirTemp("", "eventing-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(programs)
		for _, program := range eventing.Programs {
			file := filepath.Join(programs, eventing.Name(program))
			if err := goBuild(ctx, t, dir, file, "-s -w", eventing.Module+"/cmd/"+program); err != nil {
				return err
			}
		}
		err = writeLayer(dest, func(w *image.LayerWriter) error {
			// First, since the folder here is only its owner's.
			return errors.Join(w.Dir(programFolder, image.Attributes{Mode: 0o755}), w.Tree(programs, programFolder, 0))
		})
		if err != nil {
			return err
		}
		return writeManifests(ctx, dir, filepath.Join(dest, eventingManifests))
	})
	return err
}

func writeManifests(ctx context.Context, dir, file string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", eventing.Module)
	cmd.Dir = dir
	folder, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", eventing.Module, err)
	}
	list, err := eventing.Manifests(strings.TrimSpace(string(folder)))
	if err != nil {
		return err
	}
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// startEventing has the cluster run Knative Eventing, and waits until a Broker can
// be made.
func (c *Cluster) startEventing(ctx context.Context, t *step.Task) error {
	manifests, err := os.ReadFile(c.cache.Path(eventingItem, eventingManifests))
	if err != nil {
		return err
	}
	references, err := c.pushEventing(ctx)
	if err != nil {
		return err
	}
	resolved := strings.NewReplacer(references...).Replace(string(manifests))
	_, err = c.cache.Ensure(eventingApplied, cache.Key(resolved), func(dest string) error {
		t.Say("starting Knative Eventing")
		if err := os.WriteFile(dest, []byte(resolved), 0o644); err != nil {
			return err
		}
		// What its controllers fill in stays: no manifest names it.
		return c.kubectl(ctx, t, "", "apply", "--server-side", "--force-conflicts", "-f", dest)
	})
	if err != nil {
		return err
	}
	return c.awaitEventing(ctx, t, resolved)
}

// pushEventing gives the images to the registry, and returns pairs of how the
// manifests name each and what it is.
func (c *Cluster) pushEventing(ctx context.Context) ([]string, error) {
	var pairs []string
	for _, program := range eventing.Programs {
		config := baseConfig
		config.Entrypoint = []string{programFolder + "/" + eventing.Name(program)}
		img, err := image.Open(config, c.cache.Path("images", "base"), c.cache.Path(eventingItem))
		if err != nil {
			return nil, err
		}
		digest, err := img.Digest()
		if err != nil {
			return nil, err
		}
		name := "knative-eventing/" + eventing.Name(program)
		if err := c.push(ctx, img, name+":1"); err != nil {
			return nil, err
		}
		// With the quote after it: one program's name begins another's.
		pairs = append(pairs, eventing.Reference(program)+`"`, registryAddress+"/"+name+"@"+digest+`"`)
	}
	return pairs, nil
}

func (c *Cluster) awaitEventing(ctx context.Context, t *step.Task, manifests string) error {
	var list unstructured.UnstructuredList
	if err := json.Unmarshal([]byte(manifests), &list); err != nil {
		return err
	}
	for _, name := range eventing.Deployments(&list) {
		err := c.kubectl(ctx, t, "", "-n", eventing.Namespace, "rollout", "status", "deployment/"+name, "--timeout=180s")
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", name, err)
		}
	}
	return step.Until(ctx, 3*time.Minute, "the webhooks that look at a Broker", func(ctx context.Context) error {
		return c.kubectl(ctx, t, aBroker, "create", "--dry-run=server", "-f", "-")
	})
}

const aBroker = `{"apiVersion": "eventing.knative.dev/v1", "kind": "Broker", "metadata": {"name": "any", "namespace": "default"}}`

// kubectl runs the cluster's own, its output in the step's log.
func (c *Cluster) kubectl(ctx context.Context, t *step.Task, input string, args ...string) error {
	cmd := t.Command(ctx, c.cache.Program("kubectl"), append([]string{"--kubeconfig", c.cache.Kubeconfig()}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return nil
}
