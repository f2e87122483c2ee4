package see

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/archived"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// runArchived prints an application as the archive has it. gone is why the cluster does not.
func (g *getOptions) runArchived(ctx context.Context, c *cluster, name string, gone error) error {
	app, err := g.archived.Find(ctx, c.REST, c.Kube, c.Namespace, name, gone, overview.Application, overview.Cluster)
	if err != nil {
		return err
	}
	found, o, err := app.Object(ctx)
	if err != nil {
		return err
	}
	if !g.output.Own() {
		return g.output.Print(o.Source, g.Out)
	}
	attempt, err := app.Attempt(archived.LastAttempt)
	if err != nil {
		return err
	}
	s := &screen{verbs: g.verbs, object: o, now: g.Now()}
	s.head(found.Reference())
	s.field("Archived", s.archivedText(attempt))
	for _, missing := range attempt.Missing {
		s.field("Missing", oneLine(missing.What+": "+missing.Why, 2*maxWidth))
	}
	s.pods(app.Pods(ctx, o, attempt))
	s.rest(c, name)
	return nil
}

// archivedText says when an attempt was archived, and which logs there are.
func (s *screen) archivedText(attempt *api.Attempt) string {
	var size int64
	for _, log := range attempt.Logs {
		size += log.Bytes
	}
	text := fmt.Sprintf("%d logs with %d bytes", len(attempt.Logs), size)
	if attempt.Archived == nil {
		return "not to its end; " + text
	}
	return fmt.Sprintf("%s (%s ago); %s", attempt.Archived.UTC().Format(time.RFC3339), s.age(*attempt.Archived), text)
}

// runArchived explains an application, or a cluster, by what the archive has of it.
func (w *whyOptions) runArchived(ctx context.Context, c *cluster, name string, gone error) error {
	app, err := w.archived.Find(ctx, c.REST, c.Kube, c.Namespace, name, gone, overview.Application, overview.Cluster)
	if err != nil {
		return err
	}
	_, o, err := app.Object(ctx)
	if err != nil {
		return err
	}
	attempt, err := app.Attempt(archived.LastAttempt)
	if err != nil {
		return err
	}
	return w.show(c, name, o, o.Facts(w.Now(), app.Pods(ctx, o, attempt), app.Events(ctx, attempt), app.LogTail(ctx, attempt)))
}

// runArchived prints logs of an application, or of a cluster, that is gone.
func (l *logsOptions) runArchived(ctx context.Context, c *cluster, name string, ofAttempt bool, noun overview.Kind, gone error) error {
	app, err := l.archived.Find(ctx, c.REST, c.Kube, c.Namespace, name, gone, noun)
	if err != nil {
		return err
	}
	number := int64(archived.LastAttempt)
	if ofAttempt {
		number = l.attempt
	}
	return l.printArchived(ctx, app, number)
}

// fromArchive prints the logs of an attempt whose Pods are gone. gone is the error if the archive has none.
func (r *logReader) fromArchive(ctx context.Context, o *overview.Object, gone error) error {
	if o.Kind == overview.Application && o.DriverPod == "" {
		return gone // it has no logs yet
	}
	attempt := o.Attempt
	if o.Kind == overview.Cluster {
		attempt = archived.LastAttempt // the archive has one, whatever was edited
	}
	return r.ofExisting(ctx, r.cluster, r.found, attempt, gone)
}

// ofExisting prints the logs of an attempt of an application that exists, from the archive.
func (l *logsOptions) ofExisting(ctx context.Context, c *cluster, found *target.Found, attempt int64, gone error) error {
	app, err := l.archived.OfExisting(ctx, c.REST, c.Kube, found, gone)
	if err != nil {
		return err
	}
	return l.printArchived(ctx, app, attempt)
}

// printArchived prints logs of an attempt from the archive.
func (l *logsOptions) printArchived(ctx context.Context, app *archived.Application, number int64) error {
	attempt, err := app.Attempt(number)
	if err != nil {
		return err
	}
	logs := slices.DeleteFunc(slices.Clone(attempt.Logs), func(log api.Log) bool { return !l.asksFor(app, log) })
	if len(logs) == 0 {
		return fmt.Errorf("the archive has no such log of attempt %d: it has %s", attempt.Attempt, cmp.Or(namesOf(attempt.Logs), "none"))
	}
	for _, log := range logs {
		if err := l.printStored(ctx, app, attempt, log); err != nil {
			return err
		}
	}
	return nil
}

// asksFor reports whether the flags ask for a log.
func (l *logsOptions) asksFor(app *archived.Application, log api.Log) bool {
	if l.container != "" && l.container != log.Container {
		return false
	}
	id, mains := memberID(app, log.Pod), []string{archived.RoleDriver, archived.RoleExecutor, archived.RoleMaster, archived.RoleWorker, ""}
	isMain := slices.Contains(mains, log.Role) || l.container != ""
	switch {
	case l.executor != "":
		return isMain && id == l.executor
	case l.all:
		return isMain
	default:
		return isMain && id == ""
	}
}

// memberID returns the ID of an executor, or the number of a worker, by the name of its Pod; empty for a driver and a master.
func memberID(app *archived.Application, pod string) string {
	if app.Kind == kindCluster {
		return workerID(app.Name, pod)
	}
	return executorID(pod)
}

// executorID returns the ID of an executor by the name of its Pod; empty for another Pod.
func executorID(pod string) string {
	at := strings.LastIndex(pod, "-exec-")
	if at < 0 {
		return ""
	}
	return pod[at+len("-exec-"):]
}

func namesOf(logs []api.Log) string {
	const most = 10
	var names []string
	for _, log := range logs[:min(len(logs), most)] {
		names = append(names, log.Pod+"/"+log.Container)
	}
	if len(logs) > most {
		names = append(names, fmt.Sprintf("%d more", len(logs)-most))
	}
	return strings.Join(names, ", ")
}

// printStored prints one log.
func (l *logsOptions) printStored(ctx context.Context, app *archived.Application, attempt *api.Attempt, log api.Log) error {
	if missing := cmp.Or(log.Missing, map[bool]string{true: "its beginning"}[log.BeginningMissing]); missing != "" {
		l.Warn(fmt.Sprintf("the log of Pod %s, container %s, is not whole: %s", log.Pod, log.Container, missing))
	}
	options := api.LogOptions{Timestamps: l.timestamps, Tail: l.tail}
	if l.since > 0 {
		options.Since = l.Now().Add(-l.since)
	}
	stream, err := app.Open(ctx, attempt, log, options)
	if err != nil {
		return err
	}
	defer stream.Close()
	if !l.all {
		_, err = io.Copy(l.Out, stream)
	} else {
		prefix := prefixOf(app.Kind == kindCluster, memberID(app, log.Pod))
		err = lines(stream, func(line string) error {
			_, err := io.WriteString(l.Out, l.prefixed(prefix, line))
			return err
		})
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the log of Pod %s was broken off by the console, whose log says why", log.Pod)
	}
	return err
}

// prefixed returns a line after the name of its source.
func (l *logsOptions) prefixed(prefix, line string) string {
	if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	return l.Color(l.Out, cli.Dim, "["+prefix+"]") + " " + line
}
