package history

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// page is an answer with its text.
type page struct {
	*http.Response
	text string
}

// mostOfPath bounds the addresses of one path that a crawl reads: the pages of two jobs show what those of all show.
const mostOfPath = 2

// kinds are the content types of files, by the ends of their names.
var kinds = map[string]string{
	".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml", ".gif": "image/gif", ".ico": "image/x-icon", ".html": "text/html",
}

// ofStyle are the addresses in a style sheet.
var ofStyle = regexp.MustCompile(`url\(\s*['"]?([^'")]+)['"]?\s*\)`)

// crawl reads pages and files, beginning with one, and what they link to. It returns the last of each path below the visit. What changes something is
// not read.
func (b *browser) crawl(visit string, begin ...string) map[string]*page {
	b.Helper()
	origin := visit[:strings.LastIndex(visit, "/ui/")]
	found, read, seen := map[string]*page{}, map[string]int{}, map[string]bool{}
	for open := begin; len(open) > 0; {
		address := open[0]
		open = open[1:]
		below, isBelow := strings.CutPrefix(address, visit)
		if !isBelow || !strings.HasPrefix(below, "/") {
			b.Errorf("a page of the visit leads out of it: %s", address)
			continue
		}
		below, _, _ = strings.Cut(below, "?")
		if seen[address] || read[below] == mostOfPath || isKill(address) {
			continue
		}
		seen[address] = true
		read[below]++
		got := b.get(address)
		if to := got.Header.Get("Location"); to != "" && got.StatusCode/100 == 3 {
			seen[address] = false // the History Server leads to the same page when it has read an event log
			open = append(open, got.at(to))
			continue
		}
		if kind := got.Header.Get("Content-Type"); got.StatusCode != http.StatusOK || !isKind(kind, below) {
			b.Errorf("%s: %d, %s: %.300s", address, got.StatusCode, kind, got.text)
			continue
		}
		found[below] = got
		for _, link := range got.links() {
			if strings.HasPrefix(link, origin+"/") {
				open = append(open, link)
			} else if host := hostOf(link); host != "" && !strings.HasSuffix(host, "apache.org") {
				b.Errorf("%s leads to %s", address, link)
			}
		}
	}
	return found
}

func isKill(address string) bool { return strings.Contains(address, "/kill") }

// isKind reports whether a content type is that of a path.
func isKind(kind, below string) bool {
	kind, _, _ = mime.ParseMediaType(kind)
	want := kinds[path.Ext(below)]
	if want == "" || !strings.HasPrefix(below, "/static/") {
		return kind == "text/html" || kind == "text/plain"
	}
	return kind == want || want == "text/javascript" && kind == "application/javascript"
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Hostname()
}

// at returns the address of a link of the page.
func (p *page) at(link string) string {
	u, err := p.Request.URL.Parse(link)
	if err != nil {
		return link
	}
	u.Fragment = ""
	return u.String()
}

// links are the addresses of what the page links to, and of the files that it needs.
func (p *page) links() (all []string) {
	switch kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type")); kind {
	case "text/css":
		for _, match := range ofStyle.FindAllStringSubmatch(p.text, -1) {
			all = append(all, p.at(match[1]))
		}
	case "text/html":
		for tokens := html.NewTokenizer(strings.NewReader(p.text)); tokens.Next() != html.ErrorToken; {
			for _, attribute := range tokens.Token().Attr {
				if name := attribute.Key; (name == "href" || name == "src" || name == "action") && attribute.Val != "" && !strings.HasPrefix(attribute.Val, "#") {
					all = append(all, p.at(attribute.Val))
				}
			}
		}
	}
	return all
}

// kill is a request that ends a job or a stage.
type kill struct {
	method, address string
	form            url.Values
}

// kills are the requests of the page's links that end jobs: Spark 3 has links, and Spark 4 forms.
func (p *page) kills() (all []*kill) {
	var form *kill
	for tokens := html.NewTokenizer(strings.NewReader(p.text)); tokens.Next() != html.ErrorToken; {
		token := tokens.Token()
		attributes := map[string]string{}
		for _, attribute := range token.Attr {
			attributes[attribute.Key] = attribute.Val
		}
		switch {
		case token.Data == "a" && isKill(attributes["href"]):
			all = append(all, &kill{method: http.MethodGet, address: p.at(attributes["href"])})
		case token.Data == "form" && isKill(attributes["action"]):
			form = &kill{method: strings.ToUpper(attributes["method"]), address: p.at(attributes["action"]), form: url.Values{}}
			all = append(all, form)
		case token.Data == "form":
			form = nil
		case token.Data == "input" && form != nil:
			form.form.Set(attributes["name"], attributes["value"])
		}
	}
	return all
}
