package integration

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/typed/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// standalone builds a SparkCluster.
type standalone struct{ cluster sparkv1.SparkCluster }

// Cluster returns a cluster with a master and two workers, on Spark 4.1.
func Cluster(name string) *standalone {
	c := &standalone{}
	c.cluster.Name = name
	c.cluster.Spec = sparkv1.ClusterSpec{
		RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.1"},
	}
	return c.Workers(2, 2, 2)
}

func (c *standalone) Obj() *sparkv1.SparkCluster { return c.cluster.DeepCopy() }

// Workers sets the initial, the minimum and the maximum number of workers.
func (c *standalone) Workers(first, least, most int32) *standalone {
	c.cluster.Spec.ClusterTolerations.InstanceConfig = sparkv1.WorkerInstanceConfig{InitWorkers: first, MinWorkers: least, MaxWorkers: most}
	return c
}

func (c *standalone) Suspended() *standalone {
	c.cluster.Spec.Suspend = true
	return c
}

func (s *env) clusters() sparkclient.SparkClusterInterface {
	return s.Spark.SparkV1().SparkClusters(s.ns)
}

func (s *env) createCluster(c *standalone) *sparkv1.SparkCluster {
	s.Helper()
	created, err := s.clusters().Create(s.Context(), c.Obj(), metav1.CreateOptions{})
	s.must(err)
	return created
}

func (s *env) editCluster(name string, change func(*sparkv1.SparkCluster)) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		c, err := s.clusters().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		change(c)
		_, err = s.clusters().Update(ctx, c, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	}))
}

// property sets a Spark property of a cluster.
func property(c *sparkv1.SparkCluster, key, value string) {
	if c.Spec.SparkConf == nil {
		c.Spec.SparkConf = map[string]string{}
	}
	c.Spec.SparkConf[key] = value
}

func (s *env) untilClusterState(name, state string) *sparkv1.SparkCluster {
	s.Helper()
	return until(s, s.clusters(), name, "be "+state, func(c *sparkv1.SparkCluster) bool {
		return c.Status.CurrentState != nil && c.Status.CurrentState.CurrentStateSummary == state
	})
}

// untilClusterCondition waits for a condition of a cluster; without a reason, for one of any.
func (s *env) untilClusterCondition(name, condition string, status metav1.ConditionStatus, reason string) *sparkv1.SparkCluster {
	s.Helper()
	return until(s, s.clusters(), name, fmt.Sprintf("have the condition %s=%s/%s", condition, status, reason), func(c *sparkv1.SparkCluster) bool {
		found := meta.FindStatusCondition(c.Status.Conditions, condition)
		return found != nil && found.Status == status && (found.Reason == reason || reason == "")
	})
}

func messageOf(c *sparkv1.SparkCluster, condition string) string {
	if found := meta.FindStatusCondition(c.Status.Conditions, condition); found != nil {
		return found.Message
	}
	return ""
}

func (s *env) statefulSet(name string) *appsv1.StatefulSet {
	s.Helper()
	set, err := s.Kube.AppsV1().StatefulSets(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return set
}

// untilSet waits until a condition on a StatefulSet holds.
func (s *env) untilSet(name, what string, holds func(*appsv1.StatefulSet) bool) *appsv1.StatefulSet {
	s.Helper()
	return until(s, s.Kube.AppsV1().StatefulSets(s.ns), name, what, holds)
}

// rollOut replaces the controller of StatefulSets, which does not run here: all Pods exist and are ready.
func (s *env) rollOut(name string) {
	s.Helper()
	s.untilSet(name, "exist", func(*appsv1.StatefulSet) bool { return true })
	s.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		set, err := s.Kube.AppsV1().StatefulSets(s.ns).Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		set.Status = appsv1.StatefulSetStatus{
			ObservedGeneration: set.Generation, Replicas: *set.Spec.Replicas, ReadyReplicas: *set.Spec.Replicas,
			CurrentRevision: "1", UpdateRevision: "1",
		}
		_, err = s.Kube.AppsV1().StatefulSets(s.ns).UpdateStatus(s.Context(), set, metav1.UpdateOptions{})
		return err
	}))
}

