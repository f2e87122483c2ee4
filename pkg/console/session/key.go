package session

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// keyFile is the entry of the Secret with the key.
	keyFile = "key"
	// minSecretBytes is the least length of a key, and of the secret of a proxy. What openssl rand -base64 32 prints is longer.
	minSecretBytes, maxSecretBytes = 32, 4096
)

// Key encrypts the sessions and signs the tokens of forms. Replicas with the same key accept each other's.
type Key struct {
	sealer cipher.AEAD
	forms  []byte
}

// LoadKey reads the key from a folder with the entries of a Secret. Without the entry, or without a folder, the key is random: then shared is
// false, and each replica knows only the sessions that began there.
func LoadKey(folder string) (key *Key, shared bool, err error) {
	secret, err := readEntry(folder, keyFile, "the key of sessions")
	switch {
	case err != nil:
		return nil, false, err
	case secret == nil:
		key, err = NewKey([]byte(rand.Text() + rand.Text()))
		return key, false, err
	}
	if err := checkLength(secret, keyFile, "the key of sessions", "openssl rand -base64 32"); err != nil {
		return nil, false, err
	}
	key, err = NewKey(secret)
	return key, true, err
}

// readEntry reads an entry of a Secret from a folder with its entries; nil without the entry, or without a folder. what it is stands in errors.
func readEntry(folder, entry, what string) ([]byte, error) {
	if folder == "" {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(folder, entry)) //nolint:gosec // the folder is a setting of the installation
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return content, nil
}

// checkLength returns an error for an entry of a Secret that is too short to be secret, or too long. example is a command that prints one.
func checkLength(content []byte, entry, what, example string) error {
	if len(content) < minSecretBytes || len(content) > maxSecretBytes {
		return fmt.Errorf("%s, entry %q of the Secret, has %d bytes: write %d to %d random ones, such as %s prints",
			what, entry, len(content), minSecretBytes, maxSecretBytes, example)
	}
	return nil
}

// NewKey derives a Key from a secret.
func NewKey(secret []byte) (*Key, error) {
	derive := func(purpose string) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, "firesteel console: "+purpose, sha256.Size)
	}
	sessions, err := derive("sessions")
	if err != nil {
		return nil, fmt.Errorf("derive the key of sessions: %w", err)
	}
	block, err := aes.NewCipher(sessions)
	if err != nil {
		return nil, fmt.Errorf("use the key of sessions: %w", err)
	}
	key := &Key{}
	if key.sealer, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, fmt.Errorf("use the key of sessions: %w", err)
	}
	if key.forms, err = derive("forms"); err != nil {
		return nil, fmt.Errorf("derive the key of forms: %w", err)
	}
	return key, nil
}

// Seal encrypts and authenticates a text. What was sealed for one purpose cannot be opened for another.
func (k *Key) Seal(purpose string, text []byte) []byte {
	return k.sealer.Seal(nil, nil, text, []byte(purpose)) //nolint:gosec // the sealer makes a random nonce itself
}

// Open returns the text of Seal, and an error for everything else.
func (k *Key) Open(purpose string, text []byte) ([]byte, error) {
	return k.sealer.Open(nil, nil, text, []byte(purpose))
}
