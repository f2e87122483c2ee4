// Package receiver is the service that stores event logs of Spark as their drivers' sidecars send them.
//
//	receiver.go  the requests: who sends, what is checked, how much is under way
//	session.go   what is known of the event log of one Pod
//	cluster.go   the attempt that a token belongs to, by the API server's word
//
// Nothing that a client says chooses where something is stored, but the name of the file within the folder of its own attempt.
package receiver
