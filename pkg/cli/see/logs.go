package see

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

type logsOptions struct {
	*verbs
	executor   string
	all        bool
	attempt    int64
	follow     bool
	since      time.Duration
	tail       int64
	timestamps bool
	container  string
}

func (v *verbs) logsCommand() *cobra.Command {
	l := &logsOptions{verbs: v}
	command := &cobra.Command{
		Use: "logs NAME [flags]", Aliases: []string{"log"}, Short: "Print the log of a driver, or of executors",
		Long: `Print the log of the driver of an application; with -e that of an executor, with --all those of all its Pods.

With -f it waits for the Pod, prints what comes, and goes on with the driver of the next attempt. It ends with the application; the exit code
is 3 if that failed.

` + target.NameHelp,
		Example: `  kubectl spark logs etl -f
  kubectl spark logs etl -e 2 --since 10m
  kubectl spark logs etl --attempt 0`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			return l.run(command.Context(), args[0], command.Flags().Changed("attempt"))
		},
	}
	flags := command.Flags()
	flags.StringVarP(&l.executor, "executor", "e", "", "Print the log of the executor with this ID, as Spark numbers them.")
	flags.BoolVar(&l.all, "all", false, "Print the logs of driver and executors, each line after the name of its Pod.")
	flags.Int64Var(&l.attempt, "attempt", 0, "Print the log of this attempt, as long as its Pods are there. The first one is 0.")
	flags.BoolVarP(&l.follow, "follow", "f", false, "Go on with what comes, across restarts.")
	flags.DurationVar(&l.since, "since", 0, "Print no lines that are older, such as 10m.")
	flags.Int64Var(&l.tail, "tail", -1, "Print so many of the last lines; -1 for all.")
	flags.BoolVar(&l.timestamps, "timestamps", false, "Print the time of each line.")
	flags.StringVarP(&l.container, "container", "c", "", "Print the log of this container and not of Spark's.")
	return command
}

// FollowLog prints the log of the driver of an application until the application has ended, as logs -f does.
func FollowLog(ctx context.Context, o *cli.Options, namespace, named string) error {
	v := &verbs{Options: o, connect: func() (*cluster, error) {
		c, err := connect(o)
		if err != nil {
			return nil, err
		}
		if c.namespace != namespace {
			c.namespace, c.suggested = namespace, namespace
		}
		return c, nil
	}}
	return (&logsOptions{verbs: v, follow: true, tail: -1}).run(ctx, named, false)
}

