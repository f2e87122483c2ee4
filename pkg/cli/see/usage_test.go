package see

import (
	"fmt"
	"strings"
	"testing"
)

// usedBy is an application that ended, or was counted last, at a time.
func usedBy(namespace, name, team, ended, total string) string {
	return fmt.Sprintf(`
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {namespace: %[1]s, name: %[2]s, uid: u-%[2]s, creationTimestamp: "2025-10-01T11:50:00Z", labels: {team: %[3]q}}
status:
  firesteel:
    attempt: {id: 0, since: "2025-10-01T11:52:00.000000Z"}
    sequence: 1
    acknowledged: 1
    transitions: [{sequence: 1, time: %[4]q, attempt: 0, state: ResourceReleased, outcome: Succeeded}]
    usage:
      total: %[5]s
`, namespace, name, team, ended, total)
}

const (
	small = "{driver: {seconds: 3600, coreMilliseconds: 3600000, mebibyteSeconds: 5068800}}"
	large = `{driver: {seconds: 3600, coreMilliseconds: 7200000, mebibyteSeconds: 7372800}, executors: {seconds: 72000, coreMilliseconds: 288000000,
    mebibyteSeconds: 589824000, gpuSeconds: 144000}, peakExecutors: 20, gapSeconds: 90}`
)

func usageEnv(t *testing.T) *env {
	return newEnv(t, []string{
		usedBy("reports", "a", "red", "2025-10-31T23:59:59.000000Z", small), usedBy("reports", "b", "blue", "2025-11-01T00:00:00.000000Z", large),
		usedBy("reports", "c", "", "2025-11-02T00:00:00.000000Z", small), usedBy("other", "d", "red", "2025-11-02T00:00:00.000000Z", small), failed,
		`
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {namespace: reports, name: running, uid: u-running, creationTimestamp: "2025-10-01T11:50:00Z"}
status:
  firesteel:
    attempt: {id: 0, since: "2025-10-01T11:52:00.000000Z"}
    sequence: 1
    acknowledged: 1
    transitions: [{sequence: 1, time: "2025-10-01T11:52:00.000000Z", attempt: 0, state: RunningHealthy}]
    usage:
      total: ` + small + `
      attempts: [{attempt: 0, applicationID: a, driverPod: p, driverUID: u, countedAt: "2025-12-31T11:52:00Z", ended: {}, running: ` + small + `}]
`,
	})
}

func TestUsage(t *testing.T) {
	for file, line := range map[string]string{
		"usage":       "usage -A",
		"usage-label": "usage --by label:team,api -o wide",
		"usage-since": "usage -A --by application --since 2025-11 -l team -o csv",
		"usage-json":  "usage --by month -o json",
	} {
		usageEnv(t).golden(t, file, line)
	}
}

func TestUsageNamesWhatItRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"usage --by year":        "--by year is unknown: write month, namespace, api, application or label:NAME",
		"usage --by label:":      "--by label: is unknown: write month, namespace, api, application or label:NAME",
		"usage --since november": "--since november is no month: write it as 2026-01",
		"usage --chunk-size -1":  "--chunk-size -1 is below 0: write how many objects are read at once, or 0 for all",
		"usage -o yml":           "-o yml is no format",
		"usage -l team=none":     "Nothing found that used anything.",
	} {
		e := usageEnv(t)
		if code := e.run(t.Context(), line); (code == 0) == strings.HasPrefix(want, "-") || !strings.Contains(e.errOut.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %q", line, code, e.errOut.String(), want)
		}
	}
}
