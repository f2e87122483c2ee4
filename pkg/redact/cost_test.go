package redact_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/internal/cost"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// hostile lists texts that cause much looking ahead if they are repeated.
var hostile = []string{
	"/token:", "=token:", "token:/", "token/", "spec.token:", "spark.token: ", "/basic/basic", "basic/", "Bearer 'a", "Basic a ", "://", "://:a", "a://b", `"://\"`,
	"jdbc:oracle:", "&sig=a", "?sig=a", "password=" + m, "password=\"" + m, "secret:a", "secret: a ", "secrets: 'a", "--token -", "password \"", "--token", "token,",
	"name: token, value", "value: a, name: token, ", `"value":"a","name":"token",`, "value: 'name: ", "value:name:", "value: |\n name: token\n", "password: |\n", "password: |\n\n",
	`password: |\n`, `password: |\n a\n`, `"password: |\n a`, " password: >\n  ", `:\/\/`, `:\/\/a:b@c`, `\u0026sig=a`, `\u0026sig\u003d`, `\u002f`, `\\token:`, "a",
}

// bodies returns hostile texts of a length: repeated ones, and keys before a long value.
func bodies(length int) map[string]string {
	texts := map[string]string{}
	for _, part := range hostile {
		texts[part] = strings.Repeat(part, length/len(part))
	}
	for _, begin := range []string{"password=", "password", `token=\"`, "basic ", "https://", "secret: ", "secret: |\n ", `secret: |\n `, "value: ", `https:\/\/`} {
		for _, part := range []string{`\`, `\n`, "\n", "\n a", `\n a`, `\u0026`, " name: token, ", `\'`, " ", "a", "'", "@"} {
			texts[begin+" and "+part] = begin + strings.Repeat(part, length/len(part))
		}
	}
	return texts
}

// mostCPU is far more than the search needs, and far less than a search in quadratic time needs.
const mostCPU = 500 * time.Millisecond

func wantCheap(t *testing.T, what string, work func()) {
	t.Helper()
	if cost.Of(work).CPU <= mostCPU {
		return
	}
	if spent := cost.Of(work); spent.CPU > mostCPU { // once more, since other things happen
		t.Errorf("%s takes %s", what, spent.CPU)
	}
}

func TestRedactTextCost(t *testing.T) {
	for what, text := range bodies(500 << 10) {
		wantCheap(t, what, func() { redact.Text(text) })
		wantCheap(t, what+" as a value", func() { redact.Value("spark.x", text) })
	}
}

func TestRedactForObjectCost(t *testing.T) {
	short := map[string]string{"a": strings.Repeat("a", 240<<10), "a:/": strings.Repeat("a:/", 80<<10), "/token:": strings.Repeat("/token:", 34<<10)}
	for own, texts := range map[string]map[string]string{
		"": bodies(240 << 10), "(?:a*b?){400}Q": short, "(?:a*b?){150}Q": short, "(?i)pin$": short, "(?:a|b|c|/|t|o|k|e|n|:){1,40}Q": short,
	} {
		for what, text := range texts {
			conf := map[string]string{"spark.x": text}
			if own != "" {
				conf["spark.redaction.regex"] = own
			}
			data, err := json.Marshal(map[string]any{"spec": map[string]any{"sparkConf": conf, "driverArgs": []string{text}}})
			if err != nil {
				t.Fatal(err)
			}
			var r *redact.Redactor
			wantCheap(t, own+" of "+what, func() { r = redact.For(data) })
			wantCheap(t, "a text by "+own+" of "+what, func() { r.Text(text) })
			wantCheap(t, "a value by "+own+" of "+what, func() { r.Value("spark.x", text) })
		}
	}
}

func TestRedactCutsTextsThatTheCustomPatternCannotSearch(t *testing.T) {
	r := object(map[string]string{"spark.redaction.regex": "(?:a*b?){200}Q|pin"}, nil)
	got := r.Text(strings.Repeat("a ", 64<<10) + "pin=4711-0815")
	if strings.Contains(got, "4711") || !strings.HasSuffix(got, "...") {
		t.Errorf("the secret is shown: ...%s", got[len(got)-40:])
	}
}
