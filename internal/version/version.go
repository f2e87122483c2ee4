// Package version knows the version of the program that it is linked into.
package version

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
)

// version is the version of a release. The linker sets it: see .ko.yaml.
var version string

// String returns the version of the release, or else the one that the go command derived from the source tree.
func String() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// AddFlag adds the flag -version. When it is parsed, the program prints its version and exits.
func AddFlag(flags *flag.FlagSet) {
	flags.BoolFunc("version", "Print the version and exit.", func(string) error {
		fmt.Println(String())
		os.Exit(0)
		return nil
	})
}
