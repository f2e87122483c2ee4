// Package eventlog is what the two ends say to each other that bring Spark's event log from a driver Pod into the archive:
//
//	driver --writes--> folder of the Pod <--follows-- sender (native sidecar) --HTTP, token of the Pod--> receiver (service) --> archive
//
// The sender asks which files are stored, and sends what is new in parts. A part begins where an earlier one began or ended, and may be sent again: what is
// stored already changes nothing. The token alone says whose log it is. The receiver finds the attempt from the Pod that the token is bound to.
package eventlog
