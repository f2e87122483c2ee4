package eventlog_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

const (
	start  = `{"Event":"SparkListenerApplicationStart","App Name":"pi","App ID":"spark-1","Timestamp":1000,"User":"spark"}` + "\n"
	first  = `{"Event":"SparkListenerExecutorAdded","Timestamp":2000,"Executor ID":"1","Executor Info":{"Host":"10.0.0.1","Total Cores":1,"Resource Profile Id":0}}` + "\n"
	second = `{"Event":"SparkListenerExecutorAdded","Timestamp":3000,"Executor ID":"2","Executor Info":{"Total Cores":1}}` + "\n"
	lost   = `{"Event":"SparkListenerExecutorRemoved","Timestamp":5500,"Executor ID":"1","Removed Reason":"The executor with id 1 was deleted."}` + "\n"
	end    = `{"Event":"SparkListenerApplicationEnd","Timestamp":9000}` + "\n"
)

func TestExecutorsOfAnEventLogLiveUntilTheyAreRemoved(t *testing.T) {
	long := `{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","x":"` + strings.Repeat("x", 300<<10) + `"}` + "\n"
	text := `{"Event":"SparkListenerLogStart","Spark Version":"4.1.0"}` + "\n" + start + first + long + "no event\n" + second + lost + lost + end + first
	got, err := eventlog.Executors(strings.NewReader(text), "spark-1")
	want := []eventlog.Executor{
		{ID: 1, Added: time.UnixMilli(2000), Removed: time.UnixMilli(5500)}, {ID: 2, Added: time.UnixMilli(3000), Removed: time.UnixMilli(9000)},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestAnEventLogThatDoesNotHaveAllExecutorsIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"another application":          strings.Replace(start, "spark-1", "spark-2", 1) + first + end,
		"no start":                     first + end,
		"another resource profile":     start + strings.Replace(first, `Profile Id":0`, `Profile Id":1`, 1) + end,
		"an event that is no JSON":     start + `{"Event":"SparkListenerExecutorAdded",` + "\n" + end,
		"an event that is too long":    start + strings.Replace(first, "10.0.0.1", strings.Repeat("x", 64<<10), 1) + end,
		"a number that is another":     start + strings.Replace(first, "2000", `"2000"`, 1) + end,
		"more executors than are read": start + many(1<<16+1) + end,
	} {
		if got, err := eventlog.Executors(strings.NewReader(text), "spark-1"); err == nil || errors.Is(err, eventlog.ErrIncomplete) || got != nil || len(err.Error()) > 300 {
			t.Errorf("%s: %d executors, %v", name, len(got), err)
		}
	}
	for name, text := range map[string]string{"nothing": "", "no end": start + first + lost, "an end that is being written": start + first + strings.TrimSpace(end)} {
		if got, err := eventlog.Executors(strings.NewReader(text), "spark-1"); !errors.Is(err, eventlog.ErrIncomplete) || got != nil {
			t.Errorf("%s: %d executors, %v", name, len(got), err)
		}
	}
	broken := io.MultiReader(strings.NewReader(start+first), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := eventlog.Executors(broken, "spark-1"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a log that cannot be read: %v", err)
	}
}

func many(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, `{"Event":"SparkListenerExecutorAdded","Timestamp":2000,"Executor ID":"%d"}`+"\n", i)
	}
	return text.String()
}
