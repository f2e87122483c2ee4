package codec_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/pkg/kube/codec"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// undecodable is an application with an argument, a property and a time that is none.
func undecodable(t *testing.T, argument, own, created string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": "x", "namespace": "y"}, "spec": map[string]any{
		"driverArgs": []string{argument}, "sparkConf": map[string]string{"spark.redaction.regex": own},
		"driverSpec": map[string]any{"podTemplateSpec": map[string]any{"metadata": map[string]any{"creationTimestamp": created}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestUndecodableObjectsCostWhatTheirSizeExplains(t *testing.T) {
	for _, part := range []string{"/token:", "=token:", `password=\`, `\`, "/basic/basic", "://", "a", "hunter2-", "&sig=a"} {
		long := strings.Repeat(part, 500<<10/len(part))
		for what, data := range map[string][]byte{
			"an argument": undecodable(t, long, "(?:a*b?){400}Q", "hunter2-hunter2"), "a time": undecodable(t, "", "(?:a*b?){400}Q", long),
			"words": undecodable(t, long, "", strings.Repeat("hunter2- ", 1000)),
		} {
			var found codec.Findings
			var err error
			spent := cost.Least(2, func() { _, found, err = codec.Decode[application](data) })
			if err != nil || found.Undecodable == "" || len(found.Undecodable) > 600 {
				t.Errorf("%q as %s: %v, %q", part, what, err, found.Undecodable)
			}
			if spent.CPU > 500*time.Millisecond {
				t.Errorf("%q as %s takes %s", part, what, spent.CPU)
			}
		}
	}
}

func TestSecretsAreInNoReasonOfAnUndecodableObject(t *testing.T) {
	const secret = "hunter2-hunter2"
	for what, data := range map[string][]byte{
		"what an argument says":    undecodable(t, "--password="+secret, "", secret),
		"in the midst of a time":   undecodable(t, secret, "", "2026"+secret),
		"one of the words":         undecodable(t, secret, "", "a time of "+secret),
		"among many words":         undecodable(t, secret, "", strings.Repeat("another ", 40)+secret),
		"first of what is long":    undecodable(t, secret, "", secret+strings.Repeat(" a", 5000)),
		"in quotes":                undecodable(t, `say "`+secret+`" now`, "", `"`+secret+`"`),
		"with what JSON escapes":   undecodable(t, secret+`"<\`, "", secret+`"<\`),
		"a password by its form":   undecodable(t, "", "", "password="+secret),
		"a user in what is no URL": undecodable(t, "", "", "https://me:"+secret+"@h"),
	} {
		_, found, err := codec.Decode[application](data)
		if err != nil || strings.Contains(found.Undecodable, secret) || !strings.Contains(found.Undecodable, redact.Mark) {
			t.Errorf("%s: %v, %q", what, err, found.Undecodable)
		}
	}
	if _, found, _ := codec.Decode[application](undecodable(t, "", "", "yesterday")); !strings.Contains(found.Undecodable, `"yesterday"`) {
		t.Errorf("what is no secret is not told: %q", found.Undecodable)
	}
}
