package actions

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Object is an object, with the resource under which the API server has it.
type Object struct {
	*unstructured.Unstructured
	Resource schema.GroupVersionResource
}

// Reference returns the name with its kind, which no other object of the namespace has.
func (o *Object) Reference() string { return o.Resource.GroupResource().String() + "/" + o.GetName() }

// Subject is an object on which a user acts.
type Subject struct {
	*Object
	// View is the same object for people.
	View *overview.Object
	// Suggest returns the command for a verb on the object. Messages name it.
	Suggest func(verb string) string
}

// Plan is an action on an object as it was read.
type Plan struct {
	// Nothing is why nothing is left to do; empty if something is.
	Nothing string
	// Effect is what the action will do.
	Effect string
	// Warning is what the user should know besides; empty if nothing.
	Warning string
	// Done is what was done, once Do has returned, as in "NAME stopped".
	Done string
	// Creates is the object that the action will create; nil if it creates none.
	Creates *Object

	do func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error)
}

// Do does it. It returns the object that it created; nil if it creates none.
func (p *Plan) Do(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
	return p.do(ctx, client, options)
}

// InvalidError reports that something that a user wrote is invalid.
type InvalidError struct{ message string }

func (e *InvalidError) Error() string { return e.message }

// Invalid returns an InvalidError. The message names what is wrong, and what to write instead.
func Invalid(format string, values ...any) error {
	return &InvalidError{fmt.Sprintf(format, values...)}
}

// patch returns a function that makes a change.
func (s *Subject) patch(change map[string]any) func(context.Context, dynamic.Interface, WriteOptions) (*Object, error) {
	return func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
		return nil, Patch(ctx, client, s.Object, options, change)
	}
}

// specType returns the type of the spec of an object.
func specType(o *overview.Object) reflect.Type {
	field, _ := reflect.TypeOf(o.Typed).Elem().FieldByName("Spec") // all kinds have it
	return field.Type
}
