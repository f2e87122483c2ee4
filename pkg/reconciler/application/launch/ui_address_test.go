package launch

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestUIIsReachedByTheServiceThatWasCreated(t *testing.T) {
	wanted := dialect.ServiceNamed("team-a", "pi-ui")
	created := wanted.DeepCopy()
	created.Spec = corev1.ServiceSpec{ClusterIP: "10.0.0.7", Ports: []corev1.ServicePort{{Port: 4040, NodePort: 30123}}}
	others := []submission.Object{
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-driver"}}, dialect.ServiceNamed("team-a", "pi-svc"),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "pi-ui"}},
	}
	for name, test := range map[string]struct {
		ui      submission.UI
		refused bool
		want    lifecycle.UI
	}{
		"in the cluster":                     {ui: submission.UI{Service: wanted}, want: lifecycle.UI{Port: 4040, Host: "10.0.0.7"}},
		"at the node of the driver":          {ui: submission.UI{Service: wanted, NodePort: true}, want: lifecycle.UI{Port: 30123}},
		"at a name of the nodes":             {ui: submission.UI{Service: wanted, NodePort: true, NodeHost: "n.example.com"}, want: lifecycle.UI{Port: 30123, Host: "n.example.com"}},
		"behind a route":                     {ui: submission.UI{Service: wanted, URL: "https://a"}, want: lifecycle.UI{Port: 4040, Host: "10.0.0.7", URL: "https://a"}},
		"not if the API server refused it":   {ui: submission.UI{Service: wanted, URL: "https://a"}, refused: true},
		"not if the API asks for no Service": {},
	} {
		t.Run(name, func(t *testing.T) {
			objects := others
			if !test.refused {
				objects = append(objects[:len(objects):len(objects)], created)
			}
			if got := uiOf(test.ui, objects); got != test.want {
				t.Errorf("it is reached at %+v, want %+v", got, test.want)
			}
		})
	}
}
