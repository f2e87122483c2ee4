package redactlog_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

type lines struct{ strings.Builder }

func (*lines) Sync() error { return nil }

func TestRedactLogs(t *testing.T) {
	var written lines
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), &written, zap.InfoLevel), redactlog.Option())
	address, err := url.Parse("https://user:hunter2@example.com")
	if err != nil {
		t.Fatal(err)
	}
	logger.Sugar().With("with", "password=hunter2").Errorw("a message with token: hunter2",
		"text", "--secret hunter2", "password", "hunter2", "error", errors.New(`spark.x.token "hunter2" is wrong`),
		"event", json.RawMessage(`{"message":"password=hunter2 is wrong","n":1}`), "map", map[string]string{"password": "hunter2"},
		"address", address, "bytes", []byte("token=hunter2"), "name", "pi-with-secret", "knative.dev/key", "team/pi-with-secret", "pod", "token=hunter2", "count", 3)
	logger.Debug("password=hunter2")
	logger.Named("sub").With(zap.Error(errors.New("token=hunter2"))).Warn("it goes on")
	got := written.String()
	if strings.Contains(got, "hunter2") {
		t.Errorf("the secret is logged:\n%s", got)
	}
	for _, part := range []string{
		`"name":"pi-with-secret","knative.dev/key":"team/pi-with-secret",`, `"count":3`, `"event":{"message":"password=` + redact.Mark + ` is wrong","n":1}`, `it goes on`, `"level":"error"`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in\n%s", part, got)
		}
	}
	for line := range strings.Lines(got) {
		if !json.Valid([]byte(line)) {
			t.Errorf("the line is not JSON: %s", line)
		}
	}
}
