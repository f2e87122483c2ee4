package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/test/parity"
)

// sparkHome returns the folder of a version of Spark, which the local cluster's program downloads if its cache lacks it.
func sparkHome(ctx context.Context, version string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/localcluster", "spark", version)
	cmd.Dir, cmd.Stderr = filepath.Join("..", "..", "hack", "localcluster"), os.Stderr
	homes, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("localcluster spark %s: %w", version, err)
	}
	return filepath.Join(strings.TrimSpace(string(homes)), version), nil
}

// opened are the packages of Java that Spark's own scripts open to Spark.
var opened = []string{
	"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
	"java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
}

// oracle is spark-submit of one version, waiting in a JVM for submissions.
type oracle struct {
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Scanner
	log      string
}

func startOracle(ctx context.Context, s *server, home, version string) (*oracle, error) {
	user, err := s.makeUser()
	if err != nil {
		return nil, err
	}
	cmd, err := s.spark(ctx, home, user, "oracle/Oracle.java")
	if err != nil {
		return nil, err
	}
	o := &oracle{cmd: cmd, log: filepath.Join(s.dir, "spark-"+version+".log")}
	log, err := os.Create(o.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	o.cmd.Stderr = log
	if o.requests, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	answers, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.answers = bufio.NewScanner(answers)
	o.answers.Buffer(nil, 1<<20)
	return o, o.cmd.Start()
}

// spark is a Java program of the oracle's, with Spark's classes, for the user of that home.
func (s *server) spark(ctx context.Context, home, user, program string, arguments ...string) (*exec.Cmd, error) {
	source, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	options := []string{
		"-Xmx1g", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Duser.home=" + user, "-cp", user + ":" + filepath.Join(home, "jars") + "/*",
	}
	for _, name := range opened {
		options = append(options, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	cmd := exec.CommandContext(ctx, "java", slices.Concat(options, []string{source}, arguments)...)
	cmd.Env = s.sparkEnvironment(home)
	return cmd, nil
}

// makeUser makes the home of a user: with a Maven repository of the one package that cases name, so that no run has to
// fetch it, and with a configuration of Hadoop in which a stub stands for the stores that cases name.
func (s *server) makeUser() (string, error) {
	home := filepath.Join(s.dir, "user")
	library := filepath.Join(home, ".m2", "repository", "org", "example", "library", "1.0")
	if err := os.MkdirAll(library, 0o755); err != nil {
		return "", err
	}
	const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>library</artifactId><version>1.0</version></project>`
	var stores strings.Builder
	for _, scheme := range []string{"s3a", "gs", "abfss", "hdfs"} {
		fmt.Fprintf(&stores, "<property><name>fs.%s.impl</name><value>Oracle$Store</value></property>", scheme)
	}
	for file, content := range map[string]string{
		filepath.Join(library, "library-1.0.pom"): pom,
		filepath.Join(library, "library-1.0.jar"): "PK\x05\x06" + strings.Repeat("\x00", 18), // an archive of nothing
		filepath.Join(home, "core-site.xml"):      "<configuration>" + stores.String() + "</configuration>",
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return home, nil
}

// sparkEnvironment is all that spark-submit may learn from its surroundings.
func (s *server) sparkEnvironment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "LC_ALL=C.UTF-8", "TZ=UTC", "SPARK_HOME=" + home,
		"SPARK_CONF_DIR=" + filepath.Join(s.dir, "conf"), "SPARK_USER=spark", "KUBECONFIG=" + s.Kubeconfig(),
	}
}

// submit has a case submitted and returns who refused it, if any, and why.
func (o *oracle) submit(arguments []string) (by, message string, err error) {
	var request bytes.Buffer
	for _, part := range append([]string{""}, arguments...) {
		if request.Len() == 0 {
			_ = binary.Write(&request, binary.BigEndian, int32(len(arguments)))
			continue
		}
		_ = binary.Write(&request, binary.BigEndian, int32(len(part)))
		request.WriteString(part)
	}
	if _, err := o.requests.Write(request.Bytes()); err != nil {
		return "", "", fmt.Errorf("spark-submit, which logs to %s: %w", o.log, err)
	}
	if !o.answers.Scan() {
		return "", "", fmt.Errorf("spark-submit, which logs to %s, ended: %w", o.log, o.answers.Err())
	}
	by, message, _ = strings.Cut(o.answers.Text(), " ")
	if by == "accepted" {
		by = ""
	}
	return by, message, nil
}

func (o *oracle) stop() {
	_ = o.requests.Close()
	_ = o.cmd.Wait()
}

// submitArguments are those of spark-submit for a case. Templates are files in dir.
func (s *server) submitArguments(c parity.Case, dir string) ([]string, error) {
	templates := map[string]string{}
	for role, manifest := range map[string]string{"driver": c.Driver, "executor": c.Executor} {
		if manifest == "" {
			continue
		}
		templates[role] = filepath.Join(dir, c.Name+"-"+role+".yaml")
		if err := os.WriteFile(templates[role], []byte(manifest), 0o644); err != nil {
			return nil, err
		}
	}
	return c.Arguments(s.config.Host, templates), nil
}

// realSubmit runs the command itself and returns its CPU time.
func (s *server) realSubmit(ctx context.Context, home string, arguments []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(home, "bin", "spark-submit"), arguments...)
	cmd.Env = s.sparkEnvironment(home)
	if output, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("spark-submit: %w\n%s", err, output)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
