package early_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

func TestTheUserStartsTheDriver(t *testing.T) {
	for given, want := range map[string]*dialect.UserDriver{
		`{}`:                       nil,
		`{mode: cluster}`:          nil,
		`{driver: {podName: a}}`:   nil,
		`{submissionByUser: true}`: {},
		`{submissionByUser: true, mode: cluster, driver: {podName: a}}`:           {},
		`{mode: in-cluster-client, driver: {podName: a}}`:                         {PodName: "a"},
		`{submissionByUser: true, mode: in-cluster-client, driver: {podName: a}}`: {PodName: "a"},
	} {
		app := application(t, given)
		got := early.New(early.NewSettings()).UserDriver(app)
		if (got == nil) != (want == nil) || got != nil && (got.PodName != want.PodName || len(got.Objects) != 1) {
			t.Errorf("%s: %+v, want %+v", given, got, want)
		}
		if refused := early.Policy(app, early.NewSettings()).Refused; refused != nil {
			t.Errorf("%s is refused: %s", given, refused.Message)
		}
	}
}

func TestTheUserStartsTheDriverBehindTheServiceOfTheUI(t *testing.T) {
	app := application(t, `{submissionByUser: true, sparkConf: {spark.ui.port: "4045"}}`)
	settings := early.NewSettings()
	settings.UIServiceType = corev1.ServiceTypeClusterIP
	service := early.UserDriver(app, settings).Objects[0].(*corev1.Service)
	if service.Name != early.UIServiceName(app) || service.Spec.Ports[0].Port != 4045 || service.Spec.Type != corev1.ServiceTypeClusterIP ||
		service.Spec.Selector[early.LabelAppID] != early.AppID(app) || early.API.UserDriverID(app) != early.AppID(app) {
		t.Errorf("the Service is %+v %+v", service.ObjectMeta, service.Spec)
	}
	obsolete := early.ObsoleteObjects(app, settings)
	if len(obsolete) != 1 || obsolete[0].GetName() != service.Name {
		t.Errorf("at the end it deletes %v", obsolete)
	}
}

// What a spec says about what to run concerns no driver that the user starts.
func TestTheUserStartsTheDriverWhateverElseTheSpecSays(t *testing.T) {
	app := application(t, `{submissionByUser: true, driver: {image: "kubespark/spark-driver:v2.2.0-kubernetes-0.5.0", cores: x, podName: a},
		logsLocation: /var/log, deps: {jarFiles: ["file:///a_2.10.jar"]}, sparkConf: {spark.kubernetes.resourceStagingServer.uri: "http://a"}}`)
	app.Annotations = map[string]string{dialect.AnnotationActiveDeadline: "1s", dialect.AnnotationDriverStart: "1s"}
	app.UnknownFields = []string{`unknown field "spec.drivers"`}
	policy := early.Policy(app, early.NewSettings())
	if policy.Refused != nil || policy.ActiveDeadline > 0 || policy.Timeouts.DriverStart > 0 || policy.Executors.Requested() || policy.ReportNoExecutorsAfter > 0 ||
		policy.Retain != lifecycle.RetainAlways {
		t.Errorf("the policy is %+v", policy)
	}
	sentences := early.Warnings(app, early.NewSettings()).Sentences()
	wantSentence(t, sentences, "spec.driver.podName", "in-cluster-client")
	wantSentence(t, sentences, dialect.AnnotationActiveDeadline, "has no effect")
	wantSentence(t, sentences, dialect.AnnotationDriverStart, "has no effect")
	wantSentence(t, sentences, `unknown field "spec.drivers"`)
	if len(sentences) != 4 {
		t.Errorf("warnings are %q", sentences)
	}
	app.Name = strings.Repeat("a", 64)
	if refused := early.Policy(app, early.NewSettings()).Refused; refused == nil || !strings.Contains(refused.Message, "metadata.name") {
		t.Errorf("a name that no Service can have is refused by %+v", refused)
	}
}

