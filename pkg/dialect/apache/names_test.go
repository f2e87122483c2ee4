package apache_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestNamesOfObjectsAreThoseOfTheApacheOperator(t *testing.T) {
	const of44 = "nightly-aggregation-of-clickstreams-for-emea"
	for name, test := range map[string]struct {
		app     *application
		attempt int64
		want    string
	}{
		"a name and the number of the attempt":            {pi(), 0, "pi-0"},
		"another attempt":                                 {pi(), 12, "pi-12"},
		"46 characters are kept":                          {pi().Named(of44), 9, of44 + "-9"},
		"47 are shortened, to the Apache operator's hash": {pi().Named(of44 + "1"), 0, "nightly-a-2si3gp86xfv8jhs0pspjtb2si9ye7u3dm6ax"},
		"a longer number makes a name too long":           {pi().Named(of44), 10, "nightly-a-1p6wae25e8591pqyv5lpyg47vq3ow419qa95"},
		"the attempt is part of the hash":                 {pi().Named(of44 + "1"), 1, "nightly-a-5bma8ewp32ae8nwdkx09srb4gpzzc2t7w3ak"},
		"the namespace is part of the hash":               {pi().Named(of44 + "1").In("team-b"), 0, "nightly-a-614lowaqdbsvsfgo9ttbdokwpldsdzoofyns"},
		"a user's own id is kept":                         {pi().Conf("spark.app.id", "mine"), 3, "mine"},
		"a user's own id is kept however long it is":      {pi().Conf("spark.app.id", strings.Repeat("m", 60)), 3, strings.Repeat("m", 60)},
	} {
		t.Run(name, func(t *testing.T) {
			got := apache.Names(test.app.Obj(), test.attempt)
			want := submission.Names{
				AppID: test.want, Prefix: test.want,
				DriverPod: test.want + "-driver", ConfigMap: test.want + "-spark-drv-conf-map",
				FallbackService: got.FallbackService, LocalDir: got.LocalDir,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesHaveTheFormOfSpark(t *testing.T) {
	got := apache.Names(pi().Obj(), 0)
	for name, shape := range map[string]string{
		got.FallbackService: `^spark-[0-9a-f]{16}-driver-svc$`,
		got.LocalDir:        `^/var/data/spark-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`,
	} {
		if !regexp.MustCompile(shape).MatchString(name) {
			t.Errorf("%s has not the shape %s", name, shape)
		}
	}
}

// A launch that is resumed has to find what it made before; another attempt or incarnation has to find nothing.
func TestNamesAreTheSameForTheSameAttemptOnly(t *testing.T) {
	first := apache.Names(pi().Obj(), 1)
	if diff := cmp.Diff(first, apache.Names(pi().Obj(), 1)); diff != "" {
		t.Errorf("the same attempt has other names (-first +second):\n%s", diff)
	}
	reborn := pi().With(func(app *sparkv1.SparkApplication) { app.UID = "another" })
	for what, other := range map[string]submission.Names{
		"attempt":     apache.Names(pi().Obj(), 2),
		"incarnation": apache.Names(reborn.Obj(), 1),
	} {
		if other.FallbackService == first.FallbackService || other.LocalDir == first.LocalDir {
			t.Errorf("another %s has the same names: %+v", what, other)
		}
	}
}
