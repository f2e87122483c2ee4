package quantity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// accepted are quantities that Kubernetes accepts and people write.
var accepted = []string{
	"0", "1", "0.1", ".5", "1.", "+1", "-1", "500m", "100n", "1u", "2k", "3M", "10G", "4T", "5P", "1E", "1Ki", "1.5Gi", "1Ei",
	"1e3", "1E3", "1e-3", "1e+3", "1e-9", "1e18", "12e6", "1e99", "1e-99", "1e-000000003", "9223372036854775807", "12345678901234567890",
	"0.000000000000000000000000000001", " 2 ", "\t2\n",
}

// endless are quantities for which parsing, comparing or adding would practically never end.
var endless = []string{
	"1e3294967296", "1e4294967297", "1e-4294967295", "1e-2147483648", "1e2147483647", "1e999999999", "1E+999999999", "1e-99999", "1e100",
	"1000000000000000000000e999999999", "0.0000000000000000000000000001e-999999999", "1e-00000000000000000000000000100", "e20000000", "-1e999999999",
	"+1E-999999999", " 1e-2147483647 ", "\u00a01e999999999\u00a0", "1" + strings.Repeat("0", 64), "0." + strings.Repeat("0", 64) + "1",
	strings.Repeat("9", 1<<20), strings.Repeat("0", 1<<20) + "1", "1e" + strings.Repeat("9", 1<<20),
}

func TestQuantitiesAreParsedAsKubernetesDoesWithinBounds(t *testing.T) {
	for _, text := range accepted {
		got, err := quantity.Parse(text)
		if want := resource.MustParse(strings.TrimSpace(text)); err != nil || got.Cmp(want) != 0 {
			t.Errorf("Parse(%q) = %s, %v; want %s", text, got.String(), err, want.String())
		}
	}
	for _, text := range append([]string{"", "x", "1x", "1e", "1ee5", "١", "１", "1e٣", "0x10", "1_000", "NaN", "Inf"}, endless...) {
		got, err := quantity.Parse(text)
		switch {
		case err == nil:
			t.Errorf("Parse(%.80q) = %s", text, got.String())
		case len(err.Error()) > 256:
			t.Errorf("the refusal has %d bytes: %.80s", len(err.Error()), err)
		}
	}
}

// pod is a type with quantities in different places.
type pod struct {
	corev1.PodTemplateSpec `json:",inline"`

	Arguments []string                 `json:"arguments"`
	Amounts   []*resource.Quantity     `json:"amounts"`
	Claims    map[string]corev1.Volume `json:"claims"`
}

func check(data string) error { return quantity.Check([]byte(data), reflect.TypeFor[pod]()) }

// in returns JSON with a value in each place where the type has a quantity, by the path of that place.
func in(value string) map[string]string {
	return map[string]string{
		"spec.containers[0].resources.limits.cpu":             `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":` + value + `}}}]}}`,
		"spec.containers[1].resources.requests.example.com/a": `{"spec":{"containers":[{},{"resources":{"requests":{"example.com/a":` + value + `}}}]}}`,
		"spec.initContainers[0].resources.limits.cpu":         `{"spec":{"initContainers":[{"resources":{"limits":{"cpu":` + value + `}}}]}}`,
		"spec.overhead.cpu":                                   `{"spec":{"overhead":{"cpu":` + value + `}}}`,
		"spec.volumes[0].emptyDir.sizeLimit":                  `{"spec":{"volumes":[{"emptyDir":{"sizeLimit":` + value + `}}]}}`,
		"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests.storage": `{"spec":{"volumes":[{"ephemeral":{"volumeClaimTemplate":
			{"spec":{"resources":{"requests":{"storage":` + value + `}}}}}}]}}`,
		"amounts[2]":                  `{"amounts":["1",null,` + value + `]}`,
		"claims.a.emptyDir.sizeLimit": `{"claims":{"a":{"emptyDir":{"sizeLimit":` + value + `}}}}`,
		"spec.overhead.memory":        `{"spec":{"overhead":{"memory":"1","memory":` + value + `}}}`,
		"spec.overhead.disk":          `{"spec":{"containers":7,"volumes":{},"unknown":[{}],"over\u0068ead":{"disk":` + value + `}}}`,
	}
}

func TestAQuantityThatADecoderCannotParseIsLocated(t *testing.T) {
	for _, text := range []string{"many", "2GB", "1..2"} {
		for field, data := range in(`"` + text + `"`) {
			var into pod
			err := json.Unmarshal([]byte(data), &into)
			got := quantity.Locate(err, []byte(data), reflect.TypeFor[pod]())
			want := fmt.Sprintf("%s %q is no quantity (%v): write one such as", field, text, err)
			if field != "spec.overhead.disk" && !strings.HasPrefix(got.Error(), want) { // Go's decoder reports its other mistakes
				t.Errorf("it is %q, want %q", got, want)
			}
		}
	}
	other := json.Unmarshal([]byte(`7`), &pod{})
	if got := quantity.Locate(other, []byte(`7`), reflect.TypeFor[pod]()); !errors.Is(got, other) {
		t.Errorf("another error becomes %v", got)
	}
	if got := quantity.Locate(nil, []byte(`{"spec":{"overhead":{"cpu":"many"}}}`), reflect.TypeFor[pod]()); got != nil {
		t.Errorf("no error becomes %v", got)
	}
}