func (l *logsOptions) run(ctx context.Context, name string, ofAttempt bool) error {
	switch {
	case l.executor != "" && l.all:
		return cli.Usage("-e is for one executor and --all for all Pods: leave one of them out")
	case ofAttempt && l.attempt < 0:
		return cli.Usage("--attempt %d is below 0", l.attempt)
	case l.since < 0:
		return cli.Usage("--since %s is in the future", l.since)
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	found, o, err := c.find(ctx, name, overview.Application)
	if err != nil {
		return err
	}
	current := o.Attempt
	if ofAttempt {
		was, known := o.OfAttempt(l.attempt)
		if !known {
			return fmt.Errorf("nothing is known of attempt %d of %s: %s lists the attempts", l.attempt, name, c.suggest("get", name))
		}
		o = was
	}
	r := &logReader{logsOptions: l, cluster: c, found: found, name: name, ended: map[types.UID]time.Time{}, begun: map[types.UID]bool{}}
	if l.follow && o.Attempt == current {
		return r.followAll(ctx, o)
	}
	return r.printAll(ctx, o)
}

// logReader reads the logs of an application.
type logReader struct {
	*logsOptions
	*cluster
	found *target.Found
	name  string
	// lock is held while a line with a prefix is printed, and for the maps.
	lock sync.Mutex
	// begun are the Pods whose log was begun, and ended when the log of a Pod came to its end.
	begun map[types.UID]bool
	ended map[types.UID]time.Time
}

// source is a container whose log is read.
type source struct {
	pod       *corev1.Pod
	container string
	// prefix begins each line; empty for none.
	prefix string
}

// sources returns the containers whose logs are asked for.
func (r *logReader) sources(o *overview.Object, pods overview.Pods) []source {
	ofDriver := func(prefix string) source {
		return source{pods.Driver, cmp.Or(r.container, o.MainContainer(pods.Driver)), prefix}
	}
	ofExecutor := func(pod *corev1.Pod, prefix string) source {
		return source{pod, cmp.Or(r.container, executorContainer(pod)), prefix}
	}
	var all []source
	switch {
	case r.executor != "":
		for _, pod := range pods.Executors {
			if pod.Labels[submission.LabelExecutorID] == r.executor {
				all = append(all, ofExecutor(pod, ""))
			}
		}
	case r.all:
		if pods.Driver != nil {
			all = append(all, ofDriver("driver"))
		}
		for _, pod := range pods.Executors {
			all = append(all, ofExecutor(pod, "exec-"+pod.Labels[submission.LabelExecutorID]))
		}
	case pods.Driver != nil:
		all = append(all, ofDriver(""))
	}
	return all
}

// executorContainer returns the name of the container that runs an executor. If none has Spark's name, it is the first one.
func executorContainer(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == submission.DefaultExecutorContainer {
			return c.Name
		}
	}
	return pod.Spec.Containers[0].Name
}

// printAll prints the logs that there are.
func (r *logReader) printAll(ctx context.Context, o *overview.Object) error {
	pods, err := r.pods(ctx, o)
	if err != nil {
		return err
	}
	sources := r.sources(o, pods)
	if len(sources) == 0 {
		return r.absent(o, pods)
	}
	for _, s := range sources {
		if !running(s.pod, s.container) && len(sources) > 1 {
			continue
		}
		if err := r.print(ctx, s, false); err != nil {
			return fmt.Errorf("the log of Pod %s cannot be read: %w", s.pod.Name, err)
		}
	}
	return nil
}

// absent says why there is no log.
func (r *logReader) absent(o *overview.Object, pods overview.Pods) error {
	switch {
	case r.executor != "" && len(pods.Executors) > 0:
		return fmt.Errorf("%s has no executor %s: it has %s", r.name, r.executor, idsOf(pods.Executors))
	case r.executor != "":
		return fmt.Errorf("%s has no executors whose Pods are there: Spark deletes those that end, unless spark.kubernetes.executor.deleteOnTermination is false", r.name)
	case o.DriverPod == "":
		return fmt.Errorf("%s has no driver yet (%s): -f waits for it, and %s says what keeps it", r.name, o.StateName(), r.suggest("why", r.name))
	default:
		return fmt.Errorf("the driver Pod %s of attempt %d is gone, and its log with it: %s shows what is left of it", o.DriverPod, o.Attempt, r.suggest("why", r.name))
	}
}

func idsOf(pods []*corev1.Pod) string {
	const most = 10
	text := ""
	for i, pod := range pods {
		switch {
		case i == most:
			return text + fmt.Sprintf(" and %d more", len(pods)-most)
		case i > 0:
			text += ", "
		}
		text += pod.Labels[submission.LabelExecutorID]
	}
	return text
}

