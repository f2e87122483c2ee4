package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/test/parity"
)

// lines has Spark read all command lines, in one JVM, and compares what it reads with the recordings.
func (r *recorder) lines(ctx context.Context, home, version string) error {
	recorded, err := parity.LoadLines(version)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(slices.Clone(parity.Lines), func(line parity.Line) bool { return !line.Of(version) })
	isMissing := func(line parity.Line) bool { _, has := recorded[line.Name]; return !has }
	if r.missing && !slices.ContainsFunc(lines, isMissing) {
		return nil
	}
	folder := filepath.Join(r.dir, "lines-"+version)
	for _, line := range lines {
		if err := giveLine(filepath.Join(folder, line.Name), line); err != nil {
			return err
		}
	}
	user, err := r.makeUser()
	if err != nil {
		return err
	}
	cmd, err := r.spark(ctx, home, user, "oracle/Lines.java", folder)
	if err != nil {
		return err
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("read command lines: %w\n%s", err, output)
	}
	read := parity.LineRecordings{}
	for _, line := range lines {
		if read[line.Name], err = readLine(filepath.Join(folder, line.Name)); err != nil {
			return fmt.Errorf("%s: %w", line.Name, err)
		}
	}
	fmt.Printf("Spark %s: read %d command lines\n", version, len(read))
	if r.write {
		return read.Write(version)
	}
	for _, line := range lines {
		if !reflect.DeepEqual(read[line.Name], recorded[line.Name]) {
			r.fail("%s: the command line %s is read otherwise than recorded", version, line.Name)
		}
	}
	return nil
}

// giveLine writes a command line with its files.
func giveLine(folder string, line parity.Line) error {
	var variables []string
	for name, value := range line.Variables(folder) {
		variables = append(variables, name, value)
	}
	files := map[string]string{"arguments": zeroEnded(line.Words(folder)), "environment": zeroEnded(variables)}
	maps.Copy(files, line.Files)
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func zeroEnded(texts []string) string {
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(text + "\x00")
	}
	return all.String()
}

func readLine(folder string) (parity.Read, error) {
	text, err := os.ReadFile(filepath.Join(folder, "read.json"))
	if err != nil {
		return parity.Read{}, err
	}
	var read parity.Read
	err = json.Unmarshal([]byte(strings.ReplaceAll(string(text), folder, parity.LineFolder)), &read)
	delete(read.Properties, "spark.app.submitTime") // the time of the recording
	return read, err
}
