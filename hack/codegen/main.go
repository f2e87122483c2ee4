// Command codegen writes everything that is generated from the API types: deep copies, the clients in pkg/client, the CRDs
// in config, their reference in docs/users/api, and the admission policies in config.
//
// It runs the generators as Go tools, at the versions that go.mod and tools/go.mod pin, so it needs only Go. With -check it
// generates in a copy of the module, and fails if the result differs from the committed files. Run it in the module's root.
package main

import (
	"flag"
	"log"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if generated files are out of date")
	flag.Parse()

	do := generate
	if *check {
		do = verify
	}
	if err := do("."); err != nil {
		log.Fatalf("codegen: %v", err)
	}
}

func generate(root string) error {
	if err := generateGo(root); err != nil {
		return err
	}
	if err := generatePolicies(root); err != nil {
		return err
	}
	return generateCRDs(root)
}
