package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

// clock returns a clock that counts from an instant.
func clock(t *testing.T, text, zone, since string) *schedule.Clock {
	t.Helper()
	made, refusal := schedule.Parse(text, zone, at(t, since), at(t, since))
	if refusal != nil {
		t.Fatal(refusal)
	}
	return made
}

// instants returns the instants after one time and not after another, as the clocks of the zone show them.
func instants(t *testing.T, c *schedule.Clock, zone, after, upTo string) []string {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for due := c.Next(at(t, after)); !due.After(at(t, upTo)); due = c.Next(due) {
		if _, offset := due.Zone(); offset != 0 {
			t.Errorf("%s is not in UTC", due)
		}
		shown = append(shown, due.In(location).Format("2006-01-02T15:04Z07:00"))
	}
	return shown
}

func TestCronExpressionsHaveTheirInstants(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, zone string
		after, upTo    string
		want           string // as the clocks show them
	}{
		"five fields": {
			"30 6 * * 1-5", "", "2026-01-02T06:30:00Z", "2026-01-06T23:00:00Z", "2026-01-05T06:30Z 2026-01-06T06:30Z",
		},
		"a day of the month or of the week, if both are given": {
			"0 0 13 * 5", "", "2026-03-01T00:00:00Z", "2026-03-14T00:00:00Z",
			"2026-03-06T00:00Z 2026-03-13T00:00Z",
		},
		"a descriptor": {"@daily", "", "2026-01-01T12:00:00Z", "2026-01-03T12:00:00Z", "2026-01-02T00:00Z 2026-01-03T00:00Z"},
		"the 29th of February": {
			"0 12 29 2 *", "", "2026-01-01T00:00:00Z", "2032-03-01T00:00:00Z", "2028-02-29T12:00Z 2032-02-29T12:00Z",
		},
		"@every, from when it began to count": {
			"@every 1h30m", "", "2026-01-01T00:00:07Z", "2026-01-01T05:00:00Z",
			"2026-01-01T01:30Z 2026-01-01T03:00Z 2026-01-01T04:30Z",
		},
		"@every without parts of a second": {
			"@every 60s900ms", "", "2026-01-01T00:00:00Z", "2026-01-01T00:02:30Z", "2026-01-01T00:01Z 2026-01-01T00:02Z",
		},
		"a zone": {"0 9 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-01T09:00+05:45"},
		"a zone of its own": {
			"CRON_TZ=Asia/Tokyo 0 9 * * *", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-01-02T01:00:00Z", "2026-01-02T09:00+09:00",
		},
		"an older spelling of it": {
			"TZ=Asia/Tokyo @daily", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-01-01T16:00:00Z", "2026-01-02T00:00+09:00",
		},
		"Local, which is UTC": {"0 9 * * *", "Local", "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "2026-01-01T09:00Z"},

		"a time that the clocks skip is due when they are changed": {
			"30 2 * * *", "Europe/Berlin", "2026-03-27T23:00:00Z", "2026-03-30T23:00:00Z",
			"2026-03-28T02:30+01:00 2026-03-29T03:00+02:00 2026-03-30T02:30+02:00",
		},
		"times that the clocks skip are due once": {
			"*/20 2,3 * * *", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T10:00:00Z",
			"2026-03-29T03:00+02:00 2026-03-29T03:20+02:00 2026-03-29T03:40+02:00",
		},
		"a time that the clocks show twice is due the first time": {
			"30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", "2026-10-26T10:00:00Z",
			"2026-10-24T02:30+02:00 2026-10-25T02:30+02:00 2026-10-26T02:30+01:00",
		},
		"after the first time it is not due again": {
			"30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-26T10:00:00Z", "2026-10-26T02:30+01:00",
		},
		"midnight is skipped": {
			"0 0 * * *", "America/Santiago", "2026-09-05T00:00:00Z", "2026-09-07T12:00:00Z",
			"2026-09-05T00:00-04:00 2026-09-06T01:00-03:00 2026-09-07T00:00-03:00",
		},
		"midnight is shown twice": {
			"0 0 * * *", "Atlantic/Azores", "2026-10-23T23:00:00Z", "2026-10-26T12:00:00Z",
			"2026-10-24T00:00Z 2026-10-25T00:00Z 2026-10-26T00:00-01:00",
		},
		"each elapsed hour counts once if one is skipped": {
			"15 * * * *", "America/New_York", "2026-03-08T05:30:00Z", "2026-03-08T08:30:00Z",
			"2026-03-08T01:15-05:00 2026-03-08T03:15-04:00 2026-03-08T04:15-04:00",
		},
		"each elapsed hour counts once if one is shown twice": {
			"15 * * * *", "America/New_York", "2026-11-01T04:30:00Z", "2026-11-01T08:00:00Z",
			"2026-11-01T01:15-04:00 2026-11-01T01:15-05:00 2026-11-01T02:15-05:00",
		},
		"half an hour is skipped": {
			"15 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", "2026-10-03T17:00:00Z",
			"2026-10-04T01:15+10:30 2026-10-04T02:30+11:00 2026-10-04T03:15+11:00",
		},
		"half an hour is shown twice": {
			"45 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z", "2026-04-04T17:00:00Z",
			"2026-04-05T01:45+11:00 2026-04-05T02:45+10:30",
		},
		"a whole day is skipped": {
			"0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z",
			"2011-12-29T12:00-10:00 2011-12-31T00:00+14:00 2011-12-31T12:00+14:00",
		},
		"no zone changes UTC": {
			"30 2 * * *", "UTC", "2026-03-28T00:00:00Z", "2026-03-29T12:00:00Z", "2026-03-28T02:30Z 2026-03-29T02:30Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			zone := test.zone
			if zone == "Local" {
				zone = "UTC"
			}
			got := instants(t, clock(t, test.schedule, test.zone, test.after), zone, test.after, test.upTo)
			if strings.Contains(test.schedule, "@every") {
				for i := range got {
					got[i] = strings.Replace(got[i], ":07Z", "Z", 1)
				}
			}
			if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
				t.Errorf("instants (-want +got):\n%s", diff)
			}
		})
	}
}

