package codec

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// Kind names the codec by which clients read objects, lists and watches: the value of WATCH_CODEC.
type Kind string

// The codecs. An empty Kind is Firesteel.
const (
	Firesteel  Kind = "firesteel"
	Kubernetes Kind = "kubernetes"
)

// UnmarshalText reads the value of a setting.
func (k *Kind) UnmarshalText(text []byte) error {
	switch kind := Kind(text); kind {
	case "", Firesteel, Kubernetes:
		*k = kind
		return nil
	default:
		return fmt.Errorf("there is no codec %q: write %s or %s", kind, Firesteel, Kubernetes)
	}
}

// Wrap returns the codec of this kind. kubernetes is the one of generated clients, for the types of the scheme.
func (k Kind) Wrap(kubernetes runtime.NegotiatedSerializer, scheme *runtime.Scheme) runtime.NegotiatedSerializer {
	if k == Kubernetes {
		return kubernetes
	}
	return newWatchCodec(kubernetes, scheme)
}
