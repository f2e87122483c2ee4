package integration

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
)

type commandLine struct {
	code        int
	out, errOut string
}

// cli runs a command line under the name of a program, in the namespace of the env.
func (s *env) cli(ctx context.Context, program string, args ...string) commandLine {
	s.Helper()
	var out, errOut bytes.Buffer
	code := s.cliPrints(ctx, &out, &errOut, program, args...)
	return commandLine{code, out.String(), errOut.String()}
}

// cliPrints runs a command line under the name of a program, in the namespace of the env, and returns its exit code.
func (s *env) cliPrints(ctx context.Context, out, errOut io.Writer, program string, args ...string) (code int) {
	o := cli.NewOptions(program, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut})
	flags := []string{"--kubeconfig", s.Plane.Kubeconfig(), "--namespace", s.ns}
	if program == cli.Plugin {
		args = slices.Concat(args[:1], flags, args[1:]) // the verb first
	} else {
		args = slices.Concat(flags, args)
	}
	return o.Run(ctx, root.New(o), args)
}

// spark runs kubectl spark in the env's namespace, and returns its exit code and what it printed.
func (s *env) spark(ctx context.Context, line string) (code int, out, errOut string) {
	s.Helper()
	got := s.cli(ctx, cli.Plugin, strings.Fields(line)...)
	return got.code, got.out, got.errOut
}

// following is a kubectl spark that goes on until its context ends.
type following struct {
	args []string
	code chan int

	lock sync.Mutex
	text bytes.Buffer
}

// follows starts kubectl spark in the env's namespace, and returns when it has printed a line.
func (s *env) follows(ctx context.Context, args ...string) *following {
	s.Helper()
	f := &following{args: args, code: make(chan int, 1)}
	go func() { f.code <- s.cliPrints(ctx, f, f, cli.Plugin, args...) }()
	s.untilPrinted(f, "\n")
	return f
}

func (f *following) Write(p []byte) (int, error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.text.Write(p)
}

// String returns what was printed so far.
func (f *following) String() string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.text.String()
}

// untilPrinted waits until a command line has printed all parts.
func (s *env) untilPrinted(f *following, parts ...string) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(parts, func(part string) bool { return !contains(f.String(), part) }), nil
	})
	if err != nil {
		s.Fatalf("%q does not print all of %q: %v; it printed\n%s", f.args, parts, err, f)
	}
}
