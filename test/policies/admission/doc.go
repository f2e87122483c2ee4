// Package admission compares the admission policies of config with the controller's checks, by the API server's own code.
package admission
