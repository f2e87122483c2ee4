package tunnel

import (
	"errors"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBrowserIsOpenedWithoutTheSecret(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const link = "http://127.0.0.1:8080/secret/sign-in?link=SECRET&other=a+b"
	var opened string
	remove, err := browseSecret(link, func(address string) error { opened = address; return nil })
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(opened)
	if err != nil || address.Scheme != "file" || strings.Contains(opened, "SECRET") || strings.Contains(opened, "8080") {
		t.Fatalf("the browser is opened with %q (%v)", opened, err)
	}
	page, err := os.ReadFile(address.Path)
	if err != nil {
		t.Fatal(err)
	}
	if text := html.UnescapeString(string(page)); !strings.Contains(text, `<meta http-equiv="refresh" content="0; url=`+link+`">`) || !strings.Contains(text, `<a href="`+link+`">`) {
		t.Errorf("the page is %s", page)
	}
	for path, want := range map[string]os.FileMode{address.Path: 0o600, filepath.Dir(address.Path): os.ModeDir | 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	remove()
	remove()
	if _, err := os.Stat(filepath.Dir(address.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after its use: %v", err)
	}
}

func TestPageOfABrowserThatCannotBeOpenedIsRemoved(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	failure := errors.New("no display")
	remove, err := browseSecret("http://127.0.0.1/", func(string) error { return failure })
	if !errors.Is(err, failure) {
		t.Error(err)
	}
	remove()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(folder, "absent"))
	remove, err = browseSecret("http://127.0.0.1/", func(string) error { t.Error("a browser is opened"); return nil })
	if err == nil {
		t.Error("a page without a folder")
	}
	remove()
}
