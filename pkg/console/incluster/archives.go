package incluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// Archives are the archives that the settings name. It is a console.Archives.
type Archives struct {
	settings func() *config.Config
	stores   *archive.Stores
}

// NewArchives returns the archives of the current settings.
func NewArchives(settings func() *config.Config) *Archives {
	return &Archives{settings, archive.NewStores()}
}

// Of returns the archive of a namespace; nil if it has none.
func (a *Archives) Of(ctx context.Context, namespace string) (*archive.Archive, error) {
	url := a.settings().Archive.URLOf(namespace)
	if url == "" {
		return nil, nil
	}
	return a.stores.For(ctx, url)
}

// Namespaces returns the names of all archived namespaces.
func (a *Archives) Namespaces(ctx context.Context) ([]string, error) {
	var names []string
	for url, selects := range a.settings().Archive.URLs() {
		stored, err := a.stores.For(ctx, url)
		if err != nil {
			return nil, err
		}
		archived, err := stored.Namespaces(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the namespaces of the archive: %w", err)
		}
		names = append(names, slices.DeleteFunc(archived, func(name string) bool { return !selects(name) })...)
	}
	slices.Sort(names)
	return names, nil
}
