package archiver

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// maxNamespaces bounds the namespaces whose uid is remembered.
	maxNamespaces = 4096
	// clockSkew is by how much the clocks of the API server and of this process may differ.
	clockSkew = 2 * time.Second
)

// namespaceUIDs reads the uids of namespaces. It remembers them: an object that exists since before the reading proves that its namespace is the one that
// was read, since a namespace goes after all that is in it.
type namespaceUIDs struct {
	core  corev1client.CoreV1Interface
	clock clock.PassiveClock
	known *lru.Cache
}

// namespaceUID is the uid of a namespace, and when its reading began.
type namespaceUID struct {
	uid types.UID
	at  time.Time
}

func newNamespaceUIDs(core corev1client.CoreV1Interface, clock clock.PassiveClock) *namespaceUIDs {
	return &namespaceUIDs{core: core, clock: clock, known: lru.New(maxNamespaces)}
}

// of returns the uid of the namespace of an object that exists.
func (n *namespaceUIDs) of(ctx context.Context, object metav1.Object) (types.UID, error) {
	name, created := object.GetNamespace(), object.GetCreationTimestamp().Time
	if known, ok := n.known.Get(name); ok {
		if known := known.(namespaceUID); created.Add(clockSkew).Before(known.at) { //nolint:forcetypeassert // nothing else is in it
			return known.uid, nil
		}
	}
	at := n.clock.Now()
	namespace, err := n.core.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read namespace %s: %w", name, err)
	}
	n.known.Add(name, namespaceUID{namespace.UID, at})
	return namespace.UID, nil
}
