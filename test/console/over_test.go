package console

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// asked returns how many requests for a path have ended since a number of them.
func (c *cluster) asked(since int, path string) (count int) {
	for _, r := range c.arrived.list()[since:] {
		if strings.HasPrefix(r.URL.Path, prefix+path) {
			count++
		}
	}
	return count
}

func TestPageSaysThatTheSessionIsOver(t *testing.T) {
	for name, end := range map[string]func(c *cluster, token string){
		"with its token": func(c *cluster, token string) { c.revoke(token) },
		"with its time":  func(c *cluster, _ string) { c.clock.Step(2 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			c, b := newCluster(t), newTab(t)
			b.look(1600, false)
			b.open(c.address + "/applications?kind=application")
			token := c.token(time.Hour)
			b.signIn(token)
			b.live()
			b.shows("theirs", true)
			before := len(c.arrived.list())
			end(c, token)
			b.until(`!document.getElementById("over").hidden`)
			b.shows("Your session has been over for", true)
			b.shows("Not live", true)
			if evaluate[bool](b, `document.getElementById("stream") !== null`) {
				t.Error("the stream can be opened again")
			}
			c.create("team-a", "while-nobody-looked")
			b.run(chromedp.Click("#over a"))
			b.shows("Your session is over. Sign in again", true)
			if streams, pages := c.asked(before, "/stream"), c.asked(before, "/applications"); streams != 1 || pages > 2 {
				t.Errorf("after the session, %d streams have ended, and the page was asked for %d times", streams, pages)
			}
			b.signIn(c.token(time.Hour))
			if at := evaluate[string](b, `location.pathname + location.search`); at != prefix+"/applications?kind=application" {
				t.Errorf("the new session begins at %s", at)
			}
			b.live()
			b.shows("while-nobody-looked", true)
			c.create("team-a", "in-the-new-session")
			b.shows("1 newer object", true)
			b.checkProblems()
		})
	}
}

func TestSignOutEndsAllTabs(t *testing.T) {
	c, b := newCluster(t), newTab(t)
	b.look(1600, false)
	b.open(c.address + "/applications?kind=application")
	b.signIn(c.token(time.Hour))
	b.live()
	others := map[string]*tab{"/": b.beside(), "/compare?a=team-a/sparkapplications.spark.apache.org/ours": b.beside()}
	for path, other := range others {
		other.open(c.address + path)
		other.until(`document.querySelector("main h1") !== null`)
	}
	b.run(chromedp.Click(".menu summary"), chromedp.Click("[data-sign-out] button"))
	b.until(`location.pathname === "` + prefix + `/sign-in"`)
	for path, other := range others {
		other.until(`location.pathname === "` + prefix + `/sign-in" && document.querySelector("[name=token]") !== null`)
		other.shows("ours", false)
		if next := evaluate[string](other, `document.querySelector("[name=next]").value`); next != prefix+path {
			t.Errorf("after %s the form leads to %s", path, next)
		}
		other.checkProblems()
	}
	b.checkProblems()
}

func TestActionAfterTheSessionIsDoneOnceAfterAnother(t *testing.T) {
	c, b := newCluster(t), newTab(t)
	b.look(1600, false)
	page := "/applications/team-a/sparkapplications.spark.apache.org/ours"
	b.open(c.address + page + "?action=stop")
	token := c.token(time.Hour)
	b.signIn(token)
	b.run(chromedp.WaitVisible("#offer"))
	c.revoke(token)
	c.clock.Step(2 * time.Minute) // the last review is too old
	b.run(chromedp.Click("#offer button[type=submit]"))
	b.shows("Your session is over, and nothing was done.", true)
	b.signIn(c.token(time.Hour))
	if at := evaluate[string](b, `location.pathname + location.search`); at != prefix+page+"?action=stop" {
		t.Errorf("the new session begins at %s", at)
	}
	if writes := c.writes(); len(writes) > 0 {
		t.Errorf("before it was confirmed again, there were %v", writes)
	}
	const twice = `for (const _ of [1, 2]) document.querySelector("#offer button[type=submit]").click()`
	b.run(chromedp.Evaluate(twice, nil))
	b.until(`location.search === "?did=stop"`)
	b.open(c.address + page + "?action=rerun")
	b.run(chromedp.Evaluate(twice, nil))
	b.until(`location.search === "?did=rerun"`)
	b.navigate(chromedp.Reload())
	if writes := c.writes(); !slices.Equal(writes, []string{"patch sparkapplications", "create sparkapplications"}) {
		t.Errorf("the writes are %v", writes)
	}
	if sent := c.asked(0, "/actions/"); sent != 3 {
		t.Errorf("%d actions were sent", sent)
	}
	b.forgive("status of 404") // the console may not have read the new application when its page is opened
	b.checkProblems()
}

