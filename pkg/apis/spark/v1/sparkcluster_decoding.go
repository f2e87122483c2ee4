package v1

import "github.com/firesteel-dev/firesteel/pkg/decoding"

// UnmarshalJSON decodes a cluster and never fails on what a user wrote, as that of a SparkApplication.
func (c *SparkCluster) UnmarshalJSON(data []byte) error {
	type plain SparkCluster
	decoded, found, err := decoding.Decode[plain](data)
	if err != nil {
		return err
	}
	*c = SparkCluster(decoded)
	c.Undecodable, c.UnknownFields = found.Undecodable, found.UnknownFields
	return nil
}
