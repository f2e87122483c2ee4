package pages

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/firesteel-dev/firesteel/pkg/console/pages/assets"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

//go:embed templates
var templates embed.FS

// page is what the layout and all templates are given.
type page struct {
	// Title is that of the window, Section the part of the navigation that the page belongs to.
	Title, Section string
	// Prefix is the path of the console's root, without a slash at its end.
	Prefix string
	// Self is the address at which the page asks for itself, and Here the one at which a user comes back to it. Stream is that of the events of what it
	// shows; empty for a page that does not change.
	Self, Here, Stream string
	// Theme is light or dark if the viewer chose one, else empty.
	Theme string
	// User is the name of the viewer, empty before the sign-in.
	User, CSRF string
	CanSignOut bool
	// Stale is since when the API server does not answer.
	Stale instant
	// Reading reports whether what runs is still being read, so that the page may not show all of it.
	Reading bool
	Now     string
	// Note is a sentence at the end of the page.
	Note string
	// Announce is a sentence that screen readers say when it changes.
	Announce string
	// Scripts are the scripts that the page needs beside the common one.
	Scripts []string
	Body    any

	clock moment
}

// section is a part of the navigation.
type section struct{ name, text, path string }

var sections = []section{
	{"overview", "Overview", "/"}, {"applications", "Applications", "/applications?kind=application"}, {"schedules", "Schedules", "/schedules"}, {"clusters", "Clusters", "/clusters"},
}

// sectionOf returns the part with the objects of a kind.
func sectionOf(noun overview.Kind) section {
	at := slices.IndexFunc(sections, func(s section) bool { return s.name == string(noun)+"s" })
	return sections[at]
}

// Sections are the parts of the navigation.
func (p *page) Sections() (links []link) {
	for _, section := range sections {
		links = append(links, p.linkTo(section))
	}
	return links
}

func (p *page) linkTo(s section) link { return link{s.text, p.Prefix + s.path, p.Section == s.name} }

// link is a link in a navigation. Current reports whether it leads to the page itself.
type link struct {
	Text, Href string
	Current    bool
}

// Asset returns the address of a file of package assets.
func (p *page) Asset(name string) (string, error) {
	path, err := assets.Path(name)
	return p.Prefix + path, err
}

// Icon returns the address of an icon.
func (p *page) Icon(name string) (string, error) {
	path, err := p.Asset("icons.svg")
	return path + "#" + name, err
}

// With joins the page and something that a nested template shows.
func (p *page) With(body any) *nested { return &nested{page: p, Body: body} }

// nested is a part of a page.
type nested struct {
	*page
	Body any
}

// names are the pages, each with a template of its own beside those that all share.
var names = []string{
	"overview", "list", "application", "archive", "schedules", "schedule", "clusters", "cluster", "compare", "signin", "problem",
}

var parsed = sync.OnceValues(func() (map[string]*template.Template, error) {
	shared, err := template.New("layout.html").Funcs(template.FuncMap{"percent": percent, "lower": strings.ToLower}).
		ParseFS(templates, "templates/layout.html", "templates/shared.html")
	if err != nil {
		return nil, err
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		own, err := shared.Clone()
		if err == nil {
			own, err = own.ParseFS(templates, "templates/"+name+".html")
		}
		if err != nil {
			return nil, err
		}
		all[name] = own
	}
	return all, nil
})

// percent returns a share of a whole for the attributes of SVG, from 0 to 100.
func percent(share float64) string {
	return strconv.FormatFloat(min(max(share, 0), 1)*100, 'f', 3, 64) + "%"
}

// render writes a page. Nothing is written before the whole page is made.
func render(w http.ResponseWriter, r *http.Request, status int, name string, p *page) error {
	all, err := parsed()
	if err != nil {
		return fmt.Errorf("parse templates: %w", err)
	}
	var text bytes.Buffer
	if err := all[name].ExecuteTemplate(&text, "layout.html", p); err != nil {
		return fmt.Errorf("render page %s: %w", name, err)
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Accept-Encoding, Cookie")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Length", strconv.Itoa(text.Len()))
		w.WriteHeader(status)
		_, _ = w.Write(text.Bytes()) // the client has left
		return nil
	}
	header.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	zip, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	_, _ = zip.Write(text.Bytes())                   // the client has left
	_ = zip.Close()
	return nil
}

// themeCookie holds the theme that the viewer chose.
const themeCookie = "firesteel-theme"

// newPage returns a page without a body.
func (s *Server) newPage(r *http.Request, title, section string) *page {
	now := s.options.Clock.Now()
	p := &page{
		Title: title, Section: section, Prefix: s.options.Prefix(), clock: moment{now}, Now: now.UTC().Format(machineFormat),
	}
	p.Self = p.Prefix + r.URL.Path
	if r.URL.RawQuery != "" {
		p.Self += "?" + r.URL.RawQuery
	}
	if cookie, err := r.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		p.Theme = cookie.Value
	}
	if since := s.options.Source.StaleSince(); !since.IsZero() {
		p.Stale = p.clock.ago(since)
	}
	p.Reading = !s.options.Source.HasSynced()
	return p
}

// viewed adds what a page says of its viewer, and to no one else.
func (s *Server) viewed(p *page, v Viewer) {
	p.User, p.CSRF, p.CanSignOut = v.Name(), v.CSRF(), v.CanSignOut()
	if s.options.Note != nil {
		p.Note = s.options.Note()
	}
}

// follow lets a page be kept up to date from a cursor on. narrow narrows the changes down to one object.
func (p *page) follow(cursor uint64, narrow url.Values) {
	values := url.Values{"cursor": {strconv.FormatUint(cursor, 10)}}
	for name, value := range narrow {
		values[name] = value
	}
	p.Here, p.Stream = p.Self, p.Prefix+"/stream?"+values.Encode()
}

// slow lets the page, when it follows changes, ask for what surrounds its slow part only.
func (p *page) slow() {
	address, err := url.Parse(p.Self)
	if err != nil {
		return // it is the address of a request, which was parsed
	}
	values := address.Query()
	values.Set(paramPart, partHead)
	address.RawQuery = values.Encode()
	p.Self = address.String()
}
