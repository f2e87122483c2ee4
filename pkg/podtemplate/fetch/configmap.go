package fetch

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// readConfigMap reads the key of a ConfigMap: configmap://NAME/KEY.
func readConfigMap(ctx context.Context, configMaps corev1client.ConfigMapInterface, location podtemplate.Location) ([]byte, error) {
	configMap, err := configMaps.Get(ctx, location.Host, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, &finding.Finding{Message: "is not there (the operator's namespace has no such ConfigMap)", Remedy: "put a template there"}
	case apierror.IsTerminal(err):
		return nil, &finding.Finding{Message: fmt.Sprintf("cannot be read (%v)", err), Remedy: remedy}
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap: %w", err)
	}
	text, ok := configMap.Data[strings.Trim(location.Path, "/")]
	if !ok {
		return nil, &finding.Finding{Message: "is not there (the ConfigMap has no such key)", Remedy: "put a template there"}
	}
	return []byte(text), nil
}
