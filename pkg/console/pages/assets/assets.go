// Package assets holds the style sheets, scripts, fonts and icons of the console's pages. They are served under a path that contains a checksum of
// them all, so that browsers keep them until they change.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/firesteel-dev/firesteel/third_party/npm"
)

//go:embed console.css console.js logs.js charts.js icons.svg favicon.svg
var own embed.FS

// The styles of PatternFly that the pages use, the tokens first.
var patternfly = []string{"tokens", "skip-to-content"}

// file is a file as it is served.
type file struct {
	contentType   string
	plain, zipped []byte
}

// bundle are all files, by their names.
type bundle struct {
	hash  string
	files map[string]*file
}

var load = sync.OnceValues(func() (*bundle, error) {
	b := &bundle{files: map[string]*file{}}
	css, err := styles()
	if err != nil {
		return nil, err
	}
	b.add("console.css", css)
	scripts := []source{
		{npm.Console, "htmx/htmx.min.js"}, {npm.Console, "htmx/hx-sse.min.js"}, {own, "console.js"},
	}
	for name, from := range map[string][]source{
		"console.js":           scripts,
		"charts.js":            {{npm.Console, "uplot/uPlot.iife.min.js"}, {own, "charts.js"}},
		"logs.js":              {{own, "logs.js"}},
		"icons.svg":            {{own, "icons.svg"}},
		"favicon.svg":          {{own, "favicon.svg"}},
		"text-latin.woff2":     {{npm.Console, "red-hat-text/latin.woff2"}},
		"text-latin-ext.woff2": {{npm.Console, "red-hat-text/latin-ext.woff2"}},
		"mono-latin.woff2":     {{npm.Console, "red-hat-mono/latin.woff2"}},
		"mono-latin-ext.woff2": {{npm.Console, "red-hat-mono/latin-ext.woff2"}},
	} {
		content, err := join(from)
		if err != nil {
			return nil, err
		}
		b.add(name, content)
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(b.files[name].plain))
		_, _ = sum.Write(b.files[name].plain) // a hash does not fail
	}
	b.hash = hex.EncodeToString(sum.Sum(nil))[:16]
	return b, nil
})

// source is a file of a file system.
type source struct {
	from fs.FS
	name string
}

func join(sources []source) ([]byte, error) {
	var all bytes.Buffer
	for _, s := range sources {
		content, err := fs.ReadFile(s.from, s.name)
		if err != nil {
			return nil, fmt.Errorf("read assets: %w", err)
		}
		all.Write(content)
		if strings.HasSuffix(s.name, ".js") || strings.HasSuffix(s.name, ".css") {
			all.WriteByte('\n')
		}
	}
	return all.Bytes(), nil
}

// darkTheme is the selector of PatternFly's dark theme. It becomes that of a reader who chose it. The same rules serve readers who chose nothing
// and whose system is dark.
const darkTheme = ":root:where(.pf-v6-theme-dark)"

// styles returns all styles as one sheet.
func styles() ([]byte, error) {
	var all []source
	for _, name := range patternfly {
		all = append(all, source{npm.Console, "patternfly/" + name + ".css"})
	}
	all = append(all, source{npm.Console, "uplot/uPlot.min.css"}, source{own, "console.css"})
	css, err := join(all)
	if err != nil {
		return nil, err
	}
	start := bytes.Index(css, []byte(darkTheme))
	if start < 0 {
		return nil, fmt.Errorf("read assets: the tokens of PatternFly have no %s", darkTheme)
	}
	end := start + bytes.Index(css[start:], []byte("\n}")) + len("\n}")
	dark := bytes.Replace(css[start:end], []byte(darkTheme), []byte(":root:where(:not(.theme-light))"), 1)
	system := fmt.Appendf(nil, "\n@media (prefers-color-scheme: dark) {\n%s\n}\n", dark)
	return bytes.Join([][]byte{css[:end], system, css[end:]}, nil), nil
}

// types are the content types of the files, by the ends of their names.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
}

func (b *bundle) add(name string, content []byte) {
	f := &file{contentType: types[path.Ext(name)], plain: content}
	if path.Ext(name) != ".woff2" { // these are compressed
		var zipped bytes.Buffer
		writer, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is valid
		_, _ = writer.Write(content)                                    // a buffer takes all
		_ = writer.Close()
		f.zipped = zipped.Bytes()
	}
	b.files[name] = f
}

// Path returns the path of a file below the console's root, such as /assets/0123456789abcdef/console.css.
func Path(name string) (string, error) {
	b, err := load()
	if err != nil {
		return "", err
	}
	if b.files[name] == nil {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return "/assets/" + b.hash + "/" + name, nil
}

// Serve serves the file of a path that Path returned: the request's path values are hash and file. A replica of another version serves its own
// file under the hash of this one, and lets no browser keep it.
func Serve(w http.ResponseWriter, r *http.Request) {
	b, err := load()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	f := b.files[r.PathValue("file")]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache")
	if r.PathValue("hash") == b.hash {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	content := f.plain
	if f.zipped != nil {
		header.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			header.Set("Content-Encoding", "gzip")
			content = f.zipped
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // the client has left
	}
}
