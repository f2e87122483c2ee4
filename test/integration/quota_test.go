package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// limitedTo sets a quota, and waits until it is counted and the API server enforces it. That, too, knows a new quota only from a watch: until
// then it remembers that the namespace has none, and counts no Pod. One can try that, since the quota has no room for Secrets either.
func (s *env) limitedTo(hard corev1.ResourceList) {
	s.Helper()
	hard = maps.Clone(hard)
	hard[corev1.ResourceSecrets] = resource.MustParse("0")
	quotas := s.Kube.CoreV1().ResourceQuotas(s.ns)
	limit, err := quotas.Create(s.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
	}, metav1.CreateOptions{})
	s.must(err)
	until(s, quotas, limit.Name, "be counted", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) == len(hard) })
	s.untilRefused("exceeded quota", s.creatingSecret)
}

// unlimited deletes the quota, and waits until the API server enforces it no more.
func (s *env) unlimited() {
	s.Helper()
	s.must(s.Kube.CoreV1().ResourceQuotas(s.ns).Delete(s.Context(), "team", metav1.DeleteOptions{}))
	s.untilAdmitted(s.creatingSecret)
}

func (s *env) creatingSecret(ctx context.Context, tried metav1.CreateOptions) error {
	_, err := s.Kube.CoreV1().Secrets(s.ns).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "one-more"}}, tried)
	return err
}

// podsLimitedTo changes the quota.
func (s *env) podsLimitedTo(number string) {
	s.Helper()
	_, err := s.Kube.CoreV1().ResourceQuotas(s.ns).Patch(s.Context(), "team", types.MergePatchType,
		[]byte(`{"spec": {"hard": {"pods": "`+number+`"}}}`), metav1.PatchOptions{})
	s.must(err)
}

// sparkJob runs drivers as Spark does: each creates its executors when it has started, and deletes them before it ends.
type sparkJob struct {
	*env
	executors int
	// without is a driver that creates none.
	without string
	// runs is how long a driver runs; zero for until the test ends it.
	runs time.Duration

	mutex   sync.Mutex
	refused []string
	// live and most are the drivers that run, now and at most at once.
	live, most int
	// created are closed when a driver has created its executors, by its name.
	created map[string]chan struct{}
	// ended is when each driver began to give its room back. The record says later when a controller noticed it, much later if that was killed.
	ended map[string]time.Time
}

func (j *sparkJob) play() {
	j.ended, j.created = map[string]time.Time{}, map[string]chan struct{}{}
	j.kubelet.Play(j.ns, func(driver *corev1.Pod) []kubelet.Step {
		j.mutex.Lock()
		defer j.mutex.Unlock()
		j.live++
		j.most = max(j.most, j.live)
		created := make(chan struct{})
		j.created[driver.Name] = created
		go func() {
			defer close(created)
			j.createExecutors(driver)
		}()
		if j.runs == 0 {
			return []kubelet.Step{{Change: kubelet.Started}, {Change: kubelet.Ready}}
		}
		return []kubelet.Step{{Change: kubelet.Started}, {Change: kubelet.Ready}, {After: j.runs, Change: func(status *corev1.PodStatus) {
			j.mutex.Lock()
			if j.ended[driver.Name].IsZero() { // not a write that is repeated after a conflict
				j.ended[driver.Name] = time.Now()
				j.live--
			}
			j.mutex.Unlock()
			j.deleteExecutors(driver)
			kubelet.Ended(status, 0)
		}}}
	})
}

func (j *sparkJob) createExecutors(driver *corev1.Pod) {
	if driver.Name == j.without {
		return
	}
	for i := range j.executors {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-exec-%d", driver.Name, i), Namespace: driver.Namespace,
				Labels: map[string]string{
					"spark-role": "executor", "spark-app-selector": driver.Labels["spark-app-selector"], "spark-exec-id": strconv.Itoa(i),
					apache.LabelOperator: apache.OperatorName,
				},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(driver, corev1.SchemeGroupVersion.WithKind("Pod"))},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1408Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("1408Mi")},
			}}}},
		}
		err := kubelet.RetryWrite(context.Background(), func() error {
			_, err := j.Kube.CoreV1().Pods(j.ns).Create(context.Background(), pod, metav1.CreateOptions{})
			return err
		})
		if apierrors.IsForbidden(err) {
			j.mutex.Lock()
			j.refused = append(j.refused, err.Error())
			j.mutex.Unlock()
		}
	}
}

