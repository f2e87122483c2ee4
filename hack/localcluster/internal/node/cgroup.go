package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroupRoot is where the kernel's control groups are mounted: directly with
// version 2, one folder for each controller with version 1.
const cgroupRoot = "/sys/fs/cgroup"

// podCgroup is the group under which the kubelet puts all pods.
const podCgroup = "kubepods"

// podCgroups lists every folder of the pods' groups in all hierarchies, parents first.
func podCgroups() ([]string, error) {
	var tops []string
	for _, pattern := range []string{podCgroup, filepath.Join("*", podCgroup)} {
		found, err := filepath.Glob(filepath.Join(cgroupRoot, pattern))
		if err != nil {
			return nil, err
		}
		tops = append(tops, found...)
	}
	var dirs []string
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
	return dirs, nil
}

// cgroupProcesses lists the processes of all pods.
func cgroupProcesses() ([]int, error) {
	dirs, err := podCgroups()
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

// removeCgroups removes the pods' groups, which have no processes any more.
func removeCgroups() error {
	dirs, err := podCgroups()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range slices.Backward(dirs) {
		errs = append(errs, ignoreMissing(os.Remove(dir)))
	}
	return errors.Join(errs...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
