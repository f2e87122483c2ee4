package finding_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

func TestAFindingNamesFieldValueProblemAndRemedyInThatOrder(t *testing.T) {
	type named string
	for want, f := range map[string]finding.Finding{
		`spec.driver.memory "1.5g" is not a size: write 1536m`: {Field: "spec.driver.memory", Value: "1.5g", Message: "is not a size", Remedy: "write 1536m"},
		`spec.image is missing: name it`:                       {Field: "spec.image", Message: "is missing", Remedy: "name it"},
		`spec.schedule "": write five fields`:                  {Field: "spec.schedule", Value: "", Remedy: "write five fields"},
		`spec.replicas -1 counts as 0: write a number`:         {Field: "spec.replicas", Value: -1, Message: "counts as 0", Remedy: "write a number"},
		`spec.mode "client" is refused: write cluster`:         {Field: "spec.mode", Value: named("client"), Message: "is refused", Remedy: "write cluster"},
		`spec.sparkConf[spark.x] "1" has no effect: remove it`: {
			Field: finding.Entry("spec.sparkConf", "spark.x"), Value: "1", Message: "has no effect", Remedy: "remove it",
		},
		`spec.sparkConf "a" is dropped, Spark reads only spark.: remove it`: {
			Field: "spec.sparkConf", Value: "a", Message: "is dropped, Spark reads only spark.", Remedy: "remove it",
		},
		`spec.driver.memory (spark.driver.memory) "1.5g" is not a size`: {
			Field: "spec.driver.memory", Property: "spark.driver.memory", Value: "1.5g", Message: "is not a size",
		},
		`the operator's default spark.x "y" is wrong: correct it`: {
			Source: "the operator's default spark.x", Value: "y", Message: "is wrong", Remedy: "correct it",
		},
		`"x" is no URL: write one`: {Value: "x", Message: "is no URL", Remedy: "write one"},
		`in words of its own: write 1`: {
			Field: "spec.a", Value: "2", Message: "is wrong", Remedy: "write 1", Text: "in words of its own",
		},
		`A sentence. Write 1`: {Text: "A sentence.", Remedy: "Write 1"},
		`no remedy`:           {Text: "no remedy"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
		if got, want := f.Sentence(), strings.TrimSuffix(want, ".")+"."; got != want {
			t.Errorf("the sentence is %q, want %q", got, want)
		}
	}
}

func TestAFindingPrintsNoSecretValue(t *testing.T) {
	for _, f := range []finding.Finding{
		{Field: "spark.x.password", Value: "hunter2"},
		{Field: "spec.sparkConf[spark.x.password]", Value: "hunter2"},
		{Field: "spec.driver.image", Property: "spark.x.password", Value: "hunter2"},
		{Source: "the operator's default spark.x.password", Value: "hunter2"},
		{Field: "spec.a", Message: "is not spark.x.password=hunter2"},
		{Text: "spark.x.password=hunter2 is wrong"},
	} {
		if got := f.Error(); strings.Contains(got, "hunter2") {
			t.Errorf("it prints %s", got)
		}
	}
}

func TestAFindingIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, f := range []finding.Finding{
		{Field: long, Property: long, Value: long, Message: long, Remedy: long}, {Text: long, Remedy: long},
	} {
		if got := f.Error(); len(got) > 4096 {
			t.Errorf("it has %d bytes", len(got))
		}
	}
}

func TestOfReturnsTheFindingsOfAJoinedError(t *testing.T) {
	var list finding.List
	list.Refuse("spec.a", "1", "is wrong", "write 2")
	list.Refuse("spec.b", nil, "is missing", "set it")
	err := errors.Join(list.Err(), fmt.Errorf("no finding"), errors.Join())
	want := slices.Concat(list, finding.List{{Text: "no finding"}})
	if diff := cmp.Diff(want, finding.Of(err)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	var first *finding.Finding
	if !errors.As(err, &first) || first.Field != "spec.a" {
		t.Errorf("the first is %v", first)
	}
	if got := finding.Of(finding.List(nil).Err()); got != nil {
		t.Errorf("nothing was found, and it is %v", got)
	}
}

func TestTextOfAListIsBoundedAndHasEachFindingOnce(t *testing.T) {
	var list finding.List
	for range 2 {
		list.Refuse("spec.a", nil, "is missing", "set it")
	}
	list.Refuse("spec.b", nil, "is missing", "set it")
	if got, want := list.String(), "spec.a is missing: set it; spec.b is missing: set it"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
	for i := range 100 {
		list.Refuse(fmt.Sprintf("spec.c[%d]", i), nil, "is missing", "set it")
	}
	if got, want := list.String(), "; and there are up to 53 more such problems"; strings.Count(got, "; ") != 10 || !strings.HasSuffix(got, want) {
		t.Errorf("it is %q, want it to end with %q", got, want)
	}
	var long finding.List
	for i := range 4 {
		long.Refuse(fmt.Sprintf("spec.c[%d]", i), nil, strings.Repeat("x", 400), "set it")
	}
	if got, want := long.String(), "; and there are up to 2 more such problems"; len(got) > 1024 || !strings.HasSuffix(got, want) {
		t.Errorf("it has %d bytes: %q, want it to end with %q", len(got), got, want)
	}
}

func TestFindingsBesideOthersAreAboutOtherFields(t *testing.T) {
	first := finding.List{{Field: "spec.a"}, {Text: "x"}}
	more := finding.List{{Field: "spec.a", Message: "is wrong, too"}, {Field: "spec.b"}, {Text: "x"}}
	if diff := cmp.Diff(finding.List{{Field: "spec.b"}, {Text: "x"}}, more.Beside(first)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestAListTakesABoundedNumberOfEachSeverity(t *testing.T) {
	var list finding.List
	for range 2 * finding.Max {
		list.WarnOfUnknown([]string{`unknown field "spec.drivers"`}, nil)
	}
	for range 2 * finding.Max {
		list.Refuse("spec.a", nil, "is missing", "set it")
	}
	if len(list) != 2*finding.Max {
		t.Errorf("it has %d", len(list))
	}
	if got, want := list.Sentences()[0], `unknown field "spec.drivers" is dropped: correct its spelling or its place.`; got != want || list[0].Field != "spec.drivers" {
		t.Errorf("it is %q about %s, want %q", got, list[0].Field, want)
	}
}

func TestFindingsThatFollowFromOthersAreLeftOut(t *testing.T) {
	first := finding.List{{Field: "spec.driver.memory"}, {Field: "spec.volumes[1]"}, {Field: "spec.executor.cores", Property: "spark.executor.cores"}}
	more := finding.List{
		{Field: "spec.driver.memory"}, {Field: "spec.volumes[1].name"}, {Field: "spec.driver.memoryLimit", Remedy: "raise it, or lower spec.driver.memory."},
		{Text: "spark.executor.cores is more than there are"}, {Field: "spec.driver.memoryOverhead", Remedy: "lower spec.driver.memoryOverhead"}, {Field: "spec.volumes[10]"},
	}
	want := finding.List{{Field: "spec.driver.memoryOverhead", Remedy: "lower spec.driver.memoryOverhead"}, {Field: "spec.volumes[10]"}}
	if diff := cmp.Diff(want, more.IndependentOf(first)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
