package console

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/test/harness/consolepages"
)

func TestChangesAreShownWhereTheyAre(t *testing.T) {
	sample := consolepages.Morning()
	b := newTab(t)
	b.look(1600, false)
	b.open(serve(t, sample) + "/applications?kind=application")
	b.until(`document.getElementById("pulse").dataset.state === "live"`)
	row := sample.Rows[len(sample.Rows)/2]
	b.run(chromedp.Evaluate(`document.querySelectorAll("tbody a")[20].focus(); scrollTo(0, 400); document.querySelector("#filter [name=text]").value = "typed"; window.before = document.activeElement`, nil))
	changed := *row
	changed.Outcome, changed.State = overview.Failed, "BrandNewState"
	sample.Replace(&changed)
	sample.Changed <- live.Changes{Cursor: 8, Items: []*live.Change{{Ref: row.Ref, Row: &changed}}}
	b.until(`document.body.innerText.includes("BrandNewState")`)
	if y := evaluate[int](b, `scrollY`); y != 400 {
		t.Errorf("the page moved from 400 to %d", y)
	}
	if !evaluate[bool](b, `document.activeElement === window.before`) {
		t.Errorf("the focus is on %s", evaluate[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
	}
	if text := evaluate[string](b, `document.querySelector("#filter [name=text]").value`); text != "typed" {
		t.Errorf("what was typed became %q", text)
	}
	b.checkProblems()
}

func TestKeyboardIsEnough(t *testing.T) {
	b := newTab(t)
	b.look(1600, false)
	b.open(serve(t, consolepages.Morning()) + "/")
	b.run(chromedp.KeyEvent(kb.Tab))
	if text := evaluate[string](b, `document.activeElement.textContent`); text != "Skip to the content" {
		t.Errorf("the first stop is %q", text)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.id === "content"`)
	b.run(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.id === "find"`)
	// The protocol types the character although the page took the key, which a real keyboard does not.
	b.until(`document.querySelector("#find").value === "/"`)
	evaluate[string](b, `document.querySelector("#find").value = ""`)
	b.run(chromedp.KeyEvent("hourly"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#filter"))
	if query := evaluate[string](b, `location.search`); query != "?text=hourly" {
		t.Errorf("the search leads to %q", query)
	}
	b.checkProblems()
}

func TestThemeIsRemembered(t *testing.T) {
	address := serve(t, consolepages.Morning())
	b := newTab(t)
	b.look(1600, false)
	b.open(address + "/")
	surface := `getComputedStyle(document.querySelector(".card")).backgroundColor`
	light := evaluate[string](b, surface)
	b.run(chromedp.Click("[data-theme-toggle]"))
	dark := evaluate[string](b, surface)
	b.open(address + "/schedules")
	if again := evaluate[string](b, surface); light == dark || again != dark {
		t.Errorf("light %s, dark %s, on the next page %s", light, dark, again)
	}
	b.checkProblems()
}

func TestPagesReadWithoutScripts(t *testing.T) {
	b := newTab(t)
	b.look(1600, false)
	b.run(emulation.SetScriptExecutionDisabled(true))
	address := serve(t, consolepages.Morning())
	for name, path := range shown() {
		b.run(chromedp.Navigate(address + path))
		var text string
		b.run(chromedp.Text("main", &text))
		if len(strings.TrimSpace(text)) < 50 {
			t.Errorf("%s: the page has only %q", name, text)
		}
	}
	b.checkProblems()
}

func TestLogIsFollowedAndStaysSmall(t *testing.T) {
	b := newTab(t)
	b.look(1600, false)
	b.open(serve(t, consolepages.Morning()) + shown()["logs"])
	b.run(chromedp.Click("#log-follow"))
	b.until(`document.getElementById("log-note").textContent === "the log has ended"`)
	if lines := evaluate[int](b, `document.getElementById("log-text").textContent.split("\n").length`); lines < 200 || lines > 5001 {
		t.Errorf("the log has %d lines", lines)
	}
	b.checkProblems()
}

func TestLongNamesLeaveRowsLow(t *testing.T) {
	sample := consolepages.Morning()
	long := *sample.Rows[0]
	long.Namespace, long.Name, long.State = "team-with-a-rather-long-name-for-a-namespace", "clickstream-sessions-of-a-whole-quarter-20260304", "TerminatedWithoutReleaseResources"
	long.Team, long.User, long.Sentence = "quality-engineering", "firstname.lastname", strings.Repeat("The driver exited with code 1. ", 10)
	sample.Rows[0] = &long
	b := newTab(t)
	address := serve(t, sample)
	for _, width := range []int64{1024, 1280, 1600} { // a phone breaks names into more lines
		b.look(width, false)
		b.open(address + "/applications?namespace=" + long.Namespace)
		const most = 160 // some lines
		if height := evaluate[int](b, `document.querySelector("tbody tr").offsetHeight`); height > most {
			b.Errorf("at %d pixels the row is %d pixels high", width, height)
		}
	}
	b.checkProblems()
}

func TestHostileTextsRunNothing(t *testing.T) {
	address := serve(t, consolepages.Hostile(`"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><svg onload="window.hacked=1">'-alert(1)-'`))
	b := newTab(t)
	b.look(1600, false)
	for _, path := range []string{"/", "/applications", "/schedules", "/clusters"} {
		b.open(address + path)
		if evaluate[bool](b, `window.hacked !== undefined`) || !evaluate[bool](b, `document.body.innerText.includes("onerror=")`) {
			t.Errorf("%s: a hostile text ran, or is not shown", path)
		}
	}
	b.checkProblems()
}
