package pages

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// chart is a set of step curves: as SVG paths of a fixed size for readers without scripts, and as data for uPlot.
type chart struct {
	// Data is JSON for charts.js: {"series":[{"name","tone"}],"data":[[seconds],[values]...]}.
	Data   string
	Curves []curve
	// Most is the highest value. From and Until are the ends of the time axis.
	Most        int
	From, Until string
	// Text describes the curves to those who do not see them.
	Text  string
	Empty bool
}

// curve is a step curve in a box of chartWidth and chartHeight.
type curve struct{ Name, Tone, Path, Last string }

const (
	chartWidth, chartHeight = 1000, 120
	// maxPoints bounds the points of a curve.
	maxPoints = 500
)

// point is what all curves have at an instant.
type point struct {
	at     time.Time
	values []int
}

// newChart returns the chart of some curves, whose last values hold until the end.
func newChart(names, tones []string, points []point, from, until time.Time) chart {
	if len(points) == 0 || !until.After(from) {
		return chart{Empty: true}
	}
	points = thin(points, from, until)
	c := chart{From: axisTime(from, until.Sub(from)), Until: axisTime(until, until.Sub(from))}
	for _, p := range points {
		for _, value := range p.values {
			c.Most = max(c.Most, value)
		}
	}
	type series struct {
		Name string `json:"name"`
		Tone string `json:"tone"`
	}
	data := struct {
		Series []series `json:"series"`
		Data   [][]any  `json:"data"`
	}{Data: make([][]any, len(names)+1)}
	for _, p := range points {
		data.Data[0] = append(data.Data[0], float64(p.at.UnixMilli())/1000)
	}
	data.Data[0] = append(data.Data[0], float64(until.UnixMilli())/1000)
	length := float64(until.Sub(from))
	var sentences []string
	for i, name := range names {
		data.Series = append(data.Series, series{name, tones[i]})
		var path strings.Builder
		last := 0
		for at, p := range points {
			x := float64(max(p.at.Sub(from), 0)) / length * chartWidth
			y := chartHeight - float64(p.values[i])/float64(max(c.Most, 1))*chartHeight
			if at == 0 {
				fmt.Fprintf(&path, "M%.1f %.1f", x, y)
			} else {
				fmt.Fprintf(&path, "H%.1fV%.1f", x, y)
			}
			last = p.values[i]
			data.Data[i+1] = append(data.Data[i+1], last)
		}
		fmt.Fprintf(&path, "H%d", chartWidth)
		data.Data[i+1] = append(data.Data[i+1], last)
		c.Curves = append(c.Curves, curve{name, tones[i], path.String(), strconv.Itoa(last)})
		sentences = append(sentences, fmt.Sprintf("%s %d", name, last))
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return chart{Empty: true} // numbers and fixed names can be encoded
	}
	c.Data, c.Text = string(encoded), fmt.Sprintf("now: %s; at most %d", strings.Join(sentences, ", "), c.Most)
	return c
}

// thin leaves out points so that at most maxPoints are left: of those in an equal part of the time the last one stays.
func thin(points []point, from, until time.Time) []point {
	if len(points) <= maxPoints {
		return points
	}
	part := until.Sub(from) / maxPoints
	var kept []point
	for _, p := range points {
		if n := len(kept); n > 0 && kept[n-1].at.Sub(from)/part == p.at.Sub(from)/part {
			kept[n-1] = p
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

func axisTime(t time.Time, length time.Duration) string {
	switch {
	case length > 2*24*time.Hour:
		return t.UTC().Format("Jan 2")
	case length > 10*time.Minute:
		return t.UTC().Format("15:04")
	default:
		return t.UTC().Format("15:04:05")
	}
}

// loadChart is the chart of how many applications ran and waited.
func loadChart(series []live.Load, fromMilliseconds int64, now time.Time) chart {
	from := time.UnixMilli(fromMilliseconds)
	var points []point
	for _, load := range series {
		at := load.At
		if at.Before(from) {
			at = from
		}
		points = append(points, point{at, []int{load.Running, load.Waiting}})
	}
	return newChart([]string{"Running", "Waiting"}, []string{"running", "waiting"}, points, from, now)
}

// executorsChart is the chart of the executors of an attempt.
func executorsChart(counts []live.ExecutorCount, end time.Time) chart {
	if len(counts) == 0 {
		return chart{Empty: true}
	}
	var points []point
	for _, count := range counts {
		points = append(points, point{count.At, []int{int(count.Asked), count.Running, count.Pending, count.Lost}})
	}
	names := []string{"Asked", "Running", "Pending", "Lost"}
	tones := []string{"asked", "running", "waiting", "failed"}
	return newChart(names, tones, points, counts[0].At, end)
}
