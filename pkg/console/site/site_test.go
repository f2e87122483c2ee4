package site

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

func TestLinkToTheSparkUISaysWhatSafariDoesNotFind(t *testing.T) {
	const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15"
	const chrome = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	const local, elsewhere, history = "http://*.localhost:8082", "https://*.spark-ui.example.net", "http://history"
	ref := live.Ref{Namespace: "team-a", Resource: "sparkapplications.spark.apache.org", Name: "etl"}
	const link = "/spark-ui/team-a/sparkapplications.spark.apache.org/etl"
	for _, c := range []struct {
		agent, uis, history string
		over                bool
		path, note          string
	}{
		{safari, local, "", false, link, "Safari may not find its address. Use Chrome, Edge or Firefox, or kubectl spark ui sparkapplications.spark.apache.org/etl -n team-a."},
		{safari, local, history, true, link, "Safari may not find its address. Use Chrome, Edge or Firefox."},
		{chrome, local, "", false, link, ""}, {"curl/8.0", local, "", false, link, ""}, {safari, elsewhere, "", false, link, ""},
		{safari, local, "", true, "", ""}, {safari, "", history, false, "", ""},
	} {
		s := &Site{options: Options{SparkUIs: func() string { return c.uis }, HistoryServer: func() string { return c.history }}}
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("User-Agent", c.agent)
		if path, note := s.sparkUI(request, ref, c.over); path != c.path || note != c.note {
			t.Errorf("%.90s at %q, over %t: %q, %q", c.agent, c.uis, c.over, path, note)
		}
	}
}