// zones change their offsets by an hour, by half of one, by a day, at midnight, and at none.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Santiago", "America/Sao_Paulo", "Atlantic/Azores",
	"Australia/Lord_Howe", "Africa/Casablanca", "Antarctica/Troll", "Asia/Kathmandu", "Asia/Gaza", "Pacific/Apia",
}

// Whatever the zone does, a daily run is due once for each day of its calendar.
func TestEachDayHasOneRun(t *testing.T) {
	for _, zone := range zones {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, hour := range []int{0, 1, 2, 3, 23} {
			text := "30 " + time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC).Format("15") + " * * *"
			c := clock(t, text, zone, "2010-01-01T00:00:00Z")
			due := c.Next(time.Date(2010, 1, 2, 0, 0, 0, 0, location).Add(-time.Second))
			for day := time.Date(2010, 1, 2, 0, 0, 0, 0, time.UTC); day.Year() < 2028; day = day.AddDate(0, 0, 1) {
				shown := due.In(location)
				onDay := shown.Year() == day.Year() && shown.YearDay() == day.YearDay()
				skipped := zone == "Pacific/Apia" && day.Format(time.DateOnly) == "2011-12-30"
				if !onDay && !skipped {
					t.Fatalf("%s in %s: the run of %s is due at %s", text, zone, day.Format(time.DateOnly), shown)
				}
				next := c.Next(due)
				if !next.After(due) {
					t.Fatalf("%s in %s: after %s comes %s", text, zone, due, next)
				}
				due = next
			}
		}
	}
}

// An hourly run is due each hour, to the second, in zones whose offsets change by whole hours.
func TestEachHourHasOneRun(t *testing.T) {
	for _, zone := range zones {
		if zone == "Australia/Lord_Howe" {
			continue
		}
		c := clock(t, "15 * * * *", zone, "2024-01-01T00:00:00Z")
		for due := c.Next(at(t, "2024-01-01T00:00:00Z")); due.Year() < 2028; {
			next := c.Next(due)
			if next.Sub(due) != time.Hour {
				t.Fatalf("in %s %s follows %s", zone, next, due)
			}
			due = next
		}
	}
}

func TestLatestAndBetween(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, since string
		after, upTo     string
		latest          string
		between         int64
	}{
		"none":                                 {"0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T23:59:59Z", "", 0},
		"one":                                  {"0 0 * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z", 0},
		"many":                                 {"*/5 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:03:00Z", "2026-01-02T00:00:00Z", 287},
		"rare ones":                            {"0 0 1 1 *", "2010-01-01T00:00:00Z", "2010-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-01-01T00:00:00Z", 15},
		"one long ago":                         {"* * 1 1 *", "2024-01-01T00:00:00Z", "2024-12-31T23:58:00Z", "2025-12-31T00:00:00Z", "2025-01-01T23:59:00Z", 1439},
		"@every":                               {"@every 7s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:07Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:28Z", 2},
		"@every for years":                     {"@every 1h", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:00:00Z", 52607},
		"at most 100,000 of @every":            {"@every 1s", "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 100_000},
		"at most 100,000 of a cron expression": {"* * * * *", "2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:00Z", 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			c := clock(t, test.schedule, "", test.since)
			latest, text := c.Latest(at(t, test.after), at(t, test.upTo)), ""
			if !latest.IsZero() {
				text = latest.Format(time.RFC3339)
			}
			if text != test.latest {
				t.Errorf("the latest is %q, want %q", text, test.latest)
			}
			if between := c.Between(at(t, test.after), latest); between != test.between {
				t.Errorf("%d before it, want %d", between, test.between)
			}
		})
	}
}

