package kubeflow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// SpecHash is a hash of what the Kubeflow operator runs an application anew for when it is edited: all of the spec but
// what acts on the run that is.
func SpecHash(app *v1beta2.SparkApplication) (string, error) {
	encoded, err := json.Marshal(hashed(app.Spec))
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return hex.EncodeToString(digest[:8]), nil
}

// hashed is a spec without what an edit of runs nothing anew.
func hashed(spec v1beta2.SparkApplicationSpec) v1beta2.SparkApplicationSpec {
	spec.Suspend, spec.TimeToLiveSeconds = false, nil
	return spec
}
