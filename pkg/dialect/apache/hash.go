package apache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// SpecHash is a hash of what an attempt runs with. What acts on a running attempt, suspend and tolerations, is
// no part of it.
func SpecHash(app *sparkv1.SparkApplication) (string, error) {
	spec := app.Spec
	spec.Suspend, spec.ApplicationTolerations = false, nil
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return hex.EncodeToString(digest[:8]), nil
}