func TestRefusedSchedules(t *testing.T) {
	for name, test := range map[string]struct{ schedule, zone, reason, message string }{
		"nothing":                    {"", "", "InvalidSchedule", `spec.schedule "": write five fields`},
		"too few fields":             {"* * * *", "", "InvalidSchedule", `spec.schedule "* * * *": write five fields`},
		"seconds":                    {"0 0 0 * * *", "", "InvalidSchedule", "write five fields"},
		"no such minute":             {"61 * * * *", "", "InvalidSchedule", "end of range (61) above maximum (59)"},
		"no such descriptor":         {"@sometimes", "", "InvalidSchedule", "unrecognized descriptor"},
		"no duration":                {"@every", "", "InvalidSchedule", "write a duration of a second or more"},
		"a duration that is none":    {"@every fortnight", "", "InvalidSchedule", `spec.schedule "@every fortnight": write a duration`},
		"a duration back in time":    {"@every -5m", "", "InvalidSchedule", "write a duration of a second or more"},
		"a duration too short":       {"@every 500ms", "", "InvalidSchedule", "write a duration of a second or more"},
		"a day that never comes":     {"0 0 30 2 *", "", "NeverFires", `spec.schedule "0 0 30 2 *": it never fires`},
		"an unknown zone":            {"@daily", "Mars/Olympus", "InvalidTimeZone", `spec.timeZone "Mars/Olympus": no such time zone`},
		"an unknown zone of its own": {"TZ=Nowhere @daily", "", "InvalidTimeZone", `spec.schedule "Nowhere": no such time zone`},
		"a zone that is a path":      {"@daily", "../etc/passwd", "InvalidTimeZone", "no such time zone"},
		"nothing but a zone":         {"TZ=UTC", "", "InvalidSchedule", "write five fields"},
		"two zones":                  {"TZ=UTC CRON_TZ=UTC @daily", "", "InvalidSchedule", "it names two zones"},
	} {
		t.Run(name, func(t *testing.T) {
			now := at(t, "2026-01-01T00:00:00Z")
			_, refusal := schedule.Parse(test.schedule, test.zone, now, now)
			if refusal == nil {
				t.Fatal("it is accepted")
			}
			if refusal.Reason != test.reason || !strings.Contains(refusal.Error(), test.message) {
				t.Errorf("refused with %s: %s\nwant %s: %s", refusal.Reason, refusal.Message, test.reason, test.message)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"* * * * *", "@every 1m", "TZ=Asia/Tokyo 0 9 * * 1-5", "CRON_TZ=UTC", "*/7 1-5 L * ?", "@daily", "0 0 30 2 *",
	} {
		f.Add(seed, "Europe/Berlin")
	}
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, zone string) {
		c, refusal := schedule.Parse(text, zone, now, now)
		if (c == nil) == (refusal == nil) {
			t.Fatal("neither a clock nor a refusal, or both")
		}
		if refusal != nil {
			return
		}
		for before, i := now, 0; i < 5; i++ {
			next := c.Next(before)
			if next.IsZero() {
				return
			}
			if !next.After(before) || next.Nanosecond() != 0 {
				t.Fatalf("%s comes after %s", next, before)
			}
			if latest := c.Latest(before, next); !latest.Equal(next) {
				t.Fatalf("the latest up to %s is %s", next, latest)
			}
			before = next
		}
	})
}

func TestLongTextsAreNoSchedules(t *testing.T) {
	for name, row := range map[string]struct{ text, zone, reason string }{
		"a list":        {strings.Repeat("0-59/1,", 200_000) + "0 * * * *", "", schedule.ReasonInvalidSchedule},
		"blanks":        {strings.Repeat(" ", 1<<20) + "@daily", "", schedule.ReasonInvalidSchedule},
		"a zone before": {"TZ=" + strings.Repeat("a", 1<<20) + " @daily", "", schedule.ReasonInvalidSchedule},
		"a zone":        {"@daily", strings.Repeat("../", 400_000), schedule.ReasonInvalidTimeZone},
		"a period":      {"@every " + strings.Repeat("1h", 500_000), "", schedule.ReasonInvalidSchedule},
	} {
		clock, refusal := schedule.Parse(row.text, row.zone, time.Unix(0, 0), time.Unix(0, 0))
		if clock != nil || refusal == nil || refusal.Reason != row.reason || len(refusal.Error()) > 1024 || !strings.Contains(refusal.Error(), "at most 1024") {
			t.Errorf("%s: %.200v", name, refusal)
		}
	}
	if _, refusal := schedule.Parse("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50 * * * *",
		"Europe/Berlin", time.Unix(0, 0), time.Unix(0, 0)); refusal != nil {
		t.Error(refusal)
	}
}