func TestCheckNamesTheFieldAndTheValue(t *testing.T) {
	for _, text := range endless {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for field, data := range in(string(quoted)) {
			if err := check(data); err == nil {
				t.Errorf("%.80q is accepted at %s", text, field)
			} else if says := err.Error(); !strings.HasPrefix(says, field+` "`) || !strings.Contains(says, "write one such as 500m") || len(says) > 512 {
				t.Errorf("%.80q at %s is refused with %.600q", text, field, says)
			}
		}
	}
	for field, data := range in("1e+300") { // a number of JSON, as the API server stores 1e300
		if err := check(data); err == nil || !strings.HasPrefix(err.Error(), field+` "1e+300"`) {
			t.Errorf("at %s: %v", field, err)
		}
	}
}

func TestUnrepeatedFieldsAreCheckedToTheLastThatHasQuantities(t *testing.T) {
	checkUnrepeated := func(data string) error { return quantity.CheckUnrepeated([]byte(data), reflect.TypeFor[pod]()) }
	for field, data := range in(`"1e999"`) {
		if err := checkUnrepeated(data); err == nil || !strings.HasPrefix(err.Error(), field+` "1e999"`) {
			t.Errorf("at %s: %v", field, err)
		}
	}
	const before = `{"metadata":{"name":"pi"},"spec":{"overhead":{"cpu":"1"},"volumes":[]},"arguments":["1e999"],"claims":{},`
	if err := checkUnrepeated(before + `"amounts":["1e999"]}`); err == nil {
		t.Error("the last field is not checked")
	}
	if err := checkUnrepeated(before + `"amounts":["1"],"more":{{{`); err != nil {
		t.Errorf("what follows is read, too: %v", err)
	}
}

func TestCheckAcceptsWhatKubernetesAccepts(t *testing.T) {
	for _, text := range append([]string{"a lot", ""}, accepted...) { // what is none is the decoder's to refuse
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for field, data := range in(string(quoted)) {
			if err := check(data); err != nil {
				t.Errorf("%q at %s: %v", text, field, err)
			}
		}
	}
	for _, value := range []string{"1", "0.1", "1e3", "1e+20", "null", "true", "{}", "[]", `["1e999"]`, `{"cpu":"1e999"}`} {
		for field, data := range in(value) {
			if err := check(data); err != nil {
				t.Errorf("%s at %s: %v", value, field, err)
			}
		}
	}
}

func TestCheckIgnoresTextsThatAreNoQuantities(t *testing.T) {
	data := `{"metadata":{"name":"pipe-20261122","uid":"3c0e-4711","annotations":{"cpu":"1e999999999"}},
		"arguments":["1e-000001","12345678901234567890123456789012345678901234567890123456789012345","1e999999999"],"spec":{"unknown":"1e999999999"}}`
	if err := check(data); err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesInvalidJSON(t *testing.T) {
	for _, data := range []string{"", "{", `{"amounts":[`, `{"amounts":["1"`, `{"amounts" 1}`, `{"amounts":["1e9"}`} {
		if check(data) == nil {
			t.Errorf("%s is accepted", data)
		}
	}
}

func TestCheckBoundsTheNumberOfQuantities(t *testing.T) {
	many := func(count int) string { return `{"amounts":[` + strings.Repeat(`"1",`, count-1) + `"1"]}` }
	if err := check(many(4096)); err != nil {
		t.Error(err)
	}
	if err := check(many(4097)); err == nil || !strings.HasPrefix(err.Error(), "amounts[4096] is one of more than 4096 quantities") {
		t.Errorf("error is %v", err)
	}
}

func TestCheckClipsLongNames(t *testing.T) {
	err := check(`{"spec":{"overhead":{"` + strings.Repeat("é", 1<<18) + `":"1e999"}}}`)
	if err == nil || len(err.Error()) > 1024 || !utf8.ValidString(err.Error()) {
		t.Errorf("error is %.600v", err)
	}
}

// An accepted quantity is parsed, formatted, compared, added and converted at once. The fuzzer ends a call that hangs.
func FuzzParse(f *testing.F) {
	for _, text := range append(accepted, endless[:20]...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		parsed, refusal := quantity.Parse(text)
		var decoded pod
		data := fmt.Sprintf(`{"amounts":[%s]}`, quoted)
		passed := check(data) == nil
		escaped := string(quoted) != `"`+text+`"` // which Kubernetes' decoder reads as it stands
		if refusal == nil && !passed && !escaped {
			t.Errorf("%q is accepted, but not in an object", text)
		}
		if !passed || json.Unmarshal([]byte(data), &decoded) != nil {
			return
		}
		got := *decoded.Amounts[0]
		if refusal != nil || got.Cmp(parsed) != 0 {
			t.Errorf("%q is accepted in an object only: %v", text, refusal)
		}
		sum := got.DeepCopy()
		sum.Add(resource.MustParse("1n"))
		sum.Sub(parsed)
		sum.Mul(1 << 31)
		_, _, _, _ = got.Value(), got.MilliValue(), got.AsApproximateFloat64(), got.String()
		if again, err := resource.ParseQuantity(sum.String()); err != nil || again.Sign() < 0 {
			t.Errorf("%q and some more is %s: %v", text, sum.String(), err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	data := []byte(`{"amounts":[` + strings.Repeat(`"1234567890123456789012345678901234567890123456789012345678901e99",`, 4095) + `"1"]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := quantity.Check(data, reflect.TypeFor[pod]()); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(data, new(pod)); err != nil {
			b.Fatal(err)
		}
	}
}
