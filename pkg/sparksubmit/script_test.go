package sparksubmit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// commands reads a script, and returns the arguments of its commands, each in brackets.
func commands(t *testing.T, script string) (found []sparksubmit.Command, text string) {
	t.Helper()
	found, err := sparksubmit.Commands(script)
	if err != nil {
		t.Fatalf("%v:\n%s", err, script)
	}
	var all []string
	for _, command := range found {
		all = append(all, "["+strings.Join(command.Arguments, "|")+"]")
	}
	return found, strings.Join(all, " ")
}

func TestCommandsOfAScriptAreReadAsAShellReadsThem(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"continued lines":          {"#!/bin/sh\nspark-submit --class A \\\n  --conf k=v \\\n  a.jar 10\n", "[--class|A|--conf|k=v|a.jar|10]"},
		"a folder of Spark":        {`$SPARK_HOME/bin/spark-submit a.jar; "${SPARK_HOME}"/bin/spark-submit b.jar; /opt/spark/bin/spark-submit c.jar`, "[a.jar] [b.jar] [c.jar]"},
		"quotes":                   {`spark-submit --name 'a b' --conf "k=it's \"x\" \$y" a\ b.jar ''`, `[--name|a b|--conf|k=it's "x" $y|a b.jar|]`},
		"C's quotes":               {`spark-submit a.jar $'a\tb' $"c"`, "[a.jar|a\tb|c]"},
		"escapes of C":             {`spark-submit $'it\'s \e\x1b\33\0337 \u202e\U1f600 \\ \q\n'`, "[it's \x1b\x1b\x1b\x1b7 \u202e\U0001f600 \\ \\q\n]"},
		"variables":                {"APP=a.jar\nexport N='1 2'\nspark-submit $APP $N \"$N\" x${APP}y", "[a.jar|1|2|1 2|xa.jary]"},
		"options in a variable":    {"OPTS=\"--conf a=b\"\nOPTS=\"$OPTS --conf c=d\"\nspark-submit $OPTS a.jar", "[--conf|a=b|--conf|c=d|a.jar]"},
		"an addition":              {"O=a\nO+=b\nspark-submit $O", "[ab]"},
		"an array":                 {"A=(--conf 'a=b c'  # why\n --class X)\nA+=(d)\nspark-submit \"${A[@]}\" \"$A\"", "[--conf|a=b c|--class|X|d|--conf]"},
		"a default":                {`spark-submit ${APP:-a.jar} "${N:-"1 2"}" ${X:-}`, "[a.jar|1 2]"},
		"a variable of its own":    {"X=$Y\nspark-submit $X", "[$Y]"},
		"comments":                 {"# spark-submit no.jar\nspark-submit a.jar # 10\nspark-submit a#b.jar", "[a.jar] [a#b.jar]"},
		"redirections":             {"spark-submit a.jar 10 > out.log 2>&1 < in & spark-submit b.jar &> all 2>&-\nspark-submit c.jar | tee log", "[a.jar|10] [b.jar] [c.jar]"},
		"lists":                    {"cd x && spark-submit a.jar || exit 1; (spark-submit b.jar)\n{ spark-submit c.jar; }", "[a.jar] [b.jar] [c.jar]"},
		"conditions":               {"if ! spark-submit a.jar; then spark-submit b.jar; fi\nwhile true; do spark-submit c.jar; done", "[a.jar] [b.jar] [c.jar]"},
		"a function":               {"run() {\n  spark-submit \"$1\"\n}\nfunction f { spark-submit b.jar; }", "[$1] [b.jar]"},
		"programs before it":       {"A=b exec nohup nice -n 5 spark-submit a.jar\nkubectl exec pod -- spark-submit b.jar\nsudo -u x env C=d /opt/spark/bin/spark-submit c.jar", "[a.jar] [b.jar] [c.jar]"},
		"another shell":            {"bash -c 'spark-submit a.jar 10'\nssh host \"cd /x; spark-submit b.jar\"", "[a.jar|10] [b.jar]"},
		"a command in a word":      {"out=$(spark-submit a.jar 2>&1)\necho \"`spark-submit b.jar`\"", "[a.jar] [b.jar]"},
		"what only names it":       {"echo spark-submit a.jar\nwhich spark-submit\ncommand -v spark-submit\n[ -x spark-submit ]\nX=spark-submit", ""},
		"a document":               {"cat <<EOF\nspark-submit no.jar\nEOF\nspark-submit a.jar <<-'END' 10\n\tspark-submit no.jar\n\tEND\nspark-submit b.jar", "[a.jar|10] [b.jar]"},
		"lines of Windows":         {"spark-submit --class A \\\r\n a.jar\r\n", "[--class|A|a.jar]"},
		"a dollar":                 {`spark-submit a$ $ "b$"`, "[a$|$|b$]"},
		"brackets of a property":   {`spark-submit --conf k={"a":{}} --conf "k={'a': [1]}" a.jar`, `[--conf|k={a:{}}|--conf|k={'a': [1]}|a.jar]`},
		"nothing":                  {"", ""},
		"a command without words":  {"spark-submit", "[]"},
		"an unquoted empty value":  {"X=\nspark-submit $X a.jar \"$X\"", "[a.jar|]"},
		"a list of assignments":    {"A=1 && export B=2 && spark-submit $A$B", "[12]"},
		"a condition of one line":  {"M=4g\n[ \"$1\" = prod ] && M=8g\nspark-submit $M", "[$M]"},
		"an alternative":           {"M=4g\n[ -z \"$1\" ] ||\n  M=8g && N=1\nspark-submit $M $N", "[$M|$N]"},
		"what follows a condition": {"[ -z \"$1\" ] && exit 1\nM=8g\nspark-submit $M", "[8g]"},
		"the variable of a loop":   {"X=a\nfor X in b c; do spark-submit $X; done", "[$X]"},
		"a variable that is read":  {"X=a\nread -r X Y < names\nspark-submit $X ${Y:-b}", "[$X|$Y]"},
		"a value that is one word": {"X='a b'\nY=$X\nspark-submit \"$Y\"", "[a b]"},
	} {
		if _, got := commands(t, test.script); got != test.want {
			t.Errorf("%s: %s\nit is   %s\nwant it %s", name, test.script, got, test.want)
		}
	}
}

