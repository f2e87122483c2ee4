package version

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

// TestMain is a program with the flag if the environment asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("ARGUMENT") == "" {
		os.Exit(m.Run())
	}
	version = "v1.2.3"
	flags := flag.NewFlagSet("program", flag.ExitOnError)
	AddFlag(flags)
	_ = flags.Parse([]string{os.Getenv("ARGUMENT")})
	os.Exit(3)
}

func TestFlagPrintsTheVersionAndEndsTheProgram(t *testing.T) {
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), "ARGUMENT=--version")
	if output, err := program.CombinedOutput(); err != nil || string(output) != "v1.2.3\n" {
		t.Errorf("--version prints %q and ends with %v", output, err)
	}
}

func TestVersionOfASourceTreeIsKnown(t *testing.T) {
	if String() == "" {
		t.Error("a program that no release contains has an empty version")
	}
}
