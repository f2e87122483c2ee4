package archived

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	cliupload "github.com/firesteel-dev/firesteel/pkg/cli/upload"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/upload"
)

// stopGrace is how long the program may take to end.
const stopGrace = 5 * time.Second

// byProgram returns a connection to the program that reads an archive with the user's own credentials. The program ends with the context, and with
// this process.
func byProgram(ctx context.Context, archive string) (*api.Client, error) {
	path, err := cliupload.FindProgram("--archive")
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	command := exec.CommandContext(ctx, path, upload.ReadVerb, archive) //nolint:gosec // the program of this name beside this one, or in PATH
	command.Env = append(os.Environ(), upload.TokenVariable+"="+token)
	command.WaitDelay = stopGrace
	if _, err := command.StdinPipe(); err != nil { // it is closed when this process ends
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w", path, err)
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	var serving upload.Serving
	if err == nil {
		err = json.Unmarshal(line, &serving)
	}
	switch {
	case err != nil:
		_ = command.Wait() // what it printed is no answer
		return nil, fmt.Errorf("%s cannot read --archive (%w): install that of the same version as kubectl-spark", path, err)
	case serving.Message != "":
		_ = command.Wait() // the message says why it failed
		return nil, errors.New(serving.Message)
	}
	go func() { _ = command.Wait() }() // it ends with this process
	address, err := url.Parse(serving.Address)
	if err != nil {
		return nil, fmt.Errorf("%s serves %q: %w", path, serving.Address, err)
	}
	transport := roundTripper(func(request *http.Request) (*http.Response, error) {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+token)
		return http.DefaultTransport.RoundTrip(request)
	})
	return &api.Client{Base: address, HTTP: &http.Client{Transport: transport}}, nil
}
