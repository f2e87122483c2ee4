package apache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	appIDKey   = "spark.app.id"
	appNameKey = "spark.app.name"
)

const (
	// maxAppID is the length from which the Apache operator shortens an application's ID.
	maxAppID = 46
	// maxLabel is the length of a label value, a rule of Kubernetes.
	maxLabel = 63
)

// Names returns the names that the Apache operator gives to the objects of an attempt. As there, a user's spark.app.id
// replaces the ID.
func Names(app *sparkv1.SparkApplication, attempt int64) submission.Names {
	id := app.Spec.SparkConf[appIDKey]
	if id == "" {
		number := strconv.FormatInt(attempt, 10)
		id = shortened(app.Name+"-"+number, maxAppID, app.Namespace, app.Name, number)
	}
	unique := uniqueID(app.UID, attempt)
	return submission.Names{
		AppID:           id,
		Prefix:          id,
		DriverPod:       id + "-driver",
		ConfigMap:       id + "-spark-drv-conf-map",
		FallbackService: "spark-" + unique + "-driver-svc",
		LocalDir:        "/var/data/spark-" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(unique)).String(),
	}
}

// shortened returns a name unchanged if it is short enough. From a longer name it keeps 9 characters and adds 36 of a hash
// of what identifies it.
func shortened(name string, limit int, identity ...string) string {
	if len(name) <= limit {
		return name
	}
	digest := sha256.Sum256([]byte(strings.Join(identity, "/")))
	return name[:9] + "-" + new(big.Int).SetBytes(digest[:]).Text(36)[:36]
}

// uniqueID replaces Spark's random uniqueID. It is the same for every try of the same attempt.
func uniqueID(uid types.UID, attempt int64) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, attempt))
	return hex.EncodeToString(digest[:8])
}
