// Package integration tests the controller and the handlers as processes, against a real API server and a real
// etcd. There is no node: the tests move pods through their phases, and a stand-in for the kubelet binds them and
// confirms their deletion.
//
// Each test has an env: a namespace, and methods that act in it and wait for results. Tests that can share a controller run in
// parallel on one control plane. A test that kills a controller or changes settings has a control plane to itself.
//
// The harness is in test/harness, the invariants in test/invariants.
package integration
