package events

import (
	"encoding/json"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pi is the application of most tests.
var pi = application("pi")

// testCluster is a standalone cluster.
var testCluster = Object{
	Group: "spark.apache.org", Resource: "sparkclusters", Kind: KindCluster,
	Namespace: "team-a", Name: "qa", UID: "uid-of-qa",
}

// application returns an application whose uid is made from its name.
func application(name string) Object {
	return Object{
		Group:     "spark.apache.org",
		Resource:  "sparkapplications",
		Kind:      "SparkApplication",
		Namespace: "team-a",
		Name:      name,
		UID:       types.UID("uid-of-" + name),
	}
}

func microTime(text string) metav1.MicroTime {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return metav1.NewMicroTime(at)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wire(t *testing.T, event cloudevents.Event) string {
	t.Helper()
	text, err := json.Marshal(event)
	must(t, err)
	return string(text)
}
