package tunnel

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// BrowseSecret opens a link with a secret in the browser. Other users can see the arguments of the program that opens the browser. So it opens a file
// that only this user can read, and that leads to the link. remove removes the file, and is called after an error, too.
func BrowseSecret(link string) (remove func(), err error) { return browseSecret(link, Browse) }

func browseSecret(link string, browse func(address string) error) (remove func(), err error) {
	folder, err := os.MkdirTemp("", "kubectl-spark-") // only this user can enter it
	if err != nil {
		return func() {}, fmt.Errorf("create a page that leads to the link: %w", err)
	}
	remove = func() { _ = os.RemoveAll(folder) } // what is left cannot be read by others
	file := filepath.Join(folder, "open.html")
	if err := writeRedirection(file, link); err != nil {
		return remove, fmt.Errorf("create a page that leads to the link: %w", err)
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // on Windows it begins with the drive
		path = "/" + path
	}
	return remove, browse((&url.URL{Scheme: "file", Path: path}).String())
}

var redirection = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={{.}}"><title>kubectl spark</title></head>
<body><a href="{{.}}">Open the page</a></body>
</html>
`))

// writeRedirection writes a page that leads to a link.
func writeRedirection(file, link string) error {
	var page bytes.Buffer
	if err := redirection.Execute(&page, link); err != nil {
		return err
	}
	const ownerOnly = 0o600
	return os.WriteFile(file, page.Bytes(), ownerOnly)
}
