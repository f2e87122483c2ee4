// Package fakeclient has fakes of client-go with objects of Spark, and helps tests that run informers on fakes.
package fakeclient

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	clienttesting "k8s.io/client-go/testing"
)

// WatchesAll reports whether each kind that a fake client was asked to list is watched, too. Unlike an API server, it forgets what changes
// between both, so a test has to wait for this before it changes anything.
func WatchesAll(client *clienttesting.Fake) bool {
	unwatched := sets.New[schema.GroupVersionResource]()
	for _, action := range client.Actions() {
		switch action.GetVerb() {
		case "list":
			unwatched.Insert(action.GetResource())
		case "watch":
			unwatched.Delete(action.GetResource())
		}
	}
	return unwatched.Len() == 0
}
