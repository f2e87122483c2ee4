package early_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
)

func TestNamesAreTheEarlyOperators(t *testing.T) {
	app := application(t, `{}`)
	app.Name, app.Namespace, app.UID = "spark-app-example", "default", "c0ffee00-1111-4222-8333-444455556666"
	if id, ui := early.AppID(app), early.UIServiceName(app); id != "spark-app-example-675546556" || ui != "spark-app-example-ui-675546556" {
		t.Errorf("the ID is %s, the Service %s", id, ui)
	}
}

func TestLongNamesAreShortenedAndStayDistinct(t *testing.T) {
	for _, length := range []int{40, 49, 50, 52, 53, 60, 63} {
		ids, services := map[string]bool{}, map[string]bool{}
		for _, uid := range []types.UID{"one", "two"} {
			app := application(t, `{}`)
			app.Name, app.UID = strings.Repeat("x", length), uid
			id, service := early.AppID(app), early.UIServiceName(app)
			ids[id], services[service] = true, true
			if problems := validation.IsValidLabelValue(id); len(problems) > 0 {
				t.Errorf("the ID of a name of %d characters: %q", length, problems)
			}
			if problems := validation.IsDNS1035Label(service); len(problems) > 0 {
				t.Errorf("the Service of a name of %d characters: %q", length, problems)
			}
		}
		if len(ids) != 2 || len(services) != 2 {
			t.Errorf("names of %d characters: IDs %v, Services %v", length, ids, services)
		}
	}
}
