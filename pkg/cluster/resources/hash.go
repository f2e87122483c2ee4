package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HashAnnotation holds a hash of an object as it was built. An object that has the hash of the one that would be built
// now needs no write.
const HashAnnotation = "firesteel.dev/spec-hash"

// TakenOverAnnotation is on a StatefulSet that another operator made, until it is written as it would be built.
const TakenOverAnnotation = "firesteel.dev/taken-over"

// sign adds the hash to an object.
func sign(object metav1.Object) error {
	encoded, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %s: %w", object.GetName(), err)
	}
	digest := sha256.Sum256(encoded)
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[HashAnnotation] = hex.EncodeToString(digest[:8])
	object.SetAnnotations(annotations)
	return nil
}