func (j *sparkJob) deleteExecutors(driver *corev1.Pod) {
	j.mutex.Lock()
	created := j.created[driver.Name]
	j.mutex.Unlock()
	if created != nil {
		<-created
	}
	none := int64(0)
	_ = kubelet.RetryWrite(context.Background(), func() error {
		return j.Kube.CoreV1().Pods(j.ns).DeleteCollection(context.Background(), metav1.DeleteOptions{GracePeriodSeconds: &none}, metav1.ListOptions{
			LabelSelector: "spark-role=executor,spark-app-selector=" + driver.Labels["spark-app-selector"],
		})
	})
}

// end has a driver end.
func (j *sparkJob) end(driver string) {
	j.Helper()
	pod, err := j.Kube.CoreV1().Pods(j.ns).Get(j.Context(), driver, metav1.GetOptions{})
	j.must(err)
	j.deleteExecutors(pod)
	j.must(kubelet.SetStatus(j.Context(), j.Kube, pod, func(status *corev1.PodStatus) { kubelet.Ended(status, 0) }))
}

func (s *env) untilSays(name, reason, part string) {
	s.Helper()
	until(s, s.apps(), name, fmt.Sprintf("say %q with reason %s", part, reason), func(app *sparkv1.SparkApplication) bool {
		for _, condition := range app.Status.Conditions {
			if condition.Type == "Succeeded" && condition.Reason == reason && strings.Contains(condition.Message, part) {
				return true
			}
		}
		return false
	})
}

func TestQuotaHoldsLaunches(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.sharesController()
	s.limitedTo(corev1.ResourceList{"pods": resource.MustParse("4")})
	job := &sparkJob{env: s, executors: 2, without: "small-0-driver"}
	job.play()

	s.create(App("first"))
	s.untilState("first", "RunningHealthy")
	s.create(App("large").Conf("spark.executor.instances", "7"))
	s.untilSays("large", diagnosis.ReasonWaitingForQuota, "ResourceQuota "+s.ns+"/team lacks pods (8 requested, 4 available of 4)")
	s.create(App("second"))
	s.untilSays("second", diagnosis.ReasonWaitingForQuota, "lacks pods (3 requested, 1 available of 4). Place 1 of 1 in the queue.")
	s.create(App("small").Conf("spark.dynamicAllocation.enabled", "true"))
	s.untilState("small", "RunningHealthy")
	if state := stateOf(s.get("second")); state != "Submitted" {
		t.Errorf("the one that waits is in state %s", state)
	}

	job.end("first-0-driver")
	until(s, s.apps(), "first", "be released", func(app *sparkv1.SparkApplication) bool { return stateOf(app) == "ResourceReleased" })
	s.untilState("second", "RunningHealthy")

	s.podsLimitedTo("12")
	s.untilState("large", "RunningHealthy")
	if len(job.refused) > 0 {
		t.Errorf("the quota refused executors: %v", job.refused)
	}
}

// Without the hold, drivers would take the room of each other's executors.
func TestQuotaHoldsRunsOfSchedulesThatAreDueAtOnce(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.sharesController()
	const room = 2
	s.limitedTo(corev1.ResourceList{"pods": resource.MustParse(fmt.Sprint(3 * room))})
	job := &sparkJob{env: s, executors: 2, runs: 200 * time.Millisecond}
	job.play()
	var schedules []*scheduleEnv
	for i := range 3 * room {
		schedules = append(schedules, s.schedules(variant.Apache, fmt.Sprintf("pi-%d", i), "@every 1s", func(spec map[string]any) {
			spec["concurrencyPolicy"], spec["successfulRunHistoryLimit"], spec["failedRunHistoryLimit"] = "Forbid", 100, 100
		}))
	}
	var runs []string
	for _, schedule := range schedules {
		runs = append(runs, schedule.untilRuns(1)[0].GetName())
		schedule.patch(`{"suspend": true}`)
	}
	for _, run := range runs {
		s.untilState(run, "ResourceReleased")
	}
	job.mutex.Lock()
	defer job.mutex.Unlock()
	if len(job.refused) > 0 || job.most > room {
		t.Errorf("up to %d runs had drivers at once, with room for %d; executors were refused: %v", job.most, room, job.refused)
	}
}

