package submission

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzReaders gives every typed reader any text: none panics, none takes what it must not, and what it takes means the
// same when it is written again.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{
		"", " ", "true", " FALSE ", "1", "-1", "+4", "007", "2147483648", "0.1", "1e-5", "1e400", "0x1p-2", "NaN", "Infinity", "1_0", "1d",
		"512m", "2Gi", "9223372036854775807b", "1.5g", "500m", "1e3", "a,b,,c", " a , ,b", "${spark.a}", "${spark.b}${spark.b}",
		"${env:HOME}", "${x:y}", "local:///a.jar", "http://[::1]/a#b", "local:///a b", "g:a:v", "/etc/../x", "a/../b", "é", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkBooleans(t, text)
		checkWholeNumbers(t, text)
		checkFactors(t, text)
		checkQuantities(t, text)
		checkSizesAgree(t, text)
		checkLists(t, text)
		checkExpansion(t, text)
		checkAddresses(t, text)
	})
}

func checkBooleans(t *testing.T, text string) {
	if value, ok := parseBoolean(text); ok != (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) ||
		ok && value != strings.EqualFold(text, "true") {
		t.Errorf("parseBoolean(%q) = %t %t", text, value, ok)
	}
}

func checkWholeNumbers(t *testing.T, text string) {
	integer, isInteger := parseInteger(text)
	count, isCount := parseCount(text)
	positive, isPositive := parsePositive(text)
	if isInteger {
		if again, ok := parseInteger(strconv.Itoa(integer)); !ok || again != integer || int64(int32(integer)) != int64(integer) {
			t.Errorf("parseInteger(%q) = %d", text, integer)
		}
	}
	if isCount != (isInteger && integer >= 0) || isPositive != (isInteger && integer > 0) || isCount && count != integer ||
		isPositive && positive != integer {
		t.Errorf("%q is %d, as a count %d %t, as a positive number %d %t", text, integer, count, isCount, positive, isPositive)
	}
	if port, ok := portsFrom(1).parse(text); ok != (isPositive && positive <= 65535) || ok && int(port) != positive {
		t.Errorf("%q is the port %d %t", text, port, ok)
	}
}

func checkFactors(t *testing.T, text string) {
	number, ok := parseFactor(text)
	if !ok {
		return
	}
	if again, ok := parseFactor(javaDouble(number)); number < 0 || !ok || again != number {
		t.Errorf("%q is %g, and %q is %g", text, number, javaDouble(number), again)
	}
}

func checkQuantities(t *testing.T, text string) {
	quantity, ok := parseQuantity(text)
	if !ok || quantity.Cmp(resource.MustParse("1E")) > 0 {
		return // Kubernetes writes 1000E as 1
	}
	again, err := resource.ParseQuantity(quantity.String())
	if err != nil || quantity.Sign() < 0 || again.Cmp(quantity) != 0 {
		t.Errorf("%q is %s, which is %s: %v", text, quantity.String(), again.String(), err)
	}
}

// checkSizesAgree checks that more units only add to what is read.
func checkSizesAgree(t *testing.T, text string) {
	older, ok := parseSize(text, false)
	newer, okToo := parseSize(text, true)
	if ok && (!okToo || older != newer) || older < 0 || newer < 0 {
		t.Errorf("%q is %v %t, and with binary units %v %t", text, older, ok, newer, okToo)
	}
}

func checkLists(t *testing.T, text string) {
	items := splitList(text)
	for _, item := range items {
		if item == "" || item != trimmed(item) || strings.Contains(item, ",") {
			t.Errorf("%q has the item %q", text, item)
		}
	}
	if again := splitList(strings.Join(items, ",")); !slices.Equal(items, again) {
		t.Errorf("%q is %q, and that is %q", text, items, again)
	}
}

func checkExpansion(t *testing.T, text string) {
	c := &conf{values: map[string]string{"spark.a": "x", "spark.b": text, "spark.c": "${spark.b}${spark.a}"}}
	if expanded := c.expand("spark.d", text); !strings.Contains(text, "${") && expanded != text {
		t.Errorf("%q became %q", text, expanded)
	}
}

func checkAddresses(t *testing.T, text string) {
	if javaURI().MatchString(text) && (strings.ContainsAny(text, " \"<>\\^`{|}\t\n") || strings.Count(text, "#") > 1) {
		t.Errorf("%q is no URI", text)
	}
	if hasParts(text, 3) && strings.Count(text, ":") != 2 {
		t.Errorf("%q is no coordinate", text)
	}
	if !leadsUp(text) && strings.Contains("/"+text+"/", "/../") {
		t.Errorf("%q leads up", text)
	}
}

// FuzzSizes compares sizes with numbers of any length.
func FuzzSizes(f *testing.F) {
	f.Add(uint64(1), uint8(3), false)
	f.Add(uint64(1<<63), uint8(0), true)
	units := []string{"", "b", "k", "m", "g", "t", "p", "kb", "gb", "mi", "gib", "i", "e", "bb", "ib"}
	powers := map[byte]uint{'k': 10, 'm': 20, 'g': 30, 't': 40, 'p': 50}
	f.Fuzz(func(t *testing.T, number uint64, which uint8, binary bool) {
		unit := units[int(which)%len(units)]
		size, ok := parseSize(strconv.FormatUint(number, 10)+strings.ToUpper(unit), binary)
		power, known := uint(20), true
		if unit != "" {
			power, known = powers[unit[0]]
			known = known && (binary || !strings.Contains(unit, "i"))
			if unit == "b" {
				power, known = 0, true
			}
		}
		want := new(big.Int).Lsh(new(big.Int).SetUint64(number), power)
		if ok != (known && want.IsInt64()) || ok && size != want.Int64() {
			t.Errorf("%d%s is %v %t, want %s", number, unit, size, ok, want)
		}
	})
}

// FuzzMemory compares the pod's memory with Spark's formula, reckoned in whole numbers.
func FuzzMemory(f *testing.F) {
	f.Add(uint32(1024), uint32(384), uint16(100), false)
	f.Add(uint32(8192), uint32(0), uint16(400), true)
	f.Fuzz(func(t *testing.T, memory, minimum uint32, thousandths uint16, inPython bool) {
		if memory == 0 || thousandths == 0 {
			return
		}
		plan := pi("spark.driver.memory="+strconv.FormatUint(uint64(memory), 10)+"m",
			"spark.driver.minMemoryOverhead="+strconv.FormatUint(uint64(minimum), 10),
			"spark.driver.memoryOverheadFactor="+strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64))
		if inPython {
			plan = python(plan)
		}
		driver := driverOf(mustBuild(t, plan)).Resources
		given := driver.Limits.Memory().Value() >> 20
		share := min(int64(float64(thousandths)/1000*float64(memory)), 1<<31-1)
		if want := int64(memory) + max(share, int64(minimum)); given != want || driver.Requests.Memory().Cmp(*driver.Limits.Memory()) != 0 {
			t.Errorf("%d MiB, want %d", given, want)
		}
	})
}
