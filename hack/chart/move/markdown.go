package move

import (
	"fmt"
	"strings"
)

// Page is the path of the page that Markdown returns.
const Page = "docs/operators/helm.md"

const head = `<!-- Made by make generate from hack/chart/move. Do not edit. -->
# From another operator's Helm chart

The chart has [a page of its own](../../charts/firesteel/README.md). This page maps the values of both Spark operators' charts to its values. A command of the release's folder converts a values file:

    ./helmvalues kubeflow values.yaml > firesteel-values.yaml
    ./helmvalues -namespace spark-operator apache values.yaml > firesteel-values.yaml

In the source tree that command is ` + "`go run ./hack/helmvalues`" + `. ` + "`-namespace`" + ` is the namespace of the other operator's release: the Apache operator's chart stands for it if no namespaces are listed.

Comments at the top of the result name each value that has no counterpart, and what to do. A row includes all values below it.
`

// Markdown returns the page that maps the values of the other charts.
func Markdown() []byte {
	var page strings.Builder
	page.WriteString(head)
	for _, chart := range Charts {
		fmt.Fprintf(&page, "\n## %s\n\n| value | here | |\n|---|---|---|\n", chart.title)
		for _, r := range chart.rows {
			ours := ""
			if r.ours != "" {
				ours = "`" + dotted(r.ours) + "`"
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", dotted(r.theirs), ours, r.note)
		}
	}
	return []byte(page.String())
}
