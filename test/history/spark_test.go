package history

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// versions are the versions of Spark whose logs are shown.
var versions = []string{"3.5.9", "4.1.4", "4.3.0"}

// sparkHomes returns the folder of the cache that has a folder for each version.
func sparkHomes(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./cmd/localcluster", "spark"}, versions...)...)
	cmd.Dir, cmd.Stderr = filepath.Join("..", "..", "hack", "localcluster"), os.Stderr
	homes, err := cmd.Output()
	if err != nil {
		t.Fatalf("Spark: %v", err)
	}
	return strings.TrimSpace(string(homes))
}

// opened are the packages of Java that Spark's own scripts open to Spark.
var opened = []string{
	"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
	"java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
}

// java returns a process of a version of Spark. It ends with the test.
func java(t *testing.T, home string, options []string, class string, arguments ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(home, "jars") + "/*"}, options...)
	for _, name := range opened {
		args = append(args, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	cmd := exec.CommandContext(t.Context(), "java", append(append(args, class), arguments...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "LC_ALL=C.UTF-8", "TZ=UTC", "SPARK_HOME=" + home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_USER=spark"}
	return cmd
}

// query is a job that each driver runs, and answer what it prints.
const query, answer = "select count(*) from range(4711)", "4711"

// driver is a driver that runs the query and writes its event log into a folder. From Spark 4 on, id is the ID of its application.
type driver struct {
	version, folder, id, name string
	rolled                    bool
}

// command returns the driver's process: a shell for SQL.
func (d driver) command(t *testing.T, homes string, arguments ...string) *exec.Cmd {
	t.Helper()
	if err := os.MkdirAll(d.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	rolled := "false"
	if d.rolled {
		rolled = "true"
	}
	all := []string{"--master", "local[1]", "--name", d.name, "--class", "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"}
	for _, property := range []string{
		"spark.ui.enabled=false", "spark.sql.catalogImplementation=in-memory", "spark.test.appId=" + d.id, "spark.eventLog.enabled=true",
		"spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=" + rolled, "spark.eventLog.dir=file:" + d.folder,
	} {
		all = append(all, "--conf", property)
	}
	return java(t, filepath.Join(homes, d.version), nil, "org.apache.spark.deploy.SparkSubmit", append(append(all, "spark-internal"), arguments...)...)
}

// run runs the driver to its end.
func (d driver) run(t *testing.T, homes string) {
	t.Helper()
	cmd := d.command(t, homes, "-e", query)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if printed, err := cmd.Output(); err != nil || strings.TrimSpace(string(printed)) != answer {
		t.Fatalf("Spark %s printed %q: %v\n%s", d.version, printed, err, errs.String())
	}
}

// kill runs the driver until its job is done, and kills it.
func (d driver) kill(t *testing.T, homes string) {
	t.Helper()
	cmd := d.command(t, homes)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Write([]byte(query + ";\n")); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.HasSuffix(strings.TrimSpace(lines.Text()), answer) {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
