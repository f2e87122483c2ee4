// Package large makes Azure and Google Cloud Storage known to package archive. The controller does not import it. The library of Google Cloud Storage has
// gRPC and xDS, and takes 20 MB of memory at rest, also if no archive is used. Both libraries link net/rpc, whose templates of pages make
// the linker keep all exported methods.
package large

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
)
