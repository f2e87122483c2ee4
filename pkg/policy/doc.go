// Package policy holds the admin's rules: the table of what config-admission bounds. Each row has a check in Go, for the controller and
// the webhook, and one in CEL, for the ValidatingAdmissionPolicies that hack/codegen writes into config. Both read the same Manifest:
// the dialects make it in Go, and variables.go describes how a policy makes it.
//
//	config-admission -> Rules  --Check(Manifest)-->          finding.List    controller, webhook
//	Table            -> CEL    --variables of each API-->    Policies        API server
//
// All rules are off by default. The package knows no API type, since hack/codegen must not need the packages that it generates. It is pure.
package policy
