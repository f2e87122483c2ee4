package lookup

import "k8s.io/client-go/util/retry"

// RetryOnConflict has a handler read, decide and act, and does so anew where it acted on what had changed meanwhile. It returns the
// last error. That of retry.RetryOnConflict is nil where the last try ran out of time, which would pass for a deed done.
func RetryOnConflict(handle func() error) (err error) {
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err = handle()
		return err
	})
	return err
}
