// Package console looks at the console's pages in a real Chromium. localcluster chromium installs it. The sample, its time and the fonts are fixed, so
// that pictures differ only if the pages do.
package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
	"go.uber.org/zap"
	testclock "k8s.io/utils/clock/testing"
)

const prefix = "/spark"

// serve serves the pages of a sample below a prefix, with the headers of the console.
func serve(t *testing.T, sample *consolepages.Sample) string {
	t.Helper()
	server := pages.New(pages.Options{
		Source: sample, Viewers: func(*http.Request) (pages.Viewer, error) {
			return &consolepages.Viewer{Archived: consolepages.Attic("")}, nil
		}, Prefix: func() string { return prefix },
		Clock: testclock.NewFakeClock(consolepages.Now), Logger: zap.NewNop().Sugar(),
	})
	mux := http.NewServeMux()
	mux.Handle("/assets/", server.Assets())
	mux.Handle("/sign-in", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.SignIn(w, r, http.StatusOK, pages.SignIn{Action: prefix + "/sign-in", Next: prefix + "/", Problem: "The token is over."})
	}))
	mux.Handle("/", server.Handler())
	listener := httptest.NewServer(session.StripPrefix(func() string { return "http://localhost" + prefix }, session.Headers(mux)))
	t.Cleanup(func() {
		listener.CloseClientConnections() // streams do not end by themselves
		listener.Close()
	})
	return listener.URL + prefix
}

// browser returns a Chromium for all tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	return start(context.Background()) // it ends with the process
})

// start starts a Chromium, which ends with the context.
func start(ctx context.Context, more ...chromedp.ExecAllocatorOption) (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(2*time.Minute))
	allocated, _ := chromedp.NewExecAllocator(ctx, append(options, more...)...)
	started, _ := chromedp.NewContext(allocated)
	return started, chromedp.Run(started)
}

// tab is a tab of a browser, and what it complained about.
type tab struct {
	*testing.T
	ctx context.Context

	mutex    sync.Mutex
	problems []string
}

// newTab returns a tab of the browser of all tests, with cookies and a storage of its own.
func newTab(t *testing.T) *tab {
	t.Helper()
	all, err := browser()
	if err != nil {
		t.Fatalf("start Chromium: %v (localcluster chromium installs it)", err)
	}
	return newTabOf(all, t, 2*time.Minute, chromedp.WithTargetID(newWindow(all, t)))
}

// newTabOf returns a tab of a browser, which ends after a time.
func newTabOf(all context.Context, t *testing.T, patience time.Duration, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(all, options...)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *log.EventEntryAdded:
			if event.Entry.Level == log.LevelError {
				b.complain(event.Entry.Text + " " + event.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			b.complain(event.ExceptionDetails.Error())
		case *page.EventJavascriptDialogOpening:
			b.complain("a dialog opened: " + event.Message)
		}
	})
	b.run(log.Enable(), runtime.Enable(), page.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		// Relative times would go on while a page is looked at.
		_, err := page.AddScriptToEvaluateOnNewDocument(fmt.Sprintf("Date.now = () => %d", consolepages.Now.UnixMilli())).Do(ctx)
		return err
	}))
	return b
}

// newWindow opens a window with cookies and a storage of its own: cookies know no ports, so otherwise one test would leave its theme to the others.
func newWindow(all context.Context, t *testing.T) target.ID {
	t.Helper()
	ctx := cdp.WithExecutor(all, chromedp.FromContext(all).Browser)
	profile, err := target.CreateBrowserContext().Do(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(profile).Do(ctx) })
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return window
}

// beside returns another tab of the same user: it has the same cookies.
func (b *tab) beside() *tab {
	b.Helper()
	all, err := browser()
	if err != nil {
		b.Fatal(err)
	}
	ctx := cdp.WithExecutor(all, chromedp.FromContext(all).Browser)
	info, err := target.GetTargetInfo().WithTargetID(chromedp.FromContext(b.ctx).Target.TargetID).Do(ctx)
	if err != nil {
		b.Fatal(err)
	}
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(info.BrowserContextID).Do(ctx)
	if err != nil {
		b.Fatal(err)
	}
	return newTabOf(all, b.T, 2*time.Minute, chromedp.WithTargetID(window))
}

