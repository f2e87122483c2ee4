package early_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestUIBehindAGateway(t *testing.T) {
	for format, want := range map[string]struct{ url, proxyBase string }{
		"https://{{$appName}}.example.com":                      {"https://pi.example.com", ""},
		"example.com/{{$appNamespace}}/{{$appName}}/{{$appId}}": {"http://example.com/team-a/pi/", "/team-a/pi/"},
	} {
		app, s := application(t, `{}`), early.NewSettings()
		s.UIGateway, s.UIURLFormat = &dialect.Gateway{Namespace: "infra", Name: "public"}, format
		plan, objects := planned(t, app, s), built(t, app, s)
		if want.proxyBase != "" { // it ends with the ID of the attempt
			want.url += plan.Names.AppID
			want.proxyBase += plan.Names.AppID
		}
		if objects.UI.URL != want.url || objects.UI.Service == nil || objects.UI.Service.Name != early.UIServiceName(app) {
			t.Errorf("%s: the UI is reached by %+v", format, objects.UI)
		}
		if got := plan.Properties["spark.ui.proxyBase"]; got != want.proxyBase {
			t.Errorf("%s: spark.ui.proxyBase is %q", format, got)
		}
		if !isRoute(objects.Owned[len(objects.Owned)-1], early.UIServiceName(app)) {
			t.Errorf("%s: owned are %v", format, objects.Owned)
		}
		if obsolete := early.ObsoleteObjects(app, s); len(obsolete) != 2 || !isRoute(obsolete[1], early.UIServiceName(app)) {
			t.Errorf("%s: deleted at the end are %v", format, obsolete)
		}
	}
}

func isRoute(object submission.Object, name string) bool {
	route, ok := object.(*unstructured.Unstructured)
	return ok && route.GetKind() == "HTTPRoute" && route.GetName() == name && route.GetNamespace() == "team-a"
}

func TestUserChoosesAnotherPathOfTheUI(t *testing.T) {
	app, s := application(t, `{sparkConf: {spark.ui.proxyBase: /mine}}`), early.NewSettings()
	s.UIGateway, s.UIURLFormat = &dialect.Gateway{Name: "public"}, "example.com/{{$appName}}"
	if got := planned(t, app, s).Properties["spark.ui.proxyBase"]; got != "/mine" {
		t.Errorf("spark.ui.proxyBase is %q", got)
	}
}

func TestUIIsReachedAtNodesBySetting(t *testing.T) {
	for kind, want := range map[corev1.ServiceType]bool{corev1.ServiceTypeNodePort: true, corev1.ServiceTypeClusterIP: false} {
		app, s := application(t, `{}`), early.NewSettings()
		s.UIServiceType, s.UINodeHost = kind, "nodes.example.com"
		if ui := built(t, app, s).UI; ui.NodePort != want || ui.NodeHost != "nodes.example.com" || ui.Service.Spec.Type != kind || ui.URL != "" {
			t.Errorf("%s is reached by %+v", kind, ui)
		}
	}
}
