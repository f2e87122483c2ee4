package events

import "errors"

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error of a handler as one that no repetition of the event can mend.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// IsPermanent says that no repetition of the event can mend the error.
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}
