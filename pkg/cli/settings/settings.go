// Package settings reads the settings of Firesteel by which commands judge manifests: those of a fresh installation, of files, or of the cluster.
package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
)

// fromCluster is the value of --settings that reads those of the cluster.
const fromCluster = "cluster"

// Flags choose the settings of Firesteel by which manifests are judged.
type Flags struct {
	source    string
	namespace string
}

// AddTo adds the flags to a command.
func (f *Flags) AddTo(command *cobra.Command) {
	command.Flags().StringVar(&f.source, "settings", "",
		"The settings of Firesteel: a file or a folder with its ConfigMaps, or cluster for those of the cluster. By default those of a fresh installation.")
	command.Flags().StringVar(&f.namespace, "settings-namespace", cli.DefaultNamespace, "The namespace of Firesteel, for --settings cluster.")
}

// Settings are settings with their source.
type Settings struct {
	*config.Config
	// Source names what was read. Unread names what was not read, and may change a result.
	Source string
	Unread []string
}

func (s *Settings) String() string { return "settings: " + s.Description() }

// Description returns the source, and what was not read.
func (s *Settings) Description() string {
	line := s.Source
	if len(s.Unread) > 0 {
		line += "; not read: " + strings.Join(s.Unread, ", ")
	}
	return line
}

// Chosen reports whether the flags name settings. Otherwise those of a fresh installation are used.
func (f *Flags) Chosen() bool { return f.source != "" }

// Read reads the settings that the flags choose. The namespaces of the objects may have defaults of their own.
func (f *Flags) Read(ctx context.Context, o *cli.Options, namespaces []string) (*Settings, error) {
	switch f.source {
	case "":
		return &Settings{config.Default(), "the defaults of Firesteel " + version.String(), []string{"the cluster's settings", "quotas"}}, nil
	case fromCluster:
		return f.readCluster(ctx, o, namespaces)
	default:
		return f.readFiles(ctx)
	}
}

func (f *Flags) readFiles(ctx context.Context) (*Settings, error) {
	var configMaps []corev1.ConfigMap
	for _, file := range manifest.Files([]string{f.source}) {
		text, err := manifest.Read(ctx, file, nil)
		if err != nil {
			return nil, err
		}
		for _, object := range manifest.Parse(text) {
			if object.Problem != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, object.Line, object.Problem)
			}
			if object.Header.Kind != "ConfigMap" || object.Header.APIVersion != "v1" {
				continue
			}
			var configMap corev1.ConfigMap
			if err := yaml.Unmarshal(object.JSON, &configMap); err != nil {
				return nil, fmt.Errorf("%s:%d: the ConfigMap cannot be decoded (%w): correct it", file, object.Line, err)
			}
			configMaps = append(configMaps, configMap)
		}
	}
	read, err := config.Read(configMaps)
	if err != nil {
		return nil, fmt.Errorf("the settings in %s: %w", f.source, err)
	}
	if !hasSettings(configMaps) {
		return nil, fmt.Errorf("%s holds none of the ConfigMaps %s: name a file that does", f.source, strings.Join(config.Names(), ", "))
	}
	return &Settings{read, f.source, []string{"quotas"}}, nil
}

func hasSettings(configMaps []corev1.ConfigMap) bool {
	for i := range configMaps {
		if config.IsSettings(&configMaps[i]) {
			return true
		}
	}
	return false
}

// readCluster reads the ConfigMaps of the installation and of the manifests' namespaces. ConfigMaps of a namespace that the user may not read become
// a part of Unread.
func (f *Flags) readCluster(ctx context.Context, o *cli.Options, namespaces []string) (*Settings, error) {
	client, err := o.Kubernetes()
	if err != nil {
		return nil, err
	}
	configMaps, err := ofInstallation(ctx, client, f.namespace)
	if errors.Is(err, errNone) {
		err = fmt.Errorf("%w, or leave --settings out", err)
	}
	if err != nil {
		return nil, err
	}
	read := &Settings{Source: "those of the cluster", Unread: []string{"quotas"}}
	if len(namespaces) == 0 {
		read.Unread = append(read.Unread, "the defaults of namespaces")
	}
	for _, namespace := range namespaces {
		own, err := ownDefaults(ctx, client, namespace)
		if err != nil {
			read.Unread = append(read.Unread, "the defaults of the namespace "+namespace)
		}
		configMaps = append(configMaps, own...)
	}
	read.Config, err = config.Read(configMaps)
	return read, err
}

// errNone is the error of a namespace without settings.
var errNone = errors.New("write the namespace of Firesteel after --settings-namespace")

// ofInstallation reads the ConfigMaps of the installation in a namespace.
func ofInstallation(ctx context.Context, client kubernetes.Interface, namespace string) ([]corev1.ConfigMap, error) {
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the settings in the namespace %s: %w", namespace, err)
	}
	if !hasSettings(list.Items) {
		return nil, fmt.Errorf("the namespace %s has no settings of Firesteel: %w", namespace, errNone)
	}
	return list.Items, nil
}

// Installation reads the settings of the installation in a namespace, without the defaults that namespaces may have of their own.
func Installation(ctx context.Context, client kubernetes.Interface, namespace string) (*config.Config, error) {
	configMaps, err := ofInstallation(ctx, client, namespace)
	if err != nil {
		return nil, err
	}
	return config.Read(configMaps)
}

// ownDefaults reads the defaults of a namespace. A namespace that is absent has none.
func ownDefaults(ctx context.Context, client kubernetes.Interface, namespace string) ([]corev1.ConfigMap, error) {
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: config.LabelOwnDefaults})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
