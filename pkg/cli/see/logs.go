package see

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

type logsOptions struct {
	*verbs
	archived   archived.Flags
	executor   string
	all        bool
	attempt    int64
	follow     bool
	since      time.Duration
	tail       int64
	timestamps bool
	container  string
	// patience is how long to wait for a log that is not there yet, without follow.
	patience time.Duration
}

func (v *verbs) logsCommand() *cobra.Command {
	l := &logsOptions{verbs: v}
	command := &cobra.Command{
		Use: "logs NAME [flags]", Aliases: []string{"log"}, Short: "Print the log of a driver, or of executors",
		Long: `Print the log of the driver of an application; with -e that of an executor, with --all those of all its Pods. Of cluster/NAME, print that
of the master, with -e that of a worker by its number, from 0 on.

With -f it waits for the Pod, prints what comes, and goes on with the driver of the next attempt. It ends with the application; the exit code
is 3 if that failed.

The logs of an application that is gone, and of an attempt whose Pods are gone, are those that the archive has, if there is one.

` + target.NameHelp,
		Example: `  kubectl spark logs etl -f
  kubectl spark logs etl -e 2 --since 10m
  kubectl spark logs etl --attempt 0
  kubectl spark logs cluster/lab -e 1`,
		Args: cli.One("application"),
		RunE: func(command *cobra.Command, args []string) error {
			return l.run(command.Context(), args[0], command.Flags().Changed("attempt"))
		},
	}
	l.archived.AddTo(command)
	flags := command.Flags()
	flags.StringVarP(&l.executor, "executor", "e", "", "Print the log of the executor with this ID, as Spark numbers them; of a cluster, of the worker with this number.")
	flags.BoolVar(&l.all, "all", false, "Print the logs of driver and executors, each line after the name of its Pod.")
	flags.Int64Var(&l.attempt, "attempt", 0, "Print the log of this attempt, as long as its Pods are there or the archive has it. The first one is 0.")
	flags.BoolVarP(&l.follow, "follow", "f", false, "Go on with what comes, across restarts.")
	flags.DurationVar(&l.since, "since", 0, "Print no lines that are older, such as 10m.")
	flags.Int64Var(&l.tail, "tail", -1, "Print so many of the last lines; -1 for all.")
	flags.BoolVar(&l.timestamps, "timestamps", false, "Print the time of each line.")
	flags.StringVarP(&l.container, "container", "c", "", "Print the log of this container and not of Spark's.")
	return command
}

// LogRequest is a log that another verb prints.
type LogRequest struct {
	Namespace, Name string
	// Executor is the ID of the executor whose log is meant; empty for the driver.
	Executor string
	// Follow goes on as logs -f does.
	Follow bool
	// Patience is how long to wait for a log, without Follow.
	Patience time.Duration
}

// Log prints the log of an application, as the verb logs does.
func Log(ctx context.Context, o *cli.Options, request LogRequest) error {
	v := &verbs{Options: o, connect: func() (*cluster, error) { return connectTo(o, request.Namespace) }}
	return (&logsOptions{verbs: v, executor: request.Executor, follow: request.Follow, patience: request.Patience, tail: -1}).run(ctx, request.Name, false)
}

