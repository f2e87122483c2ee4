package bucket

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

// maxMessage bounds the text of an error in a message.
const maxMessage = 512

// credentials are the remedies about credentials, by the scheme of the URL. Each names where the library of that cloud looks for them.
var credentials = map[string]string{
	"s3":     "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to a user who may write there",
	"gs":     "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS, as a user who may write there",
	"azblob": "run az login, or set AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, as a user who may write there",
}

// explain returns the text of an error in one line, with the remedy.
func explain(scheme string, err error) string {
	message, status := cloudError(err)
	message = strings.Join(strings.Fields(redact.Text(text.Clip(message, maxMessage))), " ")
	switch {
	case scheme == "file" || isAboutFile(err):
		return message
	case gcerrors.Code(err) == gcerrors.NotFound:
		return message + ": create the bucket, or name another one"
	case status >= 400 && status < 500 || gcerrors.Code(err) == gcerrors.PermissionDenied || noCredentials(err):
		return message + ": check the parameters of the URL, and " + credentials[scheme]
	case status == 0:
		return message + ": check the URL, its parameters and the network"
	default:
		return message + ": try again"
	}
}

// cloudError returns the message of a cloud's library without its description of the request, and the HTTP status; 0 if there was no answer.
func cloudError(err error) (message string, status int) {
	var answer *awshttp.ResponseError
	var ofAWS smithy.APIError
	var ofGoogle *googleapi.Error
	var ofAzure *azcore.ResponseError
	switch {
	case errors.Is(err, errChanged):
		return errChanged.Error(), 0 // and not what the library was doing
	case errors.As(err, &ofAWS):
		if errors.As(err, &answer) {
			status = answer.HTTPStatusCode()
		}
		return strings.TrimSuffix(ofAWS.ErrorCode()+": "+ofAWS.ErrorMessage(), ": "), status
	case errors.As(err, &ofGoogle):
		return cmp.Or(ofGoogle.Message, http.StatusText(ofGoogle.Code)), ofGoogle.Code
	case errors.As(err, &ofAzure):
		return cmp.Or(ofAzure.ErrorCode, http.StatusText(ofAzure.StatusCode)), ofAzure.StatusCode
	default:
		return err.Error(), 0
	}
}

// isAboutFile reports whether an error is about a file of this machine.
func isAboutFile(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) || errors.Is(err, errInterrupted) || errors.Is(err, errChanged)
}

// noCredentials reports whether the library has found no credentials. The libraries of AWS and Google have no error type for this.
func noCredentials(err error) bool {
	message := err.Error()
	return strings.Contains(message, "failed to refresh cached credentials") || strings.Contains(message, "could not find default credentials")
}
