package network

import (
	"bufio"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// programs are the two families of iptables.
var programs = []string{"iptables", "ip6tables"}

// prefixes begin the names of the chains that a cluster makes.
var prefixes = []string{"KUBE-", "CNI-", "FIRESTEEL-"}

// removeRules removes the cluster's chains and the rules that lead to them,
// except for chains that were there before the cluster.
func removeRules(before map[string][]string) error {
	var errs []error
	for _, program := range programs {
		rules, err := save(program)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if script := removal(rules, before[program]); script != "" {
			errs = append(errs, run(strings.NewReader(script), program+"-restore", "--noflush"))
		}
	}
	return errors.Join(errs...)
}

func save(program string) (string, error) {
	out, err := exec.Command(program + "-save").Output()
	if err != nil {
		return "", fmt.Errorf("%s-save: %w", program, err)
	}
	return string(out), nil
}

// chains lists the chains of a cluster in what iptables-save printed, each as
// "TABLE CHAIN".
func chains(rules string) []string {
	var found []string
	var table string
	for line := range lines(rules) {
		switch line[0] {
		case '*':
			table = line[1:]
		case ':':
			name, _, _ := strings.Cut(line[1:], " ")
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				found = append(found, table+" "+name)
			}
		}
	}
	return found
}

// removal is the input for iptables-restore --noflush that removes the
// cluster's chains, or nothing where there are none.
func removal(rules string, before []string) string {
	ours := map[string]bool{}
	for _, chain := range chains(rules) {
		ours[chain] = !slices.Contains(before, chain)
	}
	var script, flush, unlink, remove strings.Builder
	var table string
	for line := range lines(rules) {
		switch {
		case line[0] == '*':
			table = line[1:]
		case line[0] == ':':
			name, _, _ := strings.Cut(line[1:], " ")
			if ours[table+" "+name] {
				fmt.Fprintf(&flush, ":%s - [0:0]\n", name) // naming a chain empties it
				fmt.Fprintf(&remove, "-X %s\n", name)
			}
		case strings.HasPrefix(line, "-A "):
			chain, target := chainAndTarget(line)
			if !ours[table+" "+chain] && ours[table+" "+target] {
				fmt.Fprintf(&unlink, "-D%s\n", strings.TrimPrefix(line, "-A"))
			}
		case line == "COMMIT":
			if flush.Len() > 0 {
				fmt.Fprintf(&script, "*%s\n%s%s%sCOMMIT\n", table, &flush, &unlink, &remove)
			}
			flush.Reset()
			unlink.Reset()
			remove.Reset()
		}
	}
	return script.String()
}

// chainAndTarget reads the rule's chain and the chain that it leads to.
func chainAndTarget(rule string) (chain, target string) {
	fields := strings.Fields(rule)
	for i, field := range fields {
		if (field == "-j" || field == "-g") && i+1 < len(fields) {
			target = fields[i+1]
		}
	}
	return fields[1], target
}

// lines yields the lines that hold something.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
			if line := scanner.Text(); line != "" && !yield(line) {
				return
			}
		}
	}
}