func (b *tab) complain(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.problems = append(b.problems, text)
}

// checkProblems fails if the browser complained: about the Content-Security-Policy, a script, or something that is missing.
func (b *tab) checkProblems() {
	b.Helper()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, problem := range b.problems {
		b.Errorf("the browser complains: %s", problem)
	}
	b.problems = nil
}

func (b *tab) run(actions ...chromedp.Action) {
	b.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// evaluate returns what an expression is in the page.
func evaluate[T any](b *tab, expression string) (value T) {
	b.Helper()
	b.run(chromedp.Evaluate(expression, &value, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return value
}

// until waits until an expression is true. It asks by the clock: a tab behind others draws nothing.
func (b *tab) until(expression string) {
	b.Helper()
	for {
		err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second)))
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "context") || b.ctx.Err() != nil {
			b.Fatalf("until %s: %v", expression, err)
		} // another page came: it is asked the same
	}
}

// navigate leads to a page. Chromium ends requests while an interface of the machine comes or goes, such as those of Pods: then it is tried again.
func (b *tab) navigate(to chromedp.Action) {
	b.Helper()
	for {
		err := chromedp.Run(b.ctx, to)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "ERR_NETWORK_CHANGED") || b.ctx.Err() != nil {
			b.Fatal(err)
		}
	}
}

// look sets the width of the window and the theme of the system.
func (b *tab) look(width int64, dark bool) {
	b.Helper()
	theme := "light"
	if dark {
		theme = "dark"
	}
	b.run(chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}))
}

func (b *tab) open(address string) {
	b.Helper()
	b.navigate(chromedp.Navigate(address))
	evaluate[bool](b, "document.fonts.ready.then(() => true)")
}

// shown are the pages, by their names.
func shown() map[string]string {
	failed := "/applications/" + consolepages.Failed.Namespace + "/" + consolepages.Failed.Resource + "/" + consolepages.Failed.Name
	goneCluster := "/clusters/" + consolepages.GoneCluster.Namespace + "/" + consolepages.GoneCluster.Name
	gone := "/applications/" + consolepages.Gone.Namespace + "/" + consolepages.Gone.Resource + "/" + consolepages.Gone.Name
	return map[string]string{
		"overview": "/", "list": "/applications?kind=application", "empty": "/applications?text=nothing", "application": failed, "executors": failed + "?tab=executors", "plan": failed + "?tab=plan", "plan-foreign": "/applications/legacy/sparkapplications.sparkoperator.k8s.io/old-operator-job?tab=plan", "executors-gpu": "/applications/features/sparkapplications.sparkoperator.k8s.io/clickstream-sessions?tab=executors",
		"pods": failed + "?tab=pods", "events": failed + "?tab=events", "logs": failed + "?tab=logs&lines=200", "yaml": failed + "?tab=yaml", "schedules": "/schedules",
		"schedule": "/schedules/reports/scheduledsparkapplications.sparkoperator.k8s.io/daily-revenue", "clusters": "/clusters", "cluster": "/clusters/ml/shared-notebooks", "cluster-logs": "/clusters/ml/shared-notebooks?tab=logs&lines=200",
		"compare-choose": "/compare?a=ingest/" + consolepages.Failed.Resource + "/hourly-rollup-037",
		"compare":        "/compare?a=reports/" + consolepages.Failed.Resource + "/" + consolepages.Failed.Name + "&b=ingest/" + consolepages.Failed.Resource + "/hourly-rollup-001",
		"sign-in":        "/sign-in", "archive": "/archive?namespace=reports", "archive-namespaces": "/archive", "gone": gone, "gone-pods": gone + "?tab=pods", "gone-logs": gone + "?tab=logs",
		"gone-yaml": gone + "?tab=yaml", "gone-cluster": goneCluster, "gone-cluster-logs": goneCluster + "?tab=logs", "archive-clusters": "/archive?namespace=ml&resource=sparkclusters.spark.apache.org",
	}
}

