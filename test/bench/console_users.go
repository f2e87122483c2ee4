package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/bench/usage"
	"github.com/firesteel-dev/firesteel/test/harness/pause"
)

const (
	consoleUsers = 50
	// One of allEach users may read all namespaces, and the others namespacesEach of them.
	allEach, namespacesEach = 5, 2
	// turns is how many pages a user opens one after the other. A page that changes is loaded again meanwhile, as browsers do.
	turns = 10
	// consoleRole is the ClusterRole of the users.
	consoleRole = "bench-console-reader"
)

// The pages that users open, one after the other.
const (
	overviewPage    = "overview"
	listPage        = "list"
	applicationPage = "application"
)

var openedPages = []string{overviewPage, listPage, applicationPage}

// consoleUser is a user with a token, a browser and a page that is open.
type consoleUser struct {
	url, token string
	// app is the application that the user looks at.
	app    objectName
	client *http.Client
	times  *pageTimes
	// turn is how long the user looks at a page.
	turn time.Duration
}

// pageTimes are how long pages took, by their names.
type pageTimes struct {
	mutex sync.Mutex
	of    map[string][]time.Duration
}

func (t *pageTimes) add(page string, took time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.of[page] = append(t.of[page], took)
}

// measureUsers has users look at pages while applications change.
func (b *bench) measureUsers(ctx context.Context, c *consoleProcess, stored *consoleObjects, of string) error {
	users, err := b.addUsers(ctx, c, stored)
	if err != nil {
		return err
	}
	defer func() {
		for _, u := range users {
			u.client.CloseIdleConnections()
		}
	}()
	first := &pageTimes{of: map[string][]time.Duration{}}
	for _, u := range users { // one after the other: their rights are reviewed
		u.times = first
		for _, page := range openedPages {
			if _, err := u.open(ctx, page); err != nil {
				return err
			}
		}
	}
	for _, page := range openedPages {
		b.AddTimes(partConsole, of, "first "+page+" of a user", first.of[page])
	}
	times := &pageTimes{of: map[string][]time.Duration{}}
	for _, u := range users {
		u.times = times
	}
	reviewsBefore, err := b.reviews(ctx)
	if err != nil {
		return err
	}
	defer b.profile(ctx, c.controller, partConsole)()
	began := time.Now()
	before, err := c.CPU()
	if err != nil {
		return err
	}
	shown, err := b.lookAtPages(ctx, users, stored)
	if err != nil {
		return err
	}
	after, err := c.CPU()
	if err != nil {
		return err
	}
	reviews, err := b.reviews(ctx)
	if err != nil {
		return err
	}
	took, loaded := time.Since(began), 0
	for _, page := range openedPages {
		_, _, p99 := b.AddTimes(partConsole, of, page+" at 50 users", times.of[page])
		p99.Below(pageGoalP99)
		loaded += len(times.of[page])
	}
	_, _, p99 := b.AddTimes(partConsole, of, "transition to screen", shown)
	p99.Below(screenGoal)
	b.Add(partConsole, of, "pages at 50 users", "pages/s", float64(loaded)/took.Seconds())
	b.Add(partConsole, of, "CPU at 50 users", "% of a core", 100*float64(after-before)/float64(took))
	b.Add(partConsole, of, "CPU for a page at 50 users", "ms", milliseconds(after-before)/float64(loaded))
	b.Add(partConsole, of, "reviews for a user", "reviews/minute", (reviews-reviewsBefore)/consoleUsers/took.Minutes())
	b.logf("%d pages and %d transitions measured", loaded, len(shown))
	return nil
}

// reviews returns how many reviews the API server has answered.
func (b *bench) reviews(ctx context.Context) (float64, error) {
	all, err := usage.Requests(ctx, b.Kube, func(label func(string) string) string { return label("resource") })
	return all["tokenreviews"] + all["subjectaccessreviews"], err
}

