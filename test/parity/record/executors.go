package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/firesteel-dev/firesteel/test/parity"
)

// executors has Spark make the executors of all cases, in one JVM, and compares them with the recordings.
func (r *recorder) executors(ctx context.Context, home, version string) error {
	recorded, err := parity.LoadExecutors(version)
	if err != nil {
		return err
	}
	if r.missing && hasAll(recorded) {
		return nil
	}
	start := time.Now()
	folder := filepath.Join(r.dir, "executors-"+version)
	given, err := giveAll(folder, version)
	if err != nil {
		return err
	}
	if err := r.makeExecutors(ctx, home, folder); err != nil {
		return err
	}
	made := map[string]parity.Fields{}
	for i, c := range parity.ExecutorCases {
		pod, err := readPod(filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		if _, err := r.tryCreate(ctx, ownNamespace, []parity.Object{pod}); err != nil {
			r.fail("%s: the API server refuses the executor with %s: %v", version, c.Name(), err)
		}
		fields := parity.Shown(pod)
		for field, value := range given[i].Fields() {
			fields[field] = value
		}
		made[c.Name()] = fields
	}
	fmt.Printf("Spark %s: the executors of %d cases (%s)\n", version, len(made), time.Since(start).Round(time.Second))
	if r.write {
		return parity.NewExecutorRecordings(made).Write(version)
	}
	r.compareExecutors(version, made, recorded)
	return nil
}

func hasAll(recorded parity.ExecutorRecordings) bool {
	for _, c := range parity.ExecutorCases {
		if _, err := recorded.Of(c); err != nil {
			return false
		}
	}
	return true
}

// giveAll writes what the drivers of the cases find mounted, each into a folder of its own.
func giveAll(folder, version string) ([]parity.Given, error) {
	var all []parity.Given
	for i, c := range parity.ExecutorCases {
		app, err := c.Application(version)
		if err != nil {
			return nil, err
		}
		given, err := c.Given(app)
		if err != nil {
			return nil, err
		}
		all = append(all, given)
		own := filepath.Join(folder, strconv.Itoa(i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		for file, text := range map[string]string{"spark.properties": given.Properties, "template.yaml": given.Template} {
			if err := os.WriteFile(filepath.Join(own, file), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (r *recorder) makeExecutors(ctx context.Context, home, folder string) error {
	cmd, err := r.spark(ctx, home, r.dir, "oracle/Executors.java", folder)
	if err != nil {
		return err
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make executors: %w\n%s", err, output)
	}
	return nil
}

func readPod(folder string) (parity.Object, error) {
	text, err := os.ReadFile(filepath.Join(folder, "pod.json"))
	if err != nil {
		return nil, err
	}
	var pod parity.Object
	err = json.Unmarshal(text, &pod)
	return pod, err
}

// compareExecutors fails if the recordings hold anything else than what was made of the cases now.
func (r *recorder) compareExecutors(version string, made map[string]parity.Fields, recorded parity.ExecutorRecordings) {
	for _, c := range parity.ExecutorCases {
		fields, err := recorded.Of(c)
		if err != nil {
			r.fail("%s: %v", version, err)
			continue
		}
		for _, difference := range parity.Differences(fields, made[c.Name()]) {
			r.fail("%s: the executor with %s is otherwise than recorded: %s is %s, was %s",
				version, c.Name(), difference.Field, difference.Firesteel, difference.Spark)
		}
	}
}
