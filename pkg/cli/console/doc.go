// Package console is the verb console: the pages of the console on the user's machine. They are those of pkg/console/site, for one user, with the identity
// of the kubeconfig.
//
//	commands.go  the verb and its flags
//	run.go       puts the parts together, and prints the link
//	scope.go     which namespaces and kinds the user may follow, and what is left out
//	user.go      the only user: rights by SelfSubjectAccessReviews, requests by the kubeconfig
//	serve.go     two ports of the loopback addresses, and which requests they take
//
// Other users and other pages of the machine reach the same ports. So the session begins by a link that is good for one browser, once, for some minutes, and requests
// must name the console's own host and path. The path is a secret: browsers send a cookie to each port of a host, but only to its path. The UIs of
// drivers have another port, and another name of the host: their scripts share nothing with the console. Browsers connect to that name by IPv4 or IPv6, so the
// port is open at both: no other user gets what is sent to it.
package console