// addUsers creates users with tokens and rights of their own.
func (b *bench) addUsers(ctx context.Context, c *consoleProcess, stored *consoleObjects) ([]*consoleUser, error) {
	read := []string{"get", "list", "watch"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: consoleRole}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"spark.apache.org", "sparkoperator.k8s.io", "spark-operator.k8s.io", "firesteel.dev"}, Resources: []string{"*"}, Verbs: read},
		{APIGroups: []string{""}, Resources: []string{"pods", "pods/log", "events"}, Verbs: read},
	}}
	if _, err := b.Kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	home := stored.namespaces[0]
	var users []*consoleUser
	for i := range consoleUsers {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("user-%02d", i)}}
		if _, err := b.Kube.CoreV1().ServiceAccounts(home).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: account.Name}}
		of := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: consoleRole}
		app := stored.all[i]
		if i%allEach == 0 {
			binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "bench-console-" + account.Name}, Subjects: subjects, RoleRef: of}
			if _, err := b.Kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
				return nil, err
			}
		} else {
			for n := range namespacesEach {
				binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "bench-console-" + account.Name}, Subjects: subjects, RoleRef: of}
				namespace := stored.namespaces[(i+n)%len(stored.namespaces)]
				if _, err := b.Kube.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
					return nil, err
				}
			}
			app = stored.others(stored.namespaces[i%len(stored.namespaces)])[0]
		}
		token, err := b.Token(ctx, home, account.Name)
		if err != nil {
			return nil, err
		}
		users = append(users, &consoleUser{url: c.url, token: token, app: app, turn: b.window() / turns, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}})
	}
	users[0].app = stored.watched()
	return users, nil
}

// lookAtPages lets all users look at pages. The first one looks at an application until its transitions are shown; they are measured.
func (b *bench) lookAtPages(ctx context.Context, users []*consoleUser, stored *consoleObjects) (shown []time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := stored.keepChanging(ctx)
	group, looking := errgroup.WithContext(ctx)
	for i, u := range users[1:] {
		group.Go(func() error {
			if err := pause.For(looking, u.turn*time.Duration(i)/consoleUsers); err != nil {
				return ended(looking, err)
			}
			return ended(looking, u.look(looking))
		})
	}
	group.Go(func() error {
		defer cancel() // the others end with it
		var err error
		shown, err = users[0].awaitTransitions(looking, stored, max(b.count/10, 5), b.window())
		return err
	})
	return shown, errors.Join(group.Wait(), <-changed)
}

// ended returns nil if the context has ended: then requests fail.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// path returns the address of a page.
func (u *consoleUser) path(page string) string {
	switch page {
	case overviewPage:
		return "/"
	case listPage:
		return "/applications?kind=application"
	default:
		return "/applications/" + u.app.namespace + "/sparkapplications.spark.apache.org/" + u.app.name
	}
}

// open loads a page, and returns it.
func (u *consoleUser) open(ctx context.Context, page string) (string, error) {
	began := time.Now()
	answer, err := u.get(ctx, u.path(page))
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	u.times.add(page, time.Since(began))
	return string(text), nil
}

func (u *consoleUser) get(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+u.token)
	answer, err := u.client.Do(request)
	if err == nil && answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close() // it is not read
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return answer, err
}

// look opens one page after the other until the context ends.
func (u *consoleUser) look(ctx context.Context) error {
	for {
		for _, page := range openedPages {
			looking, leave := context.WithTimeout(ctx, u.turn)
			err := u.stay(looking, page, func(string) bool { return false })
			leave()
			if err != nil && (ctx.Err() != nil || looking.Err() == nil) {
				return err
			}
		}
	}
}

// streamOf finds the address of the stream in a page.
var streamOf = regexp.MustCompile(`data-hx-sse:connect="([^"]*)"`)

// stay loads a page, and again after each event of its stream, until it shows what is looked for, or the context ends.
func (u *consoleUser) stay(ctx context.Context, page string, shows func(text string) bool) error {
	text, err := u.open(ctx, page)
	if err != nil || shows(text) {
		return err
	}
	stream := streamOf.FindStringSubmatch(text)
	if stream == nil {
		return fmt.Errorf("%s has no stream", page)
	}
	answer, err := u.get(ctx, html.UnescapeString(stream[1]))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // the user leaves
	changed := make(chan struct{}, 1)          // htmx loads a page once more after the one that it loads
	go func() {
		defer close(changed)
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if !strings.HasPrefix(lines.Text(), "event: changed") {
				continue
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	for range changed {
		if text, err = u.open(ctx, page); err != nil || shows(text) {
			return err
		}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("the stream of %s has ended", page)
	}
	return ctx.Err()
}

// awaitTransitions changes the user's application again and again, and returns how long each change took from its write to the page that the user
// got without asking for it. There are at least count of them, and as many as come in a time.
func (u *consoleUser) awaitTransitions(ctx context.Context, stored *consoleObjects, count int, length time.Duration) (shown []time.Duration, err error) {
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var message string
	var at time.Time
	next := func() {
		message, at, err = stored.change(writing, u.app)
	}
	began := time.Now()
	looked := u.stay(ctx, applicationPage, func(text string) bool {
		switch {
		case message == "": // the page is open
		case strings.Contains(text, message):
			shown = append(shown, time.Since(at))
		default:
			return false
		}
		if len(shown) >= count && time.Since(began) >= length {
			return true
		}
		next()
		return err != nil
	})
	return shown, errors.Join(looked, err)
}