func (l *logsOptions) run(ctx context.Context, name string, ofAttempt bool) error {
	switch {
	case l.executor != "" && l.all:
		return cli.Usage("-e is for one executor and --all for all Pods: leave one of them out")
	case ofAttempt && l.attempt < 0:
		return cli.Usage("--attempt %d is below 0: write the number of an attempt, from 0 on", l.attempt)
	case l.since < 0:
		return cli.Usage("--since %s is in the future: write a duration such as 5m", l.since)
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	noun := nounOf(name)
	if noun == overview.Cluster && ofAttempt {
		return cli.Usage("--attempt is for applications, and %s is a cluster: leave it out", name)
	}
	found, o, err := c.Find(ctx, name, noun)
	if err != nil {
		return l.runArchived(ctx, c, name, ofAttempt, noun, err)
	}
	current := o.Attempt
	if ofAttempt {
		was, known := o.OfAttempt(l.attempt)
		if !known {
			unknown := fmt.Errorf("nothing is known of attempt %d of %s: %s lists the attempts", l.attempt, name, c.Suggest("get", name))
			return l.ofExisting(ctx, c, found, l.attempt, unknown)
		}
		o = was
	}
	r := &logReader{logsOptions: l, cluster: c, found: found, name: name, reading: map[types.UID]bool{}, done: map[types.UID]bool{}}
	if l.follow && o.Attempt == current {
		return r.followAll(ctx, o)
	}
	return r.printAll(ctx, o)
}

// nounOf returns the kind of the object whose logs are asked for: an application, unless the user writes cluster/NAME.
func nounOf(named string) overview.Kind {
	if _, _, err := target.Parse(named, overview.Application); err != nil {
		if _, _, err := target.Parse(named, overview.Cluster); err == nil {
			return overview.Cluster
		}
	}
	return overview.Application
}

// logReader reads the logs of an application or of a cluster.
type logReader struct {
	*logsOptions
	*cluster
	found *target.Found
	name  string
	// lock is held while lines are printed, and for what follows.
	lock sync.Mutex
	// reading are the Pods whose log is being read, and done those whose log was printed to its end.
	reading, done map[types.UID]bool
	// failed is why a log cannot be read, however often it is tried.
	failed error
	// ended reports whether the application has ended: what cannot be read then is tried a few times only.
	ended bool
}

// source is a container whose log is read.
type source struct {
	pod       *corev1.Pod
	container string
	// prefix begins each line; empty for none.
	prefix string
}

// check returns an error if the Pod has no such container.
func (s source) check() error {
	var names []string
	for _, c := range slices.Concat(s.pod.Spec.InitContainers, s.pod.Spec.Containers) {
		names = append(names, c.Name)
	}
	for _, c := range s.pod.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	if slices.Contains(names, s.container) {
		return nil
	}
	return fmt.Errorf("the Pod %s has no container %q: write -c with one of %s", s.pod.Name, s.container, strings.Join(names, ", "))
}

// sources returns the containers whose logs are asked for.
func (r *logReader) sources(o *overview.Object, pods overview.Pods) []source {
	if o.Kind == overview.Cluster {
		return r.sourcesOfCluster(pods)
	}
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

// sourcesOfCluster returns the containers of a cluster whose logs are asked for: the master first.
func (r *logReader) sourcesOfCluster(pods overview.Pods) (all []source) {
	for _, role := range []string{resources.Master, resources.Worker} {
		for _, pod := range pods.Executors {
			id := workerID(r.found.GetName(), pod.Name)
			if pod.Labels[resources.LabelRole] != role || !r.all && id != r.executor {
				continue
			}
			prefix := ""
			if r.all {
				prefix = prefixOf(true, id)
			}
			all = append(all, source{pod, cmp.Or(r.container, role), prefix})
		}
	}
	return all
}

// kindCluster is the kind of clusters.
const kindCluster = "SparkCluster"

// workerID returns the number of a worker of a cluster by the name of its Pod; empty for another Pod.
func workerID(cluster, pod string) string {
	id, ok := strings.CutPrefix(pod, resources.WorkerName(cluster)+"-")
	if !ok {
		return ""
	}
	return id
}

// prefixOf returns what is written before the lines of a log, by the ID of an executor or the number of a worker; empty for a driver or a master.
func prefixOf(ofCluster bool, id string) string {
	switch {
	case ofCluster && id == "":
		return resources.Master
	case ofCluster:
		return resources.Worker + "-" + id
	case id == "":
		return "driver"
	default:
		return "exec-" + id
	}
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
	o, pods, err := r.awaited(ctx, o)
	if err != nil {
		return err
	}
	sources := r.sources(o, pods)
	if len(sources) == 0 {
		return r.fromArchive(ctx, o, r.absent(o, pods))
	}
	for _, s := range sources {
		if err := s.check(); err != nil {
			return err
		}
		if !running(s.pod, s.container) && len(sources) > 1 {
			continue
		}
		if err := r.print(ctx, s); err != nil {
			return fmt.Errorf("the log of Pod %s cannot be read: %w", s.pod.Name, err)
		}
	}
	return nil
}

// awaited returns the application with its Pods once there is a log to print, or when the patience is over.
func (r *logReader) awaited(ctx context.Context, o *overview.Object) (*overview.Object, overview.Pods, error) {
	pods, err := r.pods(ctx, o)
	if r.patience == 0 || err != nil || r.hasLog(o, pods) {
		return o, pods, err
	}
	waiting, stop := context.WithTimeout(ctx, r.patience)
	defer stop()
	changed := r.changes(waiting, r.found, o)
	for {
		select {
		case <-waiting.Done():
			return o, pods, ctx.Err()
		case <-changed:
		}
		now, err := r.again(ctx, r.found)
		switch {
		case err != nil:
			return o, pods, err
		case now == nil:
			return o, pods, fmt.Errorf("%s was deleted", r.name)
		}
		if o = now; o.Ended() {
			stop()
		}
		if pods, err = r.pods(ctx, o); err != nil || r.hasLog(o, pods) {
			return o, pods, err
		}
	}
}

// hasLog reports whether one of the logs that are asked for has begun.
func (r *logReader) hasLog(o *overview.Object, pods overview.Pods) bool {
	return slices.ContainsFunc(r.sources(o, pods), func(s source) bool { return running(s.pod, s.container) })
}

// absent says why there is no log.
func (r *logReader) absent(o *overview.Object, pods overview.Pods) error {
	switch {
	case o.Kind == overview.Cluster && r.executor != "":
		return fmt.Errorf("%s has no Pod of a worker %s: kubectl get pods -l %s shows what there is", r.name, r.executor, o.PodSelector())
	case o.Kind == overview.Cluster:
		return fmt.Errorf("%s has no Pod of its master (%s): -f waits for it", r.name, o.StateName())
	case r.executor != "" && len(pods.Executors) > 0:
		return fmt.Errorf("%s has no executor %s: it has %s", r.name, r.executor, idsOf(pods.Executors))
	case r.executor != "":
		return fmt.Errorf("%s has no executors whose Pods are there: Spark deletes those that end, unless spark.kubernetes.executor.deleteOnTermination is false", r.name)
	case o.DriverPod == "":
		return fmt.Errorf("%s has no driver yet (%s): -f waits for it, and %s says what keeps it", r.name, o.StateName(), r.Suggest("why", r.name))
	default:
		return fmt.Errorf("the driver Pod %s of attempt %d is gone, and its log with it: %s shows what is left of it", o.DriverPod, o.Attempt, r.Suggest("why", r.name))
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

// options are those of the first request for a log.
func (r *logReader) options(s source) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: s.container, Timestamps: r.timestamps}
	if r.tail >= 0 {
		options.TailLines = &r.tail
	}
	if r.since > 0 {
		options.SinceSeconds = ptr.To(max(int64(r.since/time.Second), 1))
	}
	return options
}

func (r *logReader) open(ctx context.Context, s source, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return r.Kube.CoreV1().Pods(s.pod.Namespace).GetLogs(s.pod.Name, options).Stream(ctx)
}

// print prints what there is of one log.
func (r *logReader) print(ctx context.Context, s source) error {
	stream, err := r.open(ctx, s, r.options(s))
	if err != nil {
		return err
	}
	defer stream.Close()
	if s.prefix == "" {
		_, err = io.Copy(r.Out, stream)
		return err
	}
	return lines(stream, func(line string) error { return r.write(s, line) })
}

// lines calls a function for each line, with its end. The last one may have none.
func lines(stream io.Reader, each func(line string) error) error {
	in := bufio.NewReader(stream)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			if err := each(line); err != nil {
				return err
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

// write prints lines after the prefix of their source. Lines of several logs are not mixed.
func (r *logReader) write(s source, line string) error {
	if s.prefix != "" {
		line = r.prefixed(s.prefix, line)
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	_, err := io.WriteString(r.Out, line)
	return err
}
