// Command helmvalues converts the values of another operator's Helm chart into values of Firesteel's, and prints them:
// helmvalues [-namespace NAMESPACE] kubeflow|apache values.yaml
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/hack/chart/move"
)

func main() {
	log.SetFlags(0)
	namespace := flag.String("namespace", "", "the namespace of the other operator's release")
	flag.Parse()
	if err := run(*namespace, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(namespace string, args []string) error {
	var names []string
	for _, chart := range move.Charts {
		names = append(names, chart.Name)
	}
	if len(args) != 2 || !slices.Contains(names, args[0]) {
		return fmt.Errorf("write helmvalues, the chart (%s), and a values file", strings.Join(names, " or "))
	}
	file, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	values, notes, err := move.Charts[slices.Index(names, args[0])].Convert(file, namespace)
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	text, err := move.Text(values, notes)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
