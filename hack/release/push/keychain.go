package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// keychain returns the logins of docker, podman and helm. The default keychain reads podman's only if there is no file of docker.
func keychain() authn.Keychain {
	return authn.NewMultiKeychain(authn.DefaultKeychain, loginFile(os.Getenv("REGISTRY_AUTH_FILE")), loginFile(podmanLogins()), loginFile(helmLogins()))
}

// podmanLogins returns the path of the file that podman login writes, and nothing without the folder that it is in.
func podmanLogins() string {
	folder := os.Getenv("XDG_RUNTIME_DIR")
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "containers/auth.json")
}

// helmLogins returns the path of the file that helm registry login writes.
func helmLogins() string {
	const file = "registry/config.json"
	if path := os.Getenv("HELM_REGISTRY_CONFIG"); path != "" {
		return path
	}
	if folder := os.Getenv("HELM_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, file)
	}
	if folder := os.Getenv("XDG_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, "helm", file)
	}
	home, _ := os.UserHomeDir() // without one, there is no such file
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library/Preferences/helm", file)
	}
	return filepath.Join(home, ".config/helm", file)
}

// loginFile is the path of a file with logins, in docker's format. There may be none.
type loginFile string

func (f loginFile) Resolve(target authn.Resource) (authn.Authenticator, error) {
	file, err := os.Open(string(f))
	if f == "" || errors.Is(err, fs.ErrNotExist) {
		return authn.Anonymous, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	logins, err := config.LoadFromReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	keys := []string{target.String(), target.RegistryStr()}
	if target.RegistryStr() == name.DefaultRegistry { // docker and helm write the address of its API, and podman the name that users write
		keys = append(keys, authn.DefaultAuthKey, "docker.io")
	}
	for _, key := range keys {
		login, err := logins.GetCredentialsStore(key).Get(key) // GetAuthConfig would take docker.io for the address of the API
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		login.ServerAddress = "" // it is always set
		if login != (types.AuthConfig{}) {
			return authn.FromConfig(authn.AuthConfig{
				Username: login.Username, Password: login.Password, Auth: login.Auth, IdentityToken: login.IdentityToken, RegistryToken: login.RegistryToken,
			}), nil
		}
	}
	return authn.Anonymous, nil
}
