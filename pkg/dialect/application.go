package dialect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Application is an application of any API: a pointer to that API's type.
type Application interface {
	metav1.Object
	runtime.Object
	// GetRecord returns status.firesteel; nil if there is none.
	GetRecord() *v1alpha1.Record
	// GetConditions returns the conditions of the status.
	GetConditions() []metav1.Condition
	// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
	GetUndecodable() string
}

// Copy returns a deep copy.
func Copy[A Application](app A) A { return app.DeepCopyObject().(A) }