func TestWhatOnlyTheRunOfAScriptKnowsIsNamed(t *testing.T) {
	found, got := commands(t, `DATE=$(date +%F)
if [ -n "$X" ]; then MODE=a; fi
export SPARK_CONF_DIR=/conf HOST=$HOSTNAME
A=1 spark-submit --conf d=$DATE --conf "m=$MODE" --conf e=${ENV:-dev} --conf n=$((1 + 2)) --conf s=${X%.*} "$@" $1 $DATE `+"`id -u`")
	const want = "[--conf|d=$(date +%F)|--conf|m=$MODE|--conf|e=dev|--conf|n=$((1 + 2))|--conf|s=${X%.*}|$@|$1|$(date +%F)|`id -u`]"
	if got != want {
		t.Fatalf("the arguments are %s, want %s", got, want)
	}
	command := found[0]
	if names := strings.Join(command.Unknown, " "); names != "$(date +%F) $MODE $((1 + 2)) ${X%.*} $@ $1 `id -u`" {
		t.Errorf("unknown are %s", names)
	}
	if !slices.Equal(command.Defaults, []string{"${ENV:-dev}"}) || command.Line != 4 {
		t.Errorf("defaults are %s, the line is %d", command.Defaults, command.Line)
	}
	if e := command.Environment; len(e) != 2 || e["SPARK_CONF_DIR"] != "/conf" || e["A"] != "1" {
		t.Errorf("the environment is %v", e)
	}
}

func TestCommandsWithinWordsHaveTheirLine(t *testing.T) {
	for script, want := range map[string]int{
		"true\nbash -c 'spark-submit a.jar'\ntrue\n":         2,
		"true\nbash -c '\nspark-submit a.jar\n' <<E\nx\nE\n": 3,
		"X=$(\nspark-submit a.jar\n)\n":                      2,
		"X=$'\\n\\n\\nspark-submit a.jar'\nsh -c \"$X\"":     2,
	} {
		if found, _ := commands(t, script); len(found) != 1 || found[0].Line != want {
			t.Errorf("%q: %+v, want line %d", script, found, want)
		}
	}
}

func TestWhatVariablesHoldManyTimesIsNamedOnce(t *testing.T) {
	found, got := commands(t, "X=${A:-}${B:-}"+strings.Repeat("\nX=$X$X", 60)+"\nX+=$X\nY=($X $X)\nspark-submit $X a.jar ${Y[@]}")
	if want := []string{"${A:-}", "${B:-}"}; got != "[a.jar]" || !slices.Equal(found[0].Defaults, want) {
		t.Errorf("%s with the defaults %q, want %q", got, found[0].Defaults, want)
	}
}

func TestAScriptThatCannotBeReadIsRefusedWithItsLine(t *testing.T) {
	for script, want := range map[string]string{
		"\nspark-submit 'a":         "line 2: a single quote is not closed: close it",
		"spark-submit \\\n \"a\n$b": "line 2: a double quote is not closed: close it",
		"a\n\nspark-submit $(date":  "line 3: a bracket is not closed: close it",
		"spark-submit ${A":          "line 1: a bracket is not closed: close it",
		"spark-submit `date":        "line 1: a backquote is not closed: close it",
		"A=(a; b)\nspark-submit $A": "line 1: the value of an array cannot be read: write it as words",
		"A=" + strings.Repeat("x", 99999) + strings.Repeat("\nA=$A$A", 40): "line 6: its variables hold more than any command line: write what it submits as a line of its own",
	} {
		if _, err := sparksubmit.Commands(script); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, want %s", script, err, want)
		}
	}
}

func FuzzCommands(f *testing.F) {
	for _, script := range []string{"spark-submit a 'b' \"c$D\" ${E:-f} $(g) `h` <<I\nI\n", "A=(b c)\nspark-submit ${A[@]} >x 2>&1", "if x; then spark-submit; fi", "bash -c 'spark-submit \"a\"'"} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		found, err := sparksubmit.Commands(script)
		if err != nil {
			return
		}
		for _, command := range found {
			if command.Line < 1 || command.Line > strings.Count(script, "\n")+1 {
				t.Errorf("line %d of %q", command.Line, script)
			}
			again, err := sparksubmit.Commands(sparksubmit.Shell("spark-submit", [][]string{command.Arguments}))
			if err != nil || len(again) != 1 || !slices.Equal(again[0].Arguments, command.Arguments) {
				t.Errorf("%q is read as %+v: %v", command.Arguments, again, err)
			}
		}
	})
}
