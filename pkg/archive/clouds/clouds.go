// Package clouds makes the archive's kinds of storage known to package archive: S3, Google Cloud Storage, Azure, and folders. Only programs that open
// an archive import it: the libraries of the clouds are large.
package clouds

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
