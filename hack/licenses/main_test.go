package main

import (
	"slices"
	"testing"
)

func TestKindsOf(t *testing.T) {
	const bsd = "Redistribution and use in source and\nbinary forms, with or without modification, are permitted"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a broken line":         {"Apache License\n     Version 2.0, January 2004", []string{"Apache-2.0"}},
		"two clauses":           {bsd, []string{"BSD-2-Clause"}},
		"three clauses":         {bsd + "\nNeither the name of the authors", []string{"BSD-3-Clause"}},
		"no clause":             {"Zero-Clause BSD\nPermission to use, copy, modify, and/or distribute this software for any purpose", []string{"0BSD"}},
		"two works in a file":   {"Permission is hereby granted, free of charge\n---\n" + bsd, []string{"BSD-2-Clause", "MIT"}},
		"what we do not accept": {"GNU AFFERO GENERAL PUBLIC LICENSE Version 3", nil},
	} {
		if got := kindsOf(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestUnknownLicencesAreRefused(t *testing.T) {
	if _, err := render([]work{{name: "example.com/copyleft", texts: []string{"GNU AFFERO GENERAL PUBLIC LICENSE"}}}); err == nil {
		t.Error("a work under a licence that is not accepted is listed")
	}
}
