// Package config embeds the manifests that a binary applies itself.
package config

import "embed"

// CRDs holds the CustomResourceDefinitions of all APIs.
//
//go:embed 300-*.yaml early/300-*.yaml
var CRDs embed.FS
