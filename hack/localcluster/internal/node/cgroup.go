package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// mounted is where the kernel's control groups are: directly with version 2,
// one folder for each controller with version 1.
const mounted = "/sys/fs/cgroup"

// cgroup is the control group below which the kubelet puts all pods. Only this
// cluster uses it, so everything in it belongs to the cluster.
type cgroup struct {
	// root is where control groups are mounted.
	root string
	name string
	// added is the file that remembers which controllers make turned on.
	added string
}

// controllers are those of version 2 that the kubelet uses if they exist.
var controllers = []string{"cpu", "cpuset", "hugetlb", "memory", "pids"}

// make creates the group in every hierarchy.
func (g cgroup) make() error {
	if g.unified() {
		if err := g.turnOnControllers(); err != nil {
			return err
		}
		return os.Mkdir(filepath.Join(g.root, g.name), 0o755)
	}
	hierarchies, err := filepath.Glob(filepath.Join(g.root, "*", "cgroup.procs"))
	if err != nil {
		return err
	}
	if len(hierarchies) == 0 {
		return fmt.Errorf("no control groups under %s", g.root)
	}
	for _, procs := range hierarchies {
		// Two names may lead to one hierarchy (cpu and cpuacct).
		err := os.Mkdir(filepath.Join(filepath.Dir(procs), g.name), 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return g.weigh()
}

// weigh gives the group the share of the processors that the kubelet gives its
// own group below it. Otherwise all pods together would get as much as a single
// process without a group. Without systemd, all processes have no group.
func (g cgroup) weigh() error {
	shares := filepath.Join(g.root, "cpu", g.name, "cpu.shares")
	if _, err := os.Stat(shares); err != nil {
		return ignoreMissing(err)
	}
	return os.WriteFile(shares, []byte(strconv.Itoa(1024*runtime.NumCPU())), 0o644)
}

// unified reports whether these are control groups of version 2.
func (g cgroup) unified() bool {
	_, err := os.Stat(filepath.Join(g.root, "cgroup.controllers"))
	return err == nil
}

// turnOnControllers lets groups below the root use the kubelet's controllers.
func (g cgroup) turnOnControllers() error {
	there, err := os.ReadFile(filepath.Join(g.root, "cgroup.controllers"))
	if err != nil {
		return err
	}
	on, err := os.ReadFile(g.subtreeControl())
	if err != nil {
		return err
	}
	missing := missingControllers(string(there), string(on))
	if len(missing) == 0 {
		return nil
	}
	if err := os.WriteFile(g.added, []byte(strings.Join(missing, " ")), 0o644); err != nil {
		return err
	}
	return os.WriteFile(g.subtreeControl(), []byte("+"+strings.Join(missing, " +")), 0o644)
}

func (g cgroup) subtreeControl() string { return filepath.Join(g.root, "cgroup.subtree_control") }

// missingControllers returns those that exist and are not turned on.
func missingControllers(there, on string) []string {
	var missing []string
	for _, c := range controllers {
		if slices.Contains(strings.Fields(there), c) && !slices.Contains(strings.Fields(on), c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// folders lists the group's folders in all hierarchies, parents first.
func (g cgroup) folders() ([]string, error) {
	var dirs []string
	for _, pattern := range []string{g.name, filepath.Join("*", g.name)} {
		tops, err := filepath.Glob(filepath.Join(g.root, pattern))
		if err != nil {
			return nil, err
		}
		for _, top := range tops {
			err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.IsDir() {
					dirs = append(dirs, path)
				}
				return ignoreMissing(err) // groups end while we walk
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return dirs, nil
}

// processes lists the processes of all pods.
func (g cgroup) processes() ([]int, error) {
	dirs, err := g.folders()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if ignoreMissing(err) != nil {
			return nil, err
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil // version 1 names each in every hierarchy
}

// remove removes the group, which has no processes any more.
func (g cgroup) remove() error {
	dirs, err := g.folders()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range slices.Backward(dirs) {
		errs = append(errs, ignoreMissing(os.Remove(dir)))
	}
	return errors.Join(append(errs, g.turnOffControllers())...)
}

func (g cgroup) turnOffControllers() error {
	added, err := os.ReadFile(g.added)
	if err != nil {
		return ignoreMissing(err)
	}
	err = os.WriteFile(g.subtreeControl(), []byte("-"+strings.Join(strings.Fields(string(added)), " -")), 0o644)
	return errors.Join(err, os.Remove(g.added))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