// untilClusterPublished waits until the sink has acknowledged a cluster's transitions.
func (s *env) untilClusterPublished(c *sparkv1.SparkCluster, states ...string) []eventlog.Entry {
	s.Helper()
	var its []eventlog.Entry
	s.untilDelivered(fmt.Sprintf("the story %v of %s", states, c.Name), func(heard []eventlog.Entry) bool {
		its = nil
		for _, d := range heard {
			again := slices.ContainsFunc(its, func(earlier eventlog.Entry) bool { return earlier.ID() == d.ID() })
			if strings.HasSuffix(d.Attributes["source"], "/"+string(c.UID)) && d.Taken && !again {
				its = append(its, d)
			}
		}
		return slices.Equal(statesOf(its), states)
	})
	return its
}

// master serves the pages of all masters of clusters, as the endpoint of their Services.
type master struct {
	server *httptest.Server

	mutex   sync.Mutex
	code    int
	workers int
	status  string
}

// newMaster answers that it has no workers.
func (s *env) newMaster() *master {
	s.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(s.hostAddress(), "0"))
	s.must(err)
	m := &master{code: http.StatusOK, status: "ALIVE"}
	m.server = httptest.NewUnstartedServer(m)
	m.server.Listener.Close()
	m.server.Listener = listener
	m.server.Start()
	s.Cleanup(m.server.Close)
	s.bindAddress()
	return m
}

// masterPod is the Pod of all masters of an env. The API server connects to addresses of Pods only.
const masterPod = "masters"

func (s *env) bindAddress() {
	s.Helper()
	pods := s.Kube.CoreV1().Pods(s.ns)
	pod, err := pods.Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: masterPod},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "master", Image: "none"}}},
	}, metav1.CreateOptions{})
	s.must(err)
	address := s.hostAddress()
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	_, err = pods.UpdateStatus(s.Context(), pod, metav1.UpdateOptions{})
	s.must(err)
}

// hostAddress returns an address that the API server connects to: no loopback.
func (s *env) hostAddress() string {
	s.Helper()
	addresses, err := net.InterfaceAddrs()
	s.must(err)
	for _, address := range addresses {
		if ip, _, err := net.ParseCIDR(address.String()); err == nil && ip.To4() != nil && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	s.Fatal("this machine has no address but that of itself")
	return ""
}

func (m *master) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	w.WriteHeader(m.code)
	fmt.Fprintf(w, `{"url":"spark://m:7077","workers":[],"aliveworkers":%d,"activeapps":[],"status":%q}`, m.workers, m.status)
}

// has sets the number of registered workers.
func (m *master) has(workers int) { m.answers(http.StatusOK, workers) }

func (m *master) answers(code, workers int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.code, m.workers = code, workers
}

// answersFor makes the master serve the page of a cluster's master.
func (s *env) answersFor(m *master, cluster string) {
	s.Helper()
	address := m.server.Listener.Addr().(*net.TCPAddr)
	_, err := s.Kube.CoreV1().Endpoints(s.ns).Create(s.Context(), &corev1.Endpoints{ //nolint:staticcheck // what the API server goes by
		ObjectMeta: metav1.ObjectMeta{Name: cluster + "-master-svc"},
		Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // as above
			Addresses: []corev1.EndpointAddress{{
				IP: address.IP.String(), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: s.ns, Name: masterPod},
			}},
			Ports: []corev1.EndpointPort{{Name: "web", Port: int32(address.Port)}},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
}

// allowProxyToMasters lets the controller ask the masters through the API server, since it runs outside of any Kubernetes cluster here.
func (s *suite) allowProxyToMasters(ctx context.Context) error {
	const name = "test-masters"
	_, err := s.Kube.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services/proxy"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.Kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: firesteel.SystemNamespace, Name: "controller"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	return err
}

// owned returns the objects that clusters own in the env, by kind and name.
func (s *env) owned() []string {
	s.Helper()
	var names []string
	for _, kind := range clusterObjectKinds {
		list, err := s.Dynamic.Resource(kind).Namespace(s.ns).List(s.Context(), metav1.ListOptions{LabelSelector: "spark.operator/spark-cluster-name"})
		s.must(err)
		for _, object := range list.Items {
			names = append(names, cmp.Or(object.GetKind(), kind.Resource)+" "+object.GetName())
		}
	}
	slices.Sort(names)
	return names
}

// untilOwned waits until clusters own exactly these objects.
func (s *env) untilOwned(names ...string) {
	s.Helper()
	var owned []string
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		owned = s.owned()
		return slices.Equal(owned, names), nil
	})
	if err != nil {
		s.Fatalf("waited for %q; there is %q", names, owned)
	}
}
