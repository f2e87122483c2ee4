package quantity_test

import (
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"500m": "500m", " 2 ": "2", "1e3": "1e3", "1e-3": "1e-3", "1Ei": "1Ei", "1e-000000003": "1e-000000003",
		"1e-2147483647": "", "1E+999999999": "", "e20000000": "", " 1e-000100 ": "", "x": "", "": "",
	} {
		got, err := quantity.Parse(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("Parse(%q) = %s, %v; want %q", text, got.String(), err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for json, refused := range map[string]bool{
		`{"a":[{"limits":{"cpu":"1e-2147483647"}}]}`:              true,
		`{"a":" 1E-9999999 "}`:                                    true,
		`{"a":"1.5e-000001"}`:                                     true,
		`{"uid":"0a1e-123456789012","b":"1e-300","c":"e-123456"}`: false,
		`{"cpu":"1e2147483647"}`:                                  false,
		`{`:                                                       false, // which the decoder says better
		`{"a":1e-9999999}`:                                        false, // a number of JSON, which the API server stores as 0
	} {
		if err := quantity.Check([]byte(json)); (err != nil) != refused {
			t.Errorf("Check(%s) = %v", json, err)
		}
	}
	if err := quantity.Check([]byte(`{"cpu":"1e-2147483647"}`)); err == nil || !strings.Contains(err.Error(), `"1e-2147483647"`) {
		t.Errorf("the refusal does not name it: %v", err)
	}
}

func TestNamesThatEndInDatesAreNotTakenForExponents(t *testing.T) {
	data := []byte(`{"metadata":{"name":"pipe-20261122","uid":"3c0e-4711"},"spec":{"arguments":["one-000001"]}}`)
	if times := testing.AllocsPerRun(10, func() { _ = quantity.Check(data) }); times > 0 {
		t.Errorf("the JSON was decoded, with %v allocations", times)
	}
}
