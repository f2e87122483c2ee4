package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// s3 reads objects of S3 and of what speaks its protocol.
type s3 struct {
	// given are credentials of the environment or of a file, and role those of a role of the service account or the node.
	given, role *credentials.Credentials
}

func newS3() s3 {
	return s3{
		given: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		role:  credentials.New(&credentials.IAM{Client: &http.Client{Timeout: dialTimeout}}),
	}
}

// credentials are kept until they expire.
func (s s3) credentials() (credentials.Value, error) {
	if given, err := s.given.GetWithContext(nil); err == nil && !given.SignerType.IsAnonymous() {
		return given, nil
	}
	return s.role.GetWithContext(nil)
}

func (s s3) request(ctx context.Context, location podtemplate.Location) (*http.Request, error) {
	region := cmp.Or(location.Options.Get("region"), os.Getenv("AWS_REGION"), "us-east-1")
	request, err := get(ctx, objectURL(location, region))
	if err != nil || location.Options.Get("anonymous") == "true" {
		return request, err
	}
	user, err := s.credentials()
	if err != nil {
		return nil, fmt.Errorf("get credentials for S3: %w", err)
	}
	request.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	return signer.SignV4(*request, user.AccessKeyID, user.SecretAccessKey, user.SessionToken, region), nil
}

// objectURL names an object by its bucket's own host, as Amazon wants it, unless there is none: other endpoints, and
// names with dots, which the certificate does not cover.
func objectURL(location podtemplate.Location, region string) string {
	key := s3utils.EncodePath(location.Path)
	switch endpoint := location.Options.Get("endpoint"); {
	case endpoint != "":
		return strings.TrimSuffix(endpoint, "/") + "/" + location.Host + key
	case strings.Contains(location.Host, "."):
		return fmt.Sprintf("https://s3.%s.amazonaws.com/%s%s", region, location.Host, key)
	default:
		return fmt.Sprintf("https://%s.s3.%s.amazonaws.com%s", location.Host, region, key)
	}
}
