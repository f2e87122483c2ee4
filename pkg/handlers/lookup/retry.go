package lookup

import "k8s.io/client-go/util/retry"

// RetryOnConflict calls handle, and calls it again after a conflict. handle must read the object, decide and act. RetryOnConflict
// returns the last error of handle. retry.RetryOnConflict returns nil instead if handle ran out of time, as if it had succeeded.
func RetryOnConflict(handle func() error) (err error) {
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err = handle()
		return err
	})
	return err
}
