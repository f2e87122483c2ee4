package upload

import (
	"strings"
	"testing"
)

const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestAFileIsNamedByItsContent(t *testing.T) {
	file := File{Path: "/home/me/my lib,1.jar", SHA256: hash}
	if got := file.Key(); got != "sha256/"+hash+"/my lib,1.jar" {
		t.Errorf("its key is %q", got)
	}
	if got := file.URL(); got != "sha256/"+hash+"/my%20lib%2C1.jar" {
		t.Errorf("its URL ends with %q, which no list of Spark can hold", got)
	}
}

func TestArgumentsOfTheProgram(t *testing.T) {
	want := File{Path: "a=b.jar", SHA256: hash}
	if got, err := ParseFile(want.Argument()); err != nil || got != want {
		t.Errorf("%q is read as %+v: %v", want.Argument(), got, err)
	}
	for _, bad := range []string{"", "a.jar", hash, hash + "=", hash[1:] + "=a", "z" + hash[1:] + "=a", strings.ToUpper(hash) + "=a"} {
		if got, err := ParseFile(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}
