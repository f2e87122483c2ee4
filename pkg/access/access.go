package access

import "errors"

var (
	// ErrUnauthenticated means that the API server does not know the token.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrNotAllowed means that the API server refuses the user what was asked.
	ErrNotAllowed = errors.New("not allowed")
	// ErrUnavailable means that the API server gave no answer: nothing is known about the user.
	ErrUnavailable = errors.New("the API server cannot be asked")
)

// Right is something that a user may do with a resource.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for all namespaces.
	Namespace string
	// Name is empty for all objects.
	Name string
}

// String describes the right as a role has it.
func (r Right) String() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	text := r.Verb + " of " + resource
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace == "" {
		return text + " in all namespaces"
	}
	return text + " in the namespace " + r.Namespace
}

// Including returns the rights that include this one, the widest first, and the right itself last. The answer about the widest one serves
// for many questions.
func (r Right) Including() []Right {
	everywhere, inNamespace := r, r
	everywhere.Namespace, everywhere.Name, inNamespace.Name = "", "", ""
	all := []Right{everywhere}
	if r.Namespace != "" {
		all = append(all, inNamespace)
	}
	if r.Name != "" {
		all = append(all, r)
	}
	return all
}