// print prints one log, to its end or as it comes.
func (r *logReader) print(ctx context.Context, s source, follow bool) error {
	options := &corev1.PodLogOptions{Container: s.container, Follow: follow, Timestamps: r.timestamps}
	if r.tail >= 0 {
		options.TailLines = &r.tail
	}
	if r.since > 0 {
		options.SinceSeconds = ptr.To(max(int64(r.since/time.Second), 1))
	}
	r.lock.Lock()
	if last, ok := r.ended[s.pod.UID]; ok { // the connection ended, and not the container
		at := metav1.NewTime(last)
		options.SinceTime, options.SinceSeconds, options.TailLines = &at, nil, nil
	}
	r.lock.Unlock()
	stream, err := r.kube.CoreV1().Pods(s.pod.Namespace).GetLogs(s.pod.Name, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	if s.prefix == "" {
		_, err = io.Copy(r.Out, stream)
		return err
	}
	return r.prefixed(stream, s.prefix)
}

// prefixed prints the lines of a log after a prefix. Lines of several logs are not mixed.
func (r *logReader) prefixed(stream io.Reader, prefix string) error {
	prefix = r.Color(r.Out, cli.Dim, "["+prefix+"]") + " "
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if line[len(line)-1] != '\n' {
				line += "\n"
			}
			r.lock.Lock()
			_, writeErr := io.WriteString(r.Out, prefix+line)
			r.lock.Unlock()
			if writeErr != nil {
				return writeErr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// followAll prints logs until the application is over.
func (r *logReader) followAll(ctx context.Context, o *overview.Object) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changed := r.changes(ctx, r.found, o)
	ends := make(chan struct{}, 1)
	var group sync.WaitGroup
	said := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-ends:
		}
		now, err := r.again(ctx, r.found)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case now == nil:
			group.Wait()
			return fmt.Errorf("%s was deleted", r.name)
		}
		pods, err := r.pods(ctx, now)
		if err != nil {
			return err
		}
		waiting := r.begin(ctx, now, pods, &group, ends)
		if waiting && said != now.StateName() {
			said = now.StateName()
			fmt.Fprintln(r.ErrOut, r.Color(r.ErrOut, cli.Dim, fmt.Sprintf("Waiting for a log of %s, which is %s.", r.name, said)))
		}
		if now.Ended() && r.idle() {
			group.Wait()
			return r.outcome(now)
		}
	}
}

// begin begins to print the logs that are asked for and were not begun. It reports whether there is none.
func (r *logReader) begin(ctx context.Context, o *overview.Object, pods overview.Pods, group *sync.WaitGroup, ends chan struct{}) (waiting bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	waiting = true
	for _, s := range r.sources(o, pods) {
		if !running(s.pod, s.container) {
			continue
		}
		waiting = false
		_, ended := r.ended[s.pod.UID]
		if r.begun[s.pod.UID] || ended && overIn(s) {
			continue
		}
		if s.prefix == "" && !ended {
			fmt.Fprintln(r.ErrOut, r.Color(r.ErrOut, cli.Dim, fmt.Sprintf("Log of Pod %s, attempt %d:", s.pod.Name, o.Attempt)))
		}
		r.begun[s.pod.UID] = true
		group.Go(func() {
			err := r.print(ctx, s, true)
			r.lock.Lock()
			r.begun[s.pod.UID], r.ended[s.pod.UID] = false, r.Now()
			r.lock.Unlock()
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
				r.Warn(fmt.Sprintf("the log of Pod %s cannot be read: %v", s.pod.Name, err))
			}
			pause(ctx) // the Pod's status follows the end of its log
			select {
			case ends <- struct{}{}:
			default:
			}
		})
	}
	return waiting
}

// overIn reports whether the container of a source has ended.
func overIn(s source) bool {
	for _, status := range s.pod.Status.ContainerStatuses {
		if status.Name == s.container {
			return status.State.Terminated != nil
		}
	}
	return s.pod.Status.Phase == corev1.PodSucceeded || s.pod.Status.Phase == corev1.PodFailed
}

// idle reports whether no log is being read.
func (r *logReader) idle() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, reading := range r.begun {
		if reading {
			return false
		}
	}
	return true
}

// outcome returns the error of an application that failed.
func (r *logReader) outcome(o *overview.Object) error {
	if o.Phase == overview.Failed {
		return cli.ApplicationFailed("%s failed (%s): %s says why", r.name, o.State, r.suggest("why", r.name))
	}
	return nil
}
