// Package clouds makes the archive's kinds of storage known to package archive: S3, Azure, and folders. Only programs that open an archive import it: the
// libraries of the clouds are large. Package gcs does so for Google Cloud Storage: its library takes more memory than all others together.
package clouds

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/fileblob"  // file://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
