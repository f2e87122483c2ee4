package codec

// IsFast says that an object is decoded by the quicker of both decoders.
func IsFast[Plain any](data []byte) bool {
	_, ok := decodeFast[Plain](data)
	return ok
}
