// Package chaos runs Firesteel, with applications of all APIs, on a real control plane whose nodes kwok simulates, has
// everything around it and in it fail at random for a while, and then judges what became of the applications.
//
// The controller (alone, as two replicas that elect leaders, or two that overlap), the handlers and the sink are
// processes, killed with -9 and started again, as is kwok. Firesteel's processes reach the API server through a gateway
// (package harness/gateway) that refuses, delays and loses requests and answers, and cuts and delays watches. The sink (program
// harness/sink/failing) is a broker that refuses, hangs, and takes events that it says it did not take. Meanwhile Pods vanish, are
// deleted and lose their labels, nodes are lost and come back, applications are deleted, made again under the same name,
// edited and suspended, quotas come and go, and the handlers get events again, in another order, and forged.
//
// Two tenants subscribe to their own events: one by a subscriber that never answers, and one by a slow one.
//
// In the namespaces of calm- nothing happens to the applications but what happens to Firesteel, so each must end just
// as its kind says (kinds_test.go). In all others they must come to an end. In the end (package invariants):
//
//   - no event is lost: each transition that was ever persisted was taken by the sink, in order, without a gap, and
//     each event is what its transition says, to the byte, however often it came;
//   - no application ever had two drivers that lived at once;
//   - no application is stuck, and none was deleted that was not to be;
//   - once the applications are deleted, nothing of them is left;
//   - clients of the Kubeflow operator saw only what that operator shows, in its order (package invariants/clientview): what has
//     ended runs again where it is edited, and only then;
//   - the controller's memory stayed within its limit, and between the kills work was done.
//
// With -chaos.restore, the API server is restored from backups (restore_test.go). Package invariants says what is
// checked differently then. With -chaos.versions, the controller and the handlers of another commit take turns with today's
// (versions_test.go): no driver may die of that, and nothing may run twice. Labels and nodes stay, since the earlier
// version need not stand their loss.
//
// The test prints a seed. The flag -chaos.seed draws the same again; what meets what remains a matter of time, so that
// a failure may take several runs to come back. make test-chaos is the short run, make chaos the one of 10,000 faults.
package chaos
