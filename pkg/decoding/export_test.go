package decoding

// IsQuick says that an object is decoded by the quicker of both decoders.
func IsQuick[Plain any](data []byte) bool {
	_, is := quickly[Plain](data)
	return is
}
