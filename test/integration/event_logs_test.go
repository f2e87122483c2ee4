package integration

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/access/review"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/eventlog/receiver"
	"github.com/firesteel-dev/firesteel/pkg/eventlog/sender"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// withSidecars runs a controller whose drivers send their event logs if their applications ask for it.
func (s *env) withSidecars() {
	s.Helper()
	s.applyConfig("archive/rbac.yaml")
	s.configured("config-archive", "wait", "1s")
	s.configured("config-archive", "event-logs-image", "registry.example.com/archive:1")
	s.configured("config-archive", "namespaces", s.ns+": file://"+s.TempDir())
	s.ownController(controller{sink: s.sink.URL()})
}

func hasSidecar(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == eventlog.Container })
}

// expectLaunchedAgain waits for a driver without sidecar in the same attempt, runs it to its end and checks what is recorded.
func (s *env) expectLaunchedAgain(name string, because string, states ...string) {
	s.Helper()
	second := until(s, s.Kube.CoreV1().Pods(s.ns), name+"-0-driver", "be launched without sidecar", func(pod *corev1.Pod) bool {
		return !hasSidecar(pod) && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
	if second.Annotations[eventlog.AttemptAnnotation] != "" {
		s.Errorf("the driver without sidecar has the annotations %v", second.Annotations)
	}
	warning := s.untilCondition(name, dialect.ConditionWarning, metav1.ConditionTrue, "SpecNotHonored")
	if !strings.Contains(warning.Message, "without the sidecar") || !strings.Contains(warning.Message, because) {
		s.Errorf("the warning is %q, want %q in it", warning.Message, because)
	}
	(&driver{Pod: second, env: s}).start().ready().exit(0)
	app := s.untilState(name, "ResourceReleased")
	var got []string
	for _, t := range app.Status.Firesteel.Transitions {
		if t.Attempt != 0 {
			s.Errorf("%s is of attempt %d", t.State, t.Attempt)
		}
		got = append(got, t.State)
	}
	if !slices.Equal(got[:min(len(got), len(states))], states) {
		s.Errorf("the states are %v, want %v first", got, states)
	}
}

func TestDriverHeldUpByItsSidecarIsLaunchedWithoutIt(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.withSidecars()
	s.create(App("pi").Annotation(dialect.AnnotationEventLogs, "sidecar"))
	s.untilState("pi", "DriverRequested")
	first := s.driver("pi", 0)
	if !hasSidecar(first.Pod) {
		t.Fatalf("the driver has the init containers %+v", first.Spec.InitContainers)
	}
	first.set(func(status *corev1.PodStatus) {
		scheduled := metav1.NewTime(time.Now().Add(-time.Minute))
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: scheduled}}
		status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: eventlog.Container, Image: "registry.example.com/archive:1", Started: ptr.To(false),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
		}}
	})
	s.expectLaunchedAgain("pi", "cannot be pulled", "Submitted", "DriverRequested", "ScheduledToRestart", "DriverRequested", "DriverStarted")
}

func TestDriverRefusedWithItsSidecarIsLaunchedWithoutIt(t *testing.T) {
	alone(t)
	s := newEnv(t)
	refused := plainPod("any")
	refused.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "image"}}
	s.admitPodsIf("!has(object.spec.initContainers)", "no sidecars here", refused)
	s.withSidecars()
	s.create(App("pi").Annotation(dialect.AnnotationEventLogs, "sidecar"))
	s.expectLaunchedAgain("pi", "no sidecars here", "Submitted", "DriverRequested", "DriverStarted")
}

// serveReceiver serves an archive to sidecars, with the rights of the service's account.
func (s *env) serveReceiver(stored *archive.Archive) *url.URL {
	s.Helper()
	s.applyConfig("archive-service/500-archive.yaml")
	config, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, "archive")
	s.must(err)
	client, err := kubernetes.NewForConfig(config)
	s.must(err)
	objects, err := metadata.NewForConfig(config)
	s.must(err)
	guard := &receiver.Cluster{
		Client: client, Metadata: objects, APIs: applications.APIs(),
		Reviewer: review.NewReviewer(client, func() []string { return []string{eventlog.Audience} }, clock.RealClock{}),
		Archive: func(_ context.Context, namespace string) (*archive.Archive, error) {
			if namespace != s.ns {
				return nil, errors.New("another namespace")
			}
			return stored, nil
		},
	}
	server := httptest.NewServer(receiver.New(guard, func() int64 { return 1 << 30 }, zap.NewNop().Sugar()))
	s.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	s.must(err)
	return address
}

// driverOf creates a Pod as the driver of an application with a sidecar, at the second attempt.
func (s *env) driverOf(app *sparkv1.SparkApplication, name string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	pod := plainPod(name)
	pod.Annotations = map[string]string{eventlog.AttemptAnnotation: "1"}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(app, apache.API.GroupVersionKind)}
	for _, change := range change {
		change(pod)
	}
	made, err := s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
	return made
}

// boundToken is a token of a Pod for an audience, as the kubelet asks for one.
func (s *env) boundToken(pod *corev1.Pod, audience string) string {
	s.Helper()
	answer, err := s.Kube.CoreV1().ServiceAccounts(s.ns).CreateToken(s.Context(), "default", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{audience}, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	return answer.Status.Token
}

// untilRefusedAsToken waits until the API server, which knows the Pods of tokens from a watch, does not accept a token.
func (s *env) untilRefusedAsToken(token, audience string) {
	s.Helper()
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{audience}}}
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		answer, err := s.Kube.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && !answer.Status.Authenticated, err
	}))
}

