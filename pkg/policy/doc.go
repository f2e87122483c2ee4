// Package policy has the admin's rules: the table of what config-admission bounds. Each row has a check in Go, for the controller and the
// webhook, and one in CEL, for the ValidatingAdmissionPolicies that hack/codegen writes into config. Both read the same Manifest.
//
//	config-admission -> Rules  --Check(Manifest)-->          finding.List    controller, webhook
//	Table            -> CEL    --variables of each API-->    Policies        API server
//
//	rules.go      the table
//	manifest.go   a Manifest in Go: the dialects fill it in
//	variables.go  a Manifest in CEL; apis.go has what is different for each API
//	formats.go    numbers, sizes and images, in Go and in CEL
//	cel.go        a rule in CEL
//	policies.go   all policies
//	no_effect.go  fields and properties without effect, for warnings
//
// All rules are off by default. The package knows no API type, since hack/codegen must not need the packages that it generates. It is pure.
package policy
