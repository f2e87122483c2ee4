package act

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// findArchived returns an application that is gone, as the archive has it.
func (r *rerunOptions) findArchived(ctx context.Context, c *cluster, name string, gone error) (*target.Found, *overview.Object, error) {
	app, err := r.archived.Find(ctx, c.REST, c.Kube, c.Namespace, name, gone, overview.Application)
	if err != nil {
		return nil, nil, err
	}
	return app.Object(ctx)
}

// checkRedacted returns an error that names the values of secrets that the archive does not have, and that --set has not given again.
func checkRedacted(again *unstructured.Unstructured) error {
	paths := redactedPaths("", again.Object["spec"])
	if len(paths) == 0 {
		return nil
	}
	const most = 20
	more := ""
	if len(paths) > most {
		more = fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return cli.Usage("the archive has no values of secrets, and %d fields of the spec had some: write --set FIELD=VALUE for each of %s%s",
		len(paths), strings.Join(paths[:min(len(paths), most)], ", "), more)
}

// redactedPaths returns the paths of the values from which secrets were removed, as --set takes them. A list is named as a whole.
func redactedPaths(path string, value any) []string {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, redact.Mark) {
			return []string{path}
		}
	case []any:
		for _, element := range value {
			if len(redactedPaths("", element)) > 0 {
				return []string{path}
			}
		}
	case map[string]any:
		var paths []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			paths = append(paths, redactedPaths(strings.TrimPrefix(path+"."+key, "."), value[key])...)
		}
		return paths
	}
	return nil
}
