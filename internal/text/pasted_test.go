package text_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/internal/text"
)

func TestWhatATextProcessorMadeOfHyphensAndQuotesIsNamed(t *testing.T) {
	for argument, want := range map[string]string{
		"–class":          "–class begins with a typographic dash (–): write --class",
		"—conf=a=b":       "—conf begins with a typographic dash (—): write --conf",
		"–-deploy-mode":   "–-deploy-mode begins with a typographic dash (–): write --deploy-mode",
		"−n":              "−n begins with a typographic dash (−): write -n",
		"“local:///a.jar": `“local:///a.jar begins with a typographic quote (“): write ' or "`,
		"--class":         "", "-n": "", "": "", "a–b": "", "é": "", "\xff": "",
	} {
		if got := text.Pasted(argument); got != want {
			t.Errorf("%q: it is %q, want %q", argument, got, want)
		}
	}
}
