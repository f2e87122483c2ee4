// Package chaos runs Firesteel, with applications of all APIs, on a real control plane whose nodes kwok simulates. For a while it makes
// everything in and around Firesteel fail at random. Then it checks how the applications ended.
//
// The controller (alone, as two replicas that elect leaders, or two that overlap), the handlers, the webhook and the sink are
// processes that are killed with -9 and started again. So is kwok. The API server asks the webhook about each application; while that is
// down, applications pass. Firesteel's processes reach the API server through a gateway
// (package harness/gateway) that refuses, delays and loses requests and answers, and cuts and delays watches. The sink (program
// harness/sink/failing) is a broker that refuses events, hangs, and takes events but answers with an error. Meanwhile Pods vanish, are
// deleted and lose their labels; nodes are lost and return; applications are deleted, created again with the same name,
// edited, suspended and stopped; quotas are created and deleted; and the handlers get repeated, reordered and forged events.
//
// Two tenants subscribe to their own events: one by a subscriber that never answers, and one by a slow one.
//
// In the namespaces calm-*, only Firesteel has faults, so each application must end as its kind says (kinds_test.go). In the others,
// each application must end in some way. At the end (package invariants):
//
//   - no event is lost: the sink took each transition that was ever persisted, in order and without a gap; each event is what its
//     transition says, with the same bytes each time that it was sent;
//   - no application ever had two live drivers at the same time;
//   - no application is stuck, and none was deleted by mistake;
//   - once the applications are deleted, no object of them is left;
//   - each attempt is in the archive as far as its record says, with its logs as the kubelet served them, or the archive names what is missing: the
//     storage is a real server of the S3 protocol that fails, lies about success, and loses answers;
//   - clients of the Kubeflow operator saw only what that operator shows, in its order (package invariants/clientview): an ended
//     application runs again only if it is edited;
//   - the controller's memory stayed within its limit, and applications ended between the kills.
//
// With -chaos.restore, the API server is restored from backups (restore_test.go). Package invariants says what is
// checked differently then. With -chaos.versions, the controller and the handlers of another commit run in turns with today's
// (versions_test.go): no driver may be deleted for that, and nothing may run twice. Labels and nodes are not lost then, since the earlier
// version need not survive that.
//
// The test prints a seed. The flag -chaos.seed repeats the same random choices. Their timing differs, so it may take several runs to
// see a failure again. make test-chaos is the short run, make chaos the one of 10,000 faults.
package chaos
