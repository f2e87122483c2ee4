package remote

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// s3 reads objects of S3 and of what speaks its protocol.
type s3 struct {
	mutex  sync.Mutex
	loaded *aws.Config
}

// configuration is what environment and files say, and where credentials come from; the SDK keeps those until they
// expire.
func (s *s3) configuration(ctx context.Context) (aws.Config, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.loaded == nil {
		loaded, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			return loaded, fmt.Errorf("configure S3: %w", err)
		}
		s.loaded = &loaded
	}
	return *s.loaded, nil
}

func (s *s3) request(ctx context.Context, location podtemplate.Location) (*http.Request, error) {
	configured, err := s.configuration(ctx)
	if err != nil {
		return nil, err
	}
	region := cmp.Or(location.Options.Get("region"), configured.Region, "us-east-1")
	endpoint := cmp.Or(location.Options.Get("endpoint"), aws.ToString(configured.BaseEndpoint))
	request, err := get(ctx, objectURL(location, region, endpoint))
	if err != nil || location.Options.Get("anonymous") == "true" {
		return request, err
	}
	credentials, err := configured.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("get credentials for S3: %w", err)
	}
	const payload = "UNSIGNED-PAYLOAD"
	request.Header.Set("X-Amz-Content-Sha256", payload)
	err = v4.NewSigner().SignHTTP(ctx, credentials, request, payload, "s3", region, time.Now(),
		func(options *v4.SignerOptions) { options.DisableURIPathEscaping = true }) // it is escaped
	if err != nil {
		return nil, fmt.Errorf("sign request: %w", err)
	}
	return request, nil
}

// objectURL names an object by its bucket's own host, as Amazon wants it, unless there is none: other endpoints, and
// names with dots, which the certificate does not cover.
func objectURL(location podtemplate.Location, region, endpoint string) string {
	key := httpbinding.EscapePath(location.Path, false)
	switch {
	case endpoint != "":
		return strings.TrimSuffix(endpoint, "/") + "/" + location.Host + key
	case strings.Contains(location.Host, "."):
		return fmt.Sprintf("https://s3.%s.amazonaws.com/%s%s", region, location.Host, key)
	default:
		return fmt.Sprintf("https://%s.s3.%s.amazonaws.com%s", location.Host, region, key)
	}
}
