package upload

// The program also reads an archive, with the user's own credentials:
//
//	kubectl-spark-upload read URL
//
// It serves the console's API at a port of this machine until its standard input ends, and prints a Serving as its first line. Requests need the
// bearer token that its environment has.
const (
	// ReadVerb is the argument before the URL of an archive.
	ReadVerb = "read"
	// TokenVariable is the environment variable with the token.
	TokenVariable = "FIRESTEEL_ARCHIVE_TOKEN"
)

// Serving is the first line that the program prints when it reads an archive.
type Serving struct {
	// Address is that of the API.
	Address string `json:"address,omitempty"`
	// Message is why the archive cannot be read, with the remedy. It holds no secret.
	Message string `json:"message,omitempty"`
}
