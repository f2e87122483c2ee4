package submission

import "testing"

func TestVersionsChooseTheirRules(t *testing.T) {
	for version, want := range map[string]struct {
		major, minor int
		known        bool
	}{
		"3.5.0":                  {3, 5, true},
		"3.5":                    {3, 5, true},
		"4.0.0-preview1":         {4, 0, true},
		"v4_2_0":                 {4, 2, true},
		"V4_1_1":                 {4, 1, true},
		"4.3.0":                  {4, 3, true},
		"spark-4.1.1-scala2.13":  {4, 1, true},
		"3.1.1":                  {3, 5, false},
		"2.4.5":                  {3, 5, false},
		"3.9.0":                  {3, 5, false},
		"4.4.0":                  {4, 3, false},
		"5.0.0":                  {4, 3, false},
		"99999999999999999999.0": {4, 3, false},
		"":                       {4, 3, false},
		"latest":                 {4, 3, false},
		"4":                      {4, 3, false},
	} {
		rules, known := RulesFor(version)
		if rules.Major != want.major || rules.Minor != want.minor || known != want.known {
			t.Errorf("RulesFor(%q) = %d.%d %t, want %d.%d %t",
				version, rules.Major, rules.Minor, known, want.major, want.minor, want.known)
		}
	}
}

func TestRulesAreSortedByVersion(t *testing.T) {
	for i := 1; i < len(versionRules); i++ {
		older, newer := versionRules[i-1], versionRules[i]
		if older.Major*100+older.Minor >= newer.Major*100+newer.Minor {
			t.Errorf("%d.%d comes before %d.%d", older.Major, older.Minor, newer.Major, newer.Minor)
		}
	}
}