// pictures is the folder for pictures of the pages: $FIRESTEEL_PICTURES, or one that is removed after the test.
func pictures(t *testing.T) string {
	t.Helper()
	if folder := os.Getenv("FIRESTEEL_PICTURES"); folder != "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	return t.TempDir()
}

// violations are what axe-core finds.
type violations []struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

func (v violations) String() string {
	var text strings.Builder
	for _, violation := range v {
		text.WriteString("\n" + violation.ID + ": " + violation.Help)
		for i, node := range violation.Nodes {
			const most = 3
			if i < most {
				text.WriteString("\n  " + node.HTML + "\n    " + strings.ReplaceAll(node.FailureSummary, "\n", "\n    "))
			}
		}
	}
	return text.String()
}

// misplaced names what something else covers in its middle, and texts that are cut without an ellipsis.
const misplaced = `(() => {
  const found = [];
  const shown = [...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, h1, h2, h3, th, td, dt, dd, p, pre")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".hidden, [class*=skip-to-content]")).slice(0, 300);
  const name = (e) => e.tagName.toLowerCase() + " " + (e.textContent.trim() || e.outerHTML).slice(0, 80);
  for (const e of shown) {
    const style = getComputedStyle(e);
    if (!/^(input|select)$/i.test(e.tagName) && /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && e.scrollWidth > e.clientWidth + 1) found.push(name(e) + ": is cut");
    e.scrollIntoView({ block: "center", inline: "center" });
    const box = [...e.getClientRects()].find((r) => r.width > 0 && r.height > 0);
    const top = box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (top && !e.contains(top) && !top.contains(e)) found.push(name(e) + ": is covered by " + name(top));
  }
  scrollTo(0, 0);
  return found;
})()`

func TestWhatIsCoveredOrCutIsFound(t *testing.T) {
	b := newTab(t)
	b.look(1024, false)
	b.open(serve(t, consolepages.Morning()) + "/clusters")
	for change, want := range map[string]string{
		`document.querySelector("h1").style.cssText = "position: fixed; inset: 0"`:                      "is covered by h1",
		`document.querySelector("h1").style.cssText = "width: 4px; overflow: hidden; white-space: pre"`: "h1 Clusters: is cut",
	} {
		b.run(chromedp.Evaluate(change, nil))
		if found := strings.Join(evaluate[[]string](b, misplaced), "\n"); !strings.Contains(found, want) {
			t.Errorf("after %s it finds %q", change, found)
		}
	}
}

func TestPagesAreForEverybodyAtEachWidth(t *testing.T) {
	axe, err := os.ReadFile("../../third_party/npm/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	address, folder, references := serve(t, consolepages.Morning()), pictures(t), newReferences(t)
	for name, path := range shown() {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			for _, dark := range []bool{false, true} {
				for _, width := range []int64{375, 1024, 1600} {
					b.look(width, dark)
					b.open(address + path)
					var picture []byte // before anything is scrolled
					b.run(chromedp.FullScreenshot(&picture, 100))
					look := fmt.Sprintf("%s-%s-%d", name, map[bool]string{false: "light", true: "dark"}[dark], width)
					if err := os.WriteFile(filepath.Join(folder, look+".png"), picture, 0o644); err != nil {
						t.Fatal(err)
					}
					references.compare(t, folder, look, picture)
					if evaluate[bool](b, "document.documentElement.scrollWidth > innerWidth") {
						b.Errorf("at %d pixels the page is wider than the window", width)
					}
					if misplaced := evaluate[[]string](b, misplaced); len(misplaced) > 0 {
						b.Errorf("at %d pixels, dark %t, something else covers these, or their text is cut:\n%s", width, dark, strings.Join(misplaced, "\n"))
					}
					if width == 1024 {
						continue // it has what the others have
					}
					b.run(chromedp.Evaluate(string(axe), nil))
					if found := evaluate[violations](b, "axe.run().then((result) => result.violations)"); len(found) > 0 {
						b.Errorf("at %d pixels, dark %t: %s", width, dark, found)
					}
				}
			}
			b.checkProblems()
		})
	}
	references.finish(t)
}
