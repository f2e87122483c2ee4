// Package clouds makes kinds of storage known to package archive: S3 and folders. Package large adds those whose libraries are large.
package clouds

import (
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://
)
