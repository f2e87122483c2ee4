package features

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestPythonHasItsModuleItsScratchSpaceAndItsVolume(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	volume := makeVolume(t, c, "python-0-driver-pvc-0", corev1.ReadWriteOncePod) // the mode that Spark asks for
	c.Apply(t, "testdata/python.yaml")
	c.Await(t, "python", "kept", kept)
	expectLog(t, c, "python-0-driver",
		"executors say ['good morning, ada', 'good morning, grace']",
		"the driver's scratch space is ['tmpfs']",
		"an executor's scratch space is ['tmpfs']",
		"the claim's volume has kept")
	driver := c.AwaitPods(t, "spark-role=driver", "one", one)[0]
	expectScratch(t, driver, "spark-kubernetes-driver")
	expectScratch(t, c.AwaitPods(t, executors, "one", one)[0], "spark-kubernetes-executor")
	if !slices.ContainsFunc(driver.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "python-0-driver-pvc-0"
	}) {
		t.Errorf("the driver's volumes are %+v", driver.Spec.Volumes)
	}
	// By its whole name: kubectl remembers for a while that the early API, which other tests add and remove, has a kind of the short one.
	c.Run(t, "", "kubectl", "-n", c.Namespace, "delete", "sparkapplications.spark.apache.org", "python")
	expectGone(t, c, volume)
}

// makeVolume makes a volume that only the claim of that name can have. No provisioner is needed.
func makeVolume(t *testing.T, c *cluster.Cluster, claim string, mode corev1.PersistentVolumeAccessMode) string {
	t.Helper()
	volume, err := c.Kube.CoreV1().PersistentVolumes().Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: c.Namespace},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              "made-beforehand",
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{mode},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef:                      &corev1.ObjectReference{Namespace: c.Namespace, Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{
				Path: "/tmp/" + c.Namespace, Type: new(corev1.HostPathDirectoryOrCreate),
			}},
		},
	}, metav1.CreateOptions{})
	cluster.Must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		err := c.Kube.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("delete volume: %v", err)
		}
	})
	return volume.Name
}

// expectGone checks that a volume goes, which it does with its claim, and the claim with the driver's Pod.
func expectGone(t *testing.T, c *cluster.Cluster, volume string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.Kube.CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Errorf("the volume %s is still there", volume)
	}
}

func expectScratch(t *testing.T, pod corev1.Pod, container string) {
	t.Helper()
	const volume = "spark-local-dir-1"
	inMemory := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == volume && v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
	})
	if !inMemory || !mounts(containerOf(t, pod, container), volume, "/scratch") {
		t.Errorf("%s has no scratch space in memory: %+v", pod.Name, pod.Spec)
	}
}

func one(pods []corev1.Pod) bool { return len(pods) == 1 }