func TestSidecarSendsTheEventLogOfItsOwnAttempt(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	stored := archive.New(memblob.OpenBucket(nil))
	address := s.serveReceiver(stored)
	app := s.create(App("pi").Label("team", "a"))
	token := s.boundToken(s.driverOf(app, "pi-driver"), eventlog.Audience)

	folder := filepath.Join(t.TempDir(), "logs")
	s.must(sender.Prepare(folder))
	s.must(os.Mkdir(filepath.Join(folder, "eventlog_v2_a"), 0o700))
	long := strings.Repeat(`{"Event":"x"}`+"\n", 100_000) // of several parts
	for name, content := range map[string]string{"events_1_a": long, "events_2_a": "{}\n", "appstatus_a": ""} {
		s.must(os.WriteFile(filepath.Join(folder, "eventlog_v2_a", name), []byte(content), 0o600))
	}
	tokenFile := filepath.Join(t.TempDir(), "token")
	s.must(os.WriteFile(tokenFile, []byte(token), 0o600))
	over, end := context.WithCancel(t.Context())
	end() // the driver has ended
	(&sender.Sender{
		Client: &sender.Client{Service: address, TokenFile: tokenFile, HTTP: http.DefaultClient}, Folder: folder, Grace: time.Minute, MaxBacklog: 1 << 30,
		Logger: zap.NewNop().Sugar(),
	}).Run(over)

	id := archive.ID{Namespace: s.namespace(), Resource: "sparkapplications.spark.apache.org", Name: "pi", UID: app.UID}
	described, err := stored.Application(t.Context(), id)
	s.must(err)
	if described.Kind != "SparkApplication" || described.Labels["team"] != "a" || !described.Created.Equal(app.CreationTimestamp.Time) {
		t.Errorf("the application is described as %+v", described)
	}
	reader, err := stored.Attempt(id, 1).File(archive.EventLogFolder, "events_1_a").Open(t.Context(), 0, -1)
	s.must(err)
	if got, err := io.ReadAll(reader); err != nil || string(got) != long {
		t.Errorf("stored are %d bytes, want %d: %v", len(got), len(long), err)
	}
	files, err := stored.Attempt(id, 1).Files(t.Context(), archive.EventLogFolder)
	s.must(err)
	logs, _, err := stored.EventLogs(t.Context(), s.ns, 9)
	s.must(err)
	if len(files) != 3 || len(logs) != 1 || logs[0] != (archive.EventLog{ID: id, Attempt: 1}) {
		t.Errorf("the files are %+v, and the event logs %+v", files, logs)
	}
}

func TestArchiveServiceRefusesTokensOfOthers(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	stored := archive.New(memblob.OpenBucket(nil))
	address := s.serveReceiver(stored)
	app := s.create(App("pi"))
	gone := s.driverOf(app, "gone")
	tokenOfGone := s.boundToken(gone, eventlog.Audience)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), "gone", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	s.driverOf(app, "gone")
	s.untilRefusedAsToken(tokenOfGone, eventlog.Audience)
	unmarked := func(pod *corev1.Pod) { pod.Annotations = nil }
	climbing := func(pod *corev1.Pod) { pod.Annotations[eventlog.AttemptAnnotation] = "../1" }
	orphan := func(pod *corev1.Pod) { pod.OwnerReferences = nil }
	for name, test := range map[string]struct {
		token  string
		status int
		says   string
	}{
		"no token":                         {"", 401, "no bearer token"},
		"no valid one":                     {"secret", 401, "does not accept the token"},
		"of another audience":              {s.boundToken(s.driverOf(app, "a"), "vault"), 401, "does not accept the token"},
		"of no Pod":                        {s.tokenFor(eventlog.Audience), 403, "bound to no Pod"},
		"of a Pod that is gone":            {tokenOfGone, 401, "does not accept the token"},
		"of a Pod without the annotation":  {s.boundToken(s.driverOf(app, "b", unmarked), eventlog.Audience), 403, "is not a driver"},
		"of a Pod with another annotation": {s.boundToken(s.driverOf(app, "c", climbing), eventlog.Audience), 403, "is not a driver"},
		"of a Pod of nobody":               {s.boundToken(s.driverOf(app, "d", orphan), eventlog.Audience), 403, "is not a driver"},
		"of a driver":                      {s.boundToken(s.driverOf(app, "f"), eventlog.Audience), 200, `"bytes":1`},
	} {
		to := address.JoinPath(eventlog.FilesPath, "events_1_a")
		to.RawQuery = "offset=0"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, to.String(), strings.NewReader("x"))
		s.must(err)
		if test.token != "" {
			request.Header.Set("Authorization", "Bearer "+test.token)
		}
		answer, err := http.DefaultClient.Do(request)
		s.must(err)
		text, err := io.ReadAll(answer.Body)
		s.must(err)
		s.must(answer.Body.Close())
		if answer.StatusCode != test.status || !strings.Contains(string(text), test.says) {
			t.Errorf("a token %s: the answer is %d %s", name, answer.StatusCode, text)
		}
	}
	if logs, _, err := stored.EventLogs(t.Context(), s.ns, 9); err != nil || len(logs) != 1 {
		t.Errorf("the event logs are %+v, %v", logs, err)
	}
}
