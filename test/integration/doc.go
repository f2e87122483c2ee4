// Package integration tests the controller and the handlers as processes, against a real API server and a real
// etcd. There is no node: the tests move pods through their phases, and a stand-in for the kubelet binds them and
// confirms their deletion.
//
// A test has a scene: a namespace of its own, what happens in it, and words to say what should. Tests that can share
// a controller run in parallel; those that kill it, or change its settings, run before them, one after another.
package integration
