package console

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// referenceFile has what the pictures looked like when somebody last looked at them: make console-pictures writes it.
	referenceFile = "testdata/pictures.txt"
	// cell is the width and the height of what one letter stands for, in pixels.
	cell = 50
	// letters stand for how light a cell is, the darkest first.
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	// tolerance is how many letters a cell may differ: Chromium's versions smooth edges differently. An icon, a word or a line more differs by more.
	tolerance = 2
)

// references are what pictures are compared with: of each, how light its cells are, a line for each row of them. So a text is enough, which a review
// can read: a picture of each page would be some MiB.
type references struct {
	known, found map[string][]string
	renew        bool
}

func newReferences(t *testing.T) *references {
	t.Helper()
	r := &references{known: map[string][]string{}, found: map[string][]string{}, renew: os.Getenv("FIRESTEEL_RENEW") != ""}
	text, err := os.ReadFile(referenceFile)
	if err != nil && !r.renew {
		t.Fatalf("%v: make console-pictures makes it", err)
	}
	name := ""
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if line, isName := strings.CutPrefix(lines.Text(), "# "); isName {
			name = line
		} else {
			r.known[name] = append(r.known[name], line)
		}
	}
	return r
}

// compare compares a picture with the one of its name. If they differ, it leaves both in a folder: as they are now, and as their letters show them.
func (r *references) compare(t *testing.T, folder, name string, picture []byte) {
	t.Helper()
	now, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	r.found[name] = shadesOf(now)
	if r.renew {
		return
	}
	differs := difference(r.known[name], r.found[name])
	if differs == "" {
		return
	}
	t.Errorf("%s looks different: %s. Compare %s.png and %s-now.png with %s-before.png in %s. If it is better now: make console-pictures", name, differs, name, name, name, folder)
	for when, shades := range map[string][]string{"now": r.found[name], "before": r.known[name]} {
		if err := drawShades(filepath.Join(folder, name+"-"+when+".png"), shades); err != nil {
			t.Error(err)
		}
	}
}

// finish writes the references if they are renewed, and reports pictures that are no longer made.
func (r *references) finish(t *testing.T) {
	t.Helper()
	if !r.renew {
		for name := range r.known {
			page := name[:strings.LastIndexByte(name[:strings.LastIndexByte(name, '-')], '-')]
			if shown()[page] == "" {
				t.Errorf("%s has %s, which is no page any more: make console-pictures", referenceFile, name)
			}
		}
		return
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.found)) {
		fmt.Fprintf(&text, "# %s\n%s\n", name, strings.Join(r.found[name], "\n"))
	}
	if err := os.WriteFile(referenceFile, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shadesOf returns how light the cells of a picture are.
func shadesOf(picture image.Image) (rows []string) {
	pixels := image.NewRGBA(picture.Bounds())
	draw.Draw(pixels, pixels.Rect, picture, pixels.Rect.Min, draw.Src)
	for y := pixels.Rect.Min.Y; y < pixels.Rect.Max.Y; y += cell {
		var row strings.Builder
		for x := pixels.Rect.Min.X; x < pixels.Rect.Max.X; x += cell {
			row.WriteByte(letters[shadeOf(pixels, image.Rect(x, y, x+cell, y+cell).Intersect(pixels.Rect))])
		}
		rows = append(rows, row.String())
	}
	return rows
}

// shadeOf returns the index of the letter of a part of a picture.
func shadeOf(pixels *image.RGBA, part image.Rectangle) int {
	sum := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			pixel := pixels.RGBAAt(x, y)
			sum += 3*int(pixel.R) + 6*int(pixel.G) + int(pixel.B) // as light as eyes see them
		}
	}
	return sum * len(letters) / (10 * part.Dx() * part.Dy() * (1 << 8))
}

// difference says where two pictures differ; empty if they do so nowhere.
func difference(before, now []string) string {
	if len(before) != len(now) {
		return fmt.Sprintf("it is %d pixels high in place of %d", len(now)*cell, len(before)*cell)
	}
	cells, worst, where := 0, 0, ""
	for y := range now {
		if len(before[y]) != len(now[y]) {
			return fmt.Sprintf("it is %d pixels wide in place of %d", len(now[y])*cell, len(before[y])*cell)
		}
		for x := range now[y] {
			by := strings.IndexByte(letters, now[y][x]) - strings.IndexByte(letters, before[y][x])
			if by = max(by, -by); by <= tolerance {
				continue
			}
			if cells++; by > worst {
				worst, where = by, fmt.Sprintf("most at %d,%d, by %d of %d", x*cell, y*cell, by, len(letters))
			}
		}
	}
	if cells == 0 {
		return ""
	}
	return fmt.Sprintf("%d cells differ, %s", cells, where)
}

// drawShades writes what letters show as a picture.
func drawShades(file string, shades []string) error {
	width := 0
	for _, row := range shades {
		width = max(width, len(row))
	}
	const scale = 8
	picture := image.NewGray(image.Rect(0, 0, max(width, 1)*scale, max(len(shades), 1)*scale))
	for y := range picture.Rect.Max.Y {
		for x := range picture.Rect.Max.X {
			if y/scale < len(shades) && x/scale < len(shades[y/scale]) {
				picture.SetGray(x, y, color.Gray{Y: uint8(strings.IndexByte(letters, shades[y/scale][x/scale]) * (1 << 8) / len(letters))})
			}
		}
	}
	var text bytes.Buffer
	if err := png.Encode(&text, picture); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

func TestDifferencesOfPicturesAreFound(t *testing.T) {
	page := image.NewRGBA(image.Rect(0, 0, 375, 820))
	fill := func(part image.Rectangle, shade uint8) {
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				page.Set(x, y, color.Gray{Y: shade})
			}
		}
	}
	fill(page.Rect, 240)
	before := shadesOf(page)
	if len(before) != 17 || len(before[0]) != 8 {
		t.Fatalf("there are %d rows of %d cells", len(before), len(before[0]))
	}
	fill(page.Rect, 236)
	if differs := difference(before, shadesOf(page)); differs != "" {
		t.Errorf("another shade that nobody sees: %s", differs)
	}
	fill(image.Rect(110, 110, 146, 122), 20) // a word
	if differs := difference(before, shadesOf(page)); !strings.Contains(differs, "1 cells differ, most at 100,100") {
		t.Errorf("a word more: %q", differs)
	}
	if differs := difference(before, before[1:]); !strings.Contains(differs, "800 pixels high") {
		t.Errorf("a row less: %q", differs)
	}
	if difference(nil, before) == "" {
		t.Error("a page without a reference does not differ")
	}
}
