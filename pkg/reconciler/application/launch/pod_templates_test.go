package launch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// fetched answers according to the path of what is asked for.
func fetched(ctx context.Context, location podtemplate.Location) ([]byte, error) {
	switch location.Path {
	case "/there":
		return []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: template}\nspecs: {}\n"), nil
	case "/absent":
		return nil, &finding.Finding{Message: "is not there", Remedy: "put it there"}
	case "/slow":
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		return nil, errors.New("connection refused")
	}
}

func TestGiveTemplates(t *testing.T) {
	const (
		driver   = "spark.kubernetes.driver.podTemplateFile"
		executor = "spark.kubernetes.executor.podTemplateFile"
	)
	for name, test := range map[string]struct {
		driver, executor string
		after            time.Duration
		want             string
		says             []string
	}{
		"what is there is given": {driver: "/there", executor: "/there", want: "given"},
		"what is on its way is awaited": {
			driver: "/there", executor: "/slow", want: "awaited",
		},
		"what is in trouble is told of": {
			driver: "/slow", executor: "/troubled", want: "troubled",
			says: []string{executor, "could not be read yet (connection refused) and is tried again"},
		},
		"trouble of one is told whatever of the other": {
			driver: "/troubled", executor: "/slow", want: "troubled", says: []string{driver},
		},
		"what never comes ends the attempt": {
			driver: "/troubled", executor: "/there", after: time.Hour, want: "given up",
			says: []string{driver, "could not be read (connection refused)", "make sure that the operator can reach it"},
		},
		"what is not there ends the attempt at once": {
			driver: "/absent", executor: "/slow", want: "refused", says: []string{driver, "is not there: put it there"},
		},
		"what is not allowed ends the attempt at once, as does all that is refused": {
			driver: ".evil.org/there", executor: "/absent", want: "refused",
			says: []string{driver, "is not at a URL that the operator allows for templates", executor, "is not there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(Config{API: applications.Apache(nil), Templates: fetch.NewKeeper(t.Context(), fetched, func(types.NamespacedName) {})})
				allowed, _ := podtemplate.ParseAllowed("https://example.com")
				allowing := apache.New(apache.Defaults{Settings: dialect.Settings{PodTemplates: allowed}})
				plan := func() *submission.Plan {
					return &submission.Plan{Properties: map[string]string{
						driver: "https://example.com" + test.driver, executor: "https://example.com" + test.executor,
					}}
				}
				_, _ = l.addTemplates(applicationtest.ViewedIn(allowing, applicationtest.Pi().Obj()), v1alpha1.Attempt{}, plan())
				<-time.After(test.after)
				synctest.Wait()
				complete := plan()
				warnings, err := l.addTemplates(applicationtest.ViewedIn(allowing, applicationtest.Pi().Obj()), v1alpha1.Attempt{}, complete)
				var absent *TemplateUnavailable
				got, said := "", ""
				switch {
				case err == nil:
					got = "given"
					if complete.DriverTemplate.Name != "template" || complete.ExecutorTemplate == nil || len(warnings) != 2 {
						t.Errorf("plan %+v, warnings %q", complete, warnings)
					}
				case !errors.As(err, &absent):
					got, said = "refused", err.Error()
				case absent.pending && absent.problem == nil:
					got = "awaited"
				case absent.pending:
					got, said = "troubled", absent.problem.Error()
				default:
					got, said = "given up", absent.problem.Error()
				}
				if got != test.want {
					t.Errorf("the templates are %s, want %s (%v)", got, test.want, err)
				}
				for _, part := range test.says {
					if !strings.Contains(said, part) {
						t.Errorf("it says %q, and not %q", said, part)
					}
				}
			})
		})
	}
}
