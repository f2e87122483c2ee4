// Package target finds the object that a user names: an application, a cluster or a schedule of any API that the cluster serves. It also
// lists the objects of a kind, and waits for an object (until.go).
//
//	etl                                        the object with that name; an error if several kinds have one
//	sparkapp.spark.apache.org/etl, cluster/c   the same with its kind, as kubectl writes it
//
// It needs no discovery: it sends requests for all kinds, and the API server refuses those for kinds that it does not have.
package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Found is an object that was found.
type Found = actions.Object

// NameHelp explains the argument NAME in help texts.
const NameHelp = `NAME is the name of the object, or KIND/NAME if several kinds have one of that name:
sparkapp.spark.apache.org/etl, sparkapp.sparkoperator.k8s.io/etl, cluster/c, schedule/nightly.`

// Find reads the object that a user names. nouns are the kinds that it may have; none for all.
func Find(ctx context.Context, client dynamic.Interface, namespace, named string, nouns ...overview.Kind) (*Found, *overview.Object, error) {
	kinds, name, err := Parse(named, nouns...)
	if err != nil {
		return nil, nil, err
	}
	answers := make([]answer, len(kinds))
	var group sync.WaitGroup
	for i, kind := range kinds {
		group.Go(func() { answers[i] = get(ctx, client, kind, namespace, name) })
	}
	group.Wait()
	found, err := choose(answers, namespace, name, nouns)
	if err != nil {
		return nil, nil, err
	}
	object, err := overview.Read(found.Unstructured)
	return found, object, err
}

// answer is the API server's answer for one kind.
type answer struct {
	found *Found
	err   error
	// absent reports whether the API server does not have the kind.
	absent bool
}

func get(ctx context.Context, client dynamic.Interface, kind actions.Kind, namespace, name string) answer {
	found, err := kind.Get(ctx, client, namespace, name)
	switch {
	case err == nil:
		return answer{found: found}
	case actions.NotServed(err):
		return answer{absent: true}
	case apierrors.IsNotFound(err):
		return answer{}
	default:
		return answer{err: err}
	}
}

// EachServed calls a function with each kind that the API server has, and so reads objects of many kinds. If the function fails for some, the first
// error is a warning. If it fails for all, or there are no kinds, EachServed returns an error.
func EachServed(ctx context.Context, kinds []actions.Kind, warn func(string), read func(actions.Kind) error) error {
	served := false
	var refused error
	for _, kind := range kinds {
		err := read(kind)
		switch {
		case err == nil:
			served = true
		case actions.NotServed(err):
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			refused = cmp.Or(refused, err)
		}
	}
	switch {
	case !served:
		return cmp.Or(refused, NoneServed("Spark applications"))
	case refused != nil:
		warn(refused.Error())
	}
	return nil
}

// notFoundError means that there is no such object.
type notFoundError struct{ error }

// IsNotFound reports whether Find found no object.
func IsNotFound(err error) bool {
	var absent *notFoundError
	return errors.As(err, &absent)
}

// NoneServed returns the error of a command if the API server has none of its kinds.
func NoneServed(what string) error {
	return fmt.Errorf("this cluster has none of the CustomResourceDefinitions of %s: apply them, or choose another --context", what)
}

func choose(answers []answer, namespace, name string, nouns []overview.Kind) (*Found, error) {
	var found []*Found
	var failed error
	absent := 0
	for _, a := range answers {
		switch {
		case a.found != nil:
			found = append(found, a.found)
		case a.absent:
			absent++
		case a.err != nil && failed == nil:
			failed = a.err
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var references []string
		for _, f := range found {
			references = append(references, f.Reference())
		}
		return nil, actions.Invalid("%q is the name of %d objects: write one of %s", name, len(found), strings.Join(references, ", "))
	case failed != nil:
		return nil, failed
	case absent == len(answers):
		return nil, &notFoundError{NoneServed("Spark applications")}
	default:
		return nil, &notFoundError{fmt.Errorf("there is no %s %q in the namespace %s: kubectl spark list -A shows what there is", listed(nouns), name, namespace)}
	}
}

func listed(nouns []overview.Kind) string {
	var names []string
	for _, noun := range nouns {
		names = append(names, string(noun))
	}
	if len(names) == 0 {
		names = []string{string(overview.Application), string(overview.Cluster), string(overview.Schedule)}
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Parse returns the kinds that the object which a user names may have, and its name. nouns are those that it may have; none for all.
func Parse(named string, nouns ...overview.Kind) ([]actions.Kind, string, error) {
	return parse(named, actions.KindsOf(nouns...))
}

// parse returns the kinds that the object may have, and its name.
func parse(named string, kinds []actions.Kind) ([]actions.Kind, string, error) {
	kind, name, qualified := strings.Cut(named, "/")
	if !qualified {
		kind, name = "", named
	}
	if name == "" || strings.Contains(name, "/") {
		return nil, "", actions.Invalid("%q is no name: write NAME or KIND/NAME, such as sparkapp.spark.apache.org/etl", named)
	}
	if kind == "" {
		return kinds, name, nil
	}
	noun, group, _ := strings.Cut(strings.ToLower(kind), ".")
	fitting := slices.DeleteFunc(slices.Clone(kinds), func(k actions.Kind) bool {
		return !k.Named(noun) || group != "" && group != k.Group && !slices.ContainsFunc(k.Versions, func(v string) bool { return group == v+"."+k.Group })
	})
	if len(fitting) == 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.String())
		}
		return nil, "", actions.Invalid("%q is no kind that this command knows: write one of %s", kind, strings.Join(names, ", "))
	}
	return fitting, name, nil
}