func TestTheUserStartsAnotherDriverIfAnEditNamesIt(t *testing.T) {
	hash := func(given string) string { return early.SpecOf(application(t, given)).Hash(spec.HashVersion) }
	byUser := hash(`{submissionByUser: true}`)
	for given, same := range map[string]bool{
		`{submissionByUser: true, mainClass: Other, driver: {image: "spark:4.0.0", podName: a}}`: true,
		`{submissionByUser: true, mode: cluster}`:                                                true,
		`{}`: false,
		`{mode: in-cluster-client, driver: {podName: a}}`: false,
	} {
		if (hash(given) == byUser) != same {
			t.Errorf("%s is the same: %t, want %t", given, !same, same)
		}
	}
	if hash(`{mode: in-cluster-client, driver: {podName: a}}`) == hash(`{mode: in-cluster-client, driver: {podName: b}}`) {
		t.Error("another Pod is no edit")
	}
}

func TestTheUserStartsADriverThatIsNeverTakenForAnother(t *testing.T) {
	app := application(t, `{submissionByUser: true}`)
	pods := []corev1.Pod{{}, {}}
	if driver, others := early.New(early.NewSettings()).PickDriver(app, &firesteelv1alpha1.Record{}, pods); driver != nil || len(others) > 0 {
		t.Errorf("it adopts %v and deletes %v", driver, others)
	}
}

func TestTheUserStartsTheDriverBehindARoute(t *testing.T) {
	app := application(t, `{submissionByUser: true}`)
	settings := early.NewSettings()
	settings.UIGateway, settings.UIURLFormat = &dialect.Gateway{Namespace: "gateways", Name: "g"}, "https://spark.example.com/{{$appName}}"
	driver := early.UserDriver(app, settings)
	if len(driver.Objects) != 2 || driver.UI.URL != "https://spark.example.com/pi" {
		t.Errorf("it has %v at %+v", driver.Objects, driver.UI)
	}
	sentences := early.Warnings(app, settings).Sentences()
	wantSentence(t, sentences, "spec.sparkConf[spark.ui.proxyBase]", "below the path /pi", "--conf spark.ui.proxyBase=/pi --conf spark.ui.proxyRedirectUri=/")
	if len(sentences) != 1 {
		t.Errorf("warnings are %q", sentences)
	}
	if sentences = early.Warnings(application(t, `{submissionByUser: true, sparkConf: {spark.ui.proxyBase: /pi}}`), settings).Sentences(); len(sentences) > 0 {
		t.Errorf("although the property is set, warnings are %q", sentences)
	}
	settings.UIURLFormat = "https://{{$appName}}.example.com/"
	if sentences = early.Warnings(app, settings).Sentences(); len(sentences) > 0 {
		t.Errorf("without a path, warnings are %q", sentences)
	}
	settings.UIURLFormat = "https://spark.example.com:port/"
	if driver = early.UserDriver(app, settings); len(driver.Objects) != 1 {
		t.Errorf("without a URL it has %v", driver.Objects)
	}
	if sentences := early.Warnings(app, settings).Sentences(); len(sentences) != 1 {
		t.Errorf("warnings are %q", sentences)
	}
}

func TestTheUserStartsTheDriverOfANewApplication(t *testing.T) {
	app := application(t, `{submissionByUser: true}`)
	d := early.New(early.NewSettings())
	record, _ := lifecycle.Decide(nil, d.Policy(app), lifecycle.Observation{LaunchHeld: &lifecycle.Cause{Reason: "AwaitsUserDriver", Message: "Start it."}}, submitTime.Time)
	d.Project(app, record, dialect.Facts{Now: submitTime.Add(time.Second), Policy: d.Policy(app)})
	if app.Status.AppState.State != "NEW" || app.Status.DriverInfo.PodName != "" || app.Status.AppID != early.AppID(app) || !app.Status.SubmissionTime.IsZero() {
		t.Errorf("the status is %+v", app.Status)
	}
}

func TestThePortOfAUserDriversUIThatIsNoneIsNamed(t *testing.T) {
	for _, port := range []string{"http", "99999", "0"} {
		app := application(t, `{submissionByUser: true, sparkConf: {spark.ui.port: "`+port+`"}}`)
		wantSentence(t, early.Warnings(app, early.NewSettings()).Sentences(), "spec.sparkConf[spark.ui.port]", port, "is no port", "from 1 to 65535")
	}
}