func TestQuotaFailsApplications(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "fail")
	s.sharesController()
	s.limitedTo(corev1.ResourceList{"requests.cpu": resource.MustParse("2")})
	s.create(App("pi"))
	app := until(s, s.apps(), "pi", "fail", func(app *sparkv1.SparkApplication) bool { return stateOf(app) == "ResourceReleased" })
	want := fmt.Sprintf("failed to validate resource quota %q: SparkApplication %s/pi requests too many cores (3.000 cores requested, 2.000 available).",
		s.ns+"/team", s.ns)
	for _, condition := range app.Status.Conditions {
		if condition.Type == "Succeeded" && (condition.Reason != diagnosis.ReasonQuotaWouldBeExceeded || !strings.HasPrefix(condition.Message, want)) {
			t.Errorf("it says %s: %s", condition.Reason, condition.Message)
		}
	}
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(t.Context(), metav1.ListOptions{})
	s.must(err)
	if len(pods.Items) > 0 {
		t.Errorf("it has %d Pods", len(pods.Items))
	}
}

func TestQuotaThatRefusesExecutorsIsNamed(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.sharesController()
	s.limitedTo(corev1.ResourceList{"pods": resource.MustParse("3")})
	job := &sparkJob{env: s}
	job.play()
	s.create(App("pi"))
	s.untilState("pi", "RunningHealthy")
	s.podsLimitedTo("1")
	s.untilSays("pi", diagnosis.ReasonExecutorsExceedQuota, "The quota refuses executors: ResourceQuota "+s.ns+"/team lacks pods (1 requested, 0 available of 1).")
}

// A controller that starts has not seen the executors that dynamic allocation has given back.
func TestQuotaIsNotReservedAgainAfterARestart(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	first := s.ownController(controller{sink: s.sink.URL()})
	s.limitedTo(corev1.ResourceList{"pods": resource.MustParse("4")})
	job := &sparkJob{env: s, executors: 2}
	job.play()
	s.create(App("elastic").Conf("spark.dynamicAllocation.enabled", "true").Conf("spark.dynamicAllocation.initialExecutors", "2"))
	until(s, s.apps(), "elastic", "have had all of its executors", func(app *sparkv1.SparkApplication) bool {
		return app.Status.Firesteel != nil && app.Status.Firesteel.Quota != nil && app.Status.Firesteel.Quota.Complete
	})
	driver, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), "elastic-0-driver", metav1.GetOptions{})
	s.must(err)
	first.Kill()
	job.deleteExecutors(driver)
	s.ownController(controller{sink: s.sink.URL()})
	s.create(App("other"))
	s.untilState("other", "RunningHealthy")
}

