// Package gcs makes Google Cloud Storage known to package archive. The controller does not import it: with gRPC and xDS, the library takes 20 MB of memory
// at rest, also where no archive is used.
package gcs

import _ "gocloud.dev/blob/gcsblob" // gs://
