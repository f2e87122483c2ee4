package upload

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

// claimEnv is a cluster whose only Pod receives files in a folder of this machine.
type claimEnv struct {
	client *fake.Clientset
	plan   *Plan
	shown  *progress
	errOut *strings.Builder
	// claim is the folder that stands for the claim.
	claim string
	// garble changes what arrives.
	garble bool
}

func newClaimEnv(t *testing.T, status corev1.PodStatus) *claimEnv {
	t.Helper()
	env := &claimEnv{client: fake.NewClientset(), claim: t.TempDir(), errOut: &strings.Builder{}}
	env.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		pod.Name, pod.Status = pod.GenerateName+"x", status
		return false, nil, nil
	})
	t.Chdir(t.TempDir())
	var files []sparksubmit.LocalFile
	for _, name := range []string{"a.jar", "b's.jar"} {
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, sparksubmit.LocalFile{Field: "--jars", Written: name, Path: name})
	}
	var err error
	env.plan, err = (&Flags{to: "pvc://data/my jars"}).Plan(t.Context(), files, sparksubmit.Receiver{
		Namespace: "team-a", Image: "spark", PullSecrets: []string{"registry"}, Mounts: []sparksubmit.ClaimMount{{Claim: "data", Path: "/data"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	env.shown = newProgress(env.plan, cli.NewOptions(cli.Plugin, genericiooptions.IOStreams{In: strings.NewReader(""), Out: env.errOut, ErrOut: env.errOut}))
	return env
}

// run runs a script on this machine, in place of the Pod.
func (e *claimEnv) run(ctx context.Context, _ *corev1.Pod, script string, arguments []string, input io.Reader, output, problems io.Writer) error {
	arguments = append([]string{"-c", script, "sh", strings.Replace(arguments[0], mountPath, e.claim, 1)}, arguments[1:]...)
	command := exec.CommandContext(ctx, "/bin/sh", arguments...)
	if input != nil && e.garble {
		input = io.MultiReader(input, strings.NewReader("more"))
	}
	command.Stdin, command.Stdout, command.Stderr = input, output, problems
	return command.Run()
}

// stored are the files of the claim.
func (e *claimEnv) stored(t *testing.T) (all []string) {
	t.Helper()
	if err := filepath.WalkDir(e.claim, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, strings.TrimPrefix(path, e.claim))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func (e *claimEnv) pods(t *testing.T) int {
	t.Helper()
	pods, err := e.client.Tracker().List(corev1.SchemeGroupVersion.WithResource("pods"), corev1.SchemeGroupVersion.WithKind("Pod"), "team-a")
	if err != nil {
		t.Fatal(err)
	}
	return len(pods.(*corev1.PodList).Items)
}

func TestFilesAreStoredInAClaimOnce(t *testing.T) {
	env := newClaimEnv(t, corev1.PodStatus{Phase: corev1.PodRunning})
	for _, want := range []string{"a.jar uploaded, 5 bytes: local:///data/my%20jars/sha256/", "a.jar is there already: local:///data/my%20jars/sha256/"} {
		env.errOut.Reset()
		env.shown.done.Clear()
		if err := env.plan.sendToClaim(t.Context(), env.client, env.run, env.shown); err != nil {
			t.Fatal(err)
		}
		if got := env.errOut.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 {
			t.Errorf("it prints\n%s\nwant %s", got, want)
		}
		if stored := env.stored(t); len(stored) != 2 || !strings.HasPrefix(stored[0], "/my jars/sha256/") || env.pods(t) != 0 {
			t.Errorf("the claim holds %q, and there are %d Pods", stored, env.pods(t))
		}
	}
}

func TestThePodThatReceivesFilesIsRestrictedAndEndsByItself(t *testing.T) {
	pod := newClaimEnv(t, corev1.PodStatus{}).plan.receiverPod()
	if broken := podsecurity.Violations(pod); len(broken) > 0 {
		t.Errorf("it breaks the restricted profile: %s", broken)
	}
	spec := pod.Spec
	if spec.ActiveDeadlineSeconds == nil || *spec.AutomountServiceAccountToken || spec.ImagePullSecrets[0].Name != "registry" ||
		spec.Volumes[0].PersistentVolumeClaim.ClaimName != "data" || pod.Namespace != "team-a" || spec.Containers[0].Image != "spark" {
		t.Errorf("it is %+v", pod)
	}
}

func TestWhatArrivesOtherwiseIsNotStored(t *testing.T) {
	env := newClaimEnv(t, corev1.PodStatus{Phase: corev1.PodRunning})
	env.garble = true
	err := env.plan.sendToClaim(t.Context(), env.client, env.run, env.shown)
	if want := "a.jar cannot be stored (exit status 1): what has arrived is not the file"; err == nil || env.shown.failure != want || len(env.stored(t)) != 0 || env.pods(t) != 0 {
		t.Errorf("%v: %s, want %s; the claim holds %q", err, env.shown.failure, want, env.stored(t))
	}
}

func TestAPodThatCannotRunIsRemoved(t *testing.T) {
	waiting := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "it is so"}},
		}}}
	}
	for want, status := range map[string]corev1.PodStatus{
		"does not run (InvalidImageName it is so): correct that, or name another image by --upload-image": waiting("InvalidImageName"),
		"does not run (it has ended Evicted of memory)":                                                   {Phase: corev1.PodFailed, Reason: "Evicted", Message: "of memory"},
	} {
		env := newClaimEnv(t, status)
		err := env.plan.sendToClaim(t.Context(), env.client, env.run, env.shown)
		if err == nil || !strings.Contains(err.Error(), want) || env.pods(t) != 0 {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

func TestAnInterruptRemovesThePod(t *testing.T) {
	env := newClaimEnv(t, corev1.PodStatus{Phase: corev1.PodRunning})
	ctx, interrupt := context.WithCancel(t.Context())
	runs := 0
	err := env.plan.sendToClaim(ctx, env.client, func(ctx context.Context, pod *corev1.Pod, script string, arguments []string, input io.Reader, output, problems io.Writer) error {
		if runs++; runs == 3 { // the second file
			interrupt()
			return context.Cause(ctx)
		}
		return env.run(ctx, pod, script, arguments, input, output, problems)
	}, env.shown)
	if !errors.Is(err, context.Canceled) || env.pods(t) != 0 || len(env.stored(t)) != 1 || env.shown.done.Len() != 1 || env.shown.failure != "" {
		t.Errorf("%v: %d Pods, %q stored, failure %q", err, env.pods(t), env.stored(t), env.shown.failure)
	}
}