func TestRowsGoWithTheRight(t *testing.T) {
	c := newCluster(t)
	list, overview, application := newTab(t), newTab(t), newTab(t)
	for b, page := range map[*tab]string{list: "/applications?kind=application", overview: "/", application: "/applications/team-b/sparkapplications.spark.apache.org/theirs"} {
		b.look(1600, false)
		b.open(c.address + page)
		b.signIn(c.token(12 * time.Hour))
		b.live()
		b.shows("theirs", true)
	}
	const running = `document.querySelector(".tile .value").innerText`
	before := evaluate[string](overview, running)
	c.hide("team-b")
	list.shows("theirs", false)
	list.shows("ours", true)
	overview.shows("team-b", false)
	overview.shows("theirs", false)
	if now := evaluate[string](overview, running); before != "2" || now != "1" {
		t.Errorf("%q applications ran, and then %q", before, now)
	}
	application.shows("There is nothing at this address, or you may not see it.", true)
	application.shows("theirs", false)
	c.hide()
	list.shows("theirs", true)
	overview.shows("theirs", true)
	for _, b := range []*tab{list, overview, application} {
		b.forgive("status of 404")
		b.checkProblems()
	}
}

func TestPageGoesOnAfterTheAPIServerWasAway(t *testing.T) {
	c, b := newCluster(t), newTab(t)
	b.look(1600, false)
	b.open(c.address + "/applications?kind=application")
	b.signIn(c.token(12 * time.Hour))
	b.live()
	for _, away := range []struct {
		created, newer string
		// until is when it comes back.
		until func()
	}{
		{"after-a-minute", "1 newer object", func() {
			left := c.clock.Now()
			c.wait(func() bool { return c.clock.Since(left) > 70*time.Second })
			b.live()
		}},
		{"after-some-minutes", "2 newer objects", func() { b.until(`document.getElementById("pulse").dataset.state === "lost"`) }}, // nobody can be asked who the user is
	} {
		before := len(c.arrived.list())
		c.leave()
		b.shows("The API server has not answered for", true)
		away.until()
		b.shows("ours", true)
		if streams := c.asked(before, "/stream"); streams > 20 {
			t.Errorf("the stream was opened %d times meanwhile", streams)
		}
		c.create("team-a", away.created)
		c.comeBack()
		b.shows("has not answered for", false)
		b.live()
		b.shows(away.newer, true)
	}
	b.forgive("status of 503")
	b.checkProblems()
}

func TestPageGoesOnAfterTheConsoleWasAway(t *testing.T) {
	c, b := newCluster(t), newTab(t)
	b.look(1600, false)
	b.open(c.address + "/applications?kind=application")
	b.signIn(c.token(12 * time.Hour))
	b.live()
	c.gone.Store(true)
	c.server.CloseClientConnections()
	b.until(`!document.getElementById("lost").hidden`)
	b.shows("The console has not answered for", true)
	b.shows("Not connected", true)
	c.create("team-a", "meanwhile")
	c.gone.Store(false)
	b.live()
	b.shows("1 newer object", true)
	b.shows("The console has not answered for", false)
	b.forgive("status of 502")
	b.forgive("ERR_INCOMPLETE_CHUNKED_ENCODING")
	b.checkProblems()
}
