package usage

import "testing"

func TestQuantilesOfAHistogramAreUpperBoundsOfWhatIsChosen(t *testing.T) {
	page := func(within1, within5, all string) []byte {
		return []byte("# TYPE t histogram\n" +
			`t_bucket{kind="a",le="1"} ` + within1 + "\n" + `t_bucket{kind="a",le="5"} ` + within5 + "\n" + `t_bucket{kind="a",le="+Inf"} ` + all + "\n" +
			`t_bucket{kind="b",le="1"} 1000` + "\n" + `t_bucket{kind="b",le="+Inf"} 1000` + "\n")
	}
	ofA := func(label func(string) string) bool { return label("kind") == "a" }
	before, err := Observed(page("7", "7", "7"), "t", ofA)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Observed(page("97", "106", "107"), "t", ofA)
	if err != nil {
		t.Fatal(err)
	}
	since := after.Since(before)
	for q, want := range map[float64]float64{0.5: 1, 0.9: 1, 0.91: 5, 0.99: 5} {
		if got := since.Quantile(q); got != want {
			t.Errorf("the quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := (Histogram{}).Quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %v", got)
	}
}