// quotaStory is how many applications share a quota for how many, and how long each runs. FIRESTEEL_QUOTA=500/10/30s sets others.
func quotaStory(t *testing.T) (applications, room int, runs time.Duration) {
	t.Helper()
	applications, room, runs = 18, 6, time.Second
	if given := strings.Split(os.Getenv("FIRESTEEL_QUOTA"), "/"); len(given) == 3 {
		var errs [3]error
		applications, errs[0] = strconv.Atoi(given[0])
		room, errs[1] = strconv.Atoi(given[1])
		runs, errs[2] = time.ParseDuration(given[2])
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return applications, room, runs
}

// Many applications are created at once in a namespace with room for few, and one of two replicas is killed on the way. All run, and never
// more than there is room for. The test takes some 30 s: the other replica waits for the lease of the one that was killed.
func TestQuotaIsSharedByManyApplications(t *testing.T) {
	alone(t)
	applications, room, runs := quotaStory(t)
	s := newEnv(t)
	s.configured("config-admission", "quota", "hold")
	s.configured("config-leader-election", "buckets", "4")
	dying, heir := s.replica(".02-of-04", ".03-of-04"), s.replica(".00-of-04", ".01-of-04")
	s.untilLed(4, 2)
	s.limitedTo(corev1.ResourceList{
		"pods": *resource.NewQuantity(int64(3*room), resource.DecimalSI), "requests.cpu": *resource.NewQuantity(int64(3*room), resource.DecimalSI),
	})
	job := &sparkJob{env: s, executors: 2, runs: runs}
	job.play()
	began := time.Now()
	for i := range applications {
		s.create(App(fmt.Sprintf("pi-%d", i)))
	}
	finished, killed := 0, false
	var apps *sparkv1.SparkApplicationList
	deadline := began.Add(timeout + 2*time.Duration(applications/room)*runs)
	s.must(wait.PollUntilContextTimeout(t.Context(), 10*pollInterval, time.Until(deadline), true, func(ctx context.Context) (bool, error) {
		var err error
		if apps, err = s.apps().List(ctx, metav1.ListOptions{ResourceVersion: "0"}); err != nil {
			return false, err
		}
		finished = 0
		for i := range apps.Items {
			if stateOf(&apps.Items[i]) == "ResourceReleased" {
				finished++
			}
		}
		if !killed && finished >= applications/3 {
			killed = true
			dying.Kill()
			heir.proxy.refuse()
		}
		return finished == applications, nil
	}))
	took := time.Since(began)
	job.mutex.Lock()
	defer job.mutex.Unlock()
	if len(job.refused) > 0 || job.most > room {
		t.Errorf("up to %d drivers ran at once, in a quota for %d; executors were refused %d times, first: %.300s",
			job.most, room, len(job.refused), strings.Join(job.refused, "\n"))
	}
	uses := quotaUsesOf(apps.Items, job.ended)
	used := 100 * usedUntilTheLastLaunch(uses, began, room, runs)
	t.Logf("%d applications of %s in a quota for %d took %s: until the last one launched, the quota was used to %.0f %%", applications, runs, room, took, used)
	if runs >= 30*time.Second && used < 90 {
		t.Errorf("the quota was used to %.1f %% only", used)
	}
	if len(uses) < applications {
		t.Errorf("%d of %d launched with a reservation", len(uses), applications)
	}
	for _, passed := range passedBeyondTheRule(uses, room) {
		t.Error(passed)
	}
}

// quotaUse is when an application that has ended began to wait, had room reserved, and gave it back.
type quotaUse struct {
	name                   string
	since, reserved, ended time.Time
}

func quotaUsesOf(apps []sparkv1.SparkApplication, ended map[string]time.Time) (uses []quotaUse) {
	for i := range apps {
		claim, end := apps[i].Status.Firesteel.Quota, ended[apps[i].Name+"-0-driver"]
		if claim != nil && claim.Reserved != nil && !end.IsZero() {
			uses = append(uses, quotaUse{apps[i].Name, claim.Since.Time, claim.Reserved.Time, end})
		}
	}
	return uses
}

// usedUntilTheLastLaunch is the share of the room in which drivers ran while applications waited.
func usedUntilTheLastLaunch(uses []quotaUse, began time.Time, room int, runs time.Duration) float64 {
	var last time.Time
	for _, use := range uses {
		if use.reserved.After(last) {
			last = use.reserved
		}
	}
	ran := time.Duration(0)
	for _, use := range uses {
		ran += min(runs, max(0, last.Sub(use.ended.Add(-runs))))
	}
	return ran.Seconds() / float64(room) / last.Sub(began).Seconds()
}

// passedBeyondTheRule returns the applications that launched although the quota had no room for them beside all that waited longer. All ask for
// the same, and there is room for a number of them. A second is allowed for what a replica does not know yet.
func passedBeyondTheRule(uses []quotaUse, room int) (passed []string) {
	const delay = time.Second
	for _, use := range uses {
		running, before := 0, 0
		for _, other := range uses {
			switch {
			case !other.reserved.After(use.reserved) && use.reserved.Before(other.ended.Add(-delay)):
				running++ // or it is the same
			case other.since.Before(use.since.Add(-delay)) && other.reserved.After(use.reserved.Add(delay)):
				before++
			}
		}
		if running+before > room {
			passed = append(passed, fmt.Sprintf("%s launched beside %d others, though %d waited longer, and there is room for %d", use.name, running-1, before, room))
		}
	}
	return passed
}
