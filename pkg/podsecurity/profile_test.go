package podsecurity_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

func podOf(t *testing.T, spec string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(spec), &pod.Spec); err != nil {
		t.Fatal(err)
	}
	return &pod
}

func TestCompleteFillsInWhatIsLeftOut(t *testing.T) {
	for name, test := range map[string]struct{ given, want string }{
		"nothing is set": {
			`{containers: [{name: spark}, {name: sidecar}], initContainers: [{name: init}]}`,
			`{securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
			  containers: [
			    {name: spark, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsUser: 185}},
			    {name: sidecar, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}],
			  initContainers: [{name: init, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`,
		},
		"the Pod has a user": {
			`{securityContext: {runAsUser: 1000, fsGroup: 1000}, containers: [{name: spark}]}`,
			`{securityContext: {runAsUser: 1000, fsGroup: 1000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
			  containers: [{name: spark, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`,
		},
		"the image may be root's": {
			`{securityContext: {runAsNonRoot: false, seccompProfile: {type: Unconfined}},
			  containers: [{name: spark, securityContext: {allowPrivilegeEscalation: true, capabilities: {drop: [NET_RAW]}}}]}`,
			`{securityContext: {runAsNonRoot: false, seccompProfile: {type: Unconfined}},
			  containers: [{name: spark, securityContext: {allowPrivilegeEscalation: true, capabilities: {drop: [NET_RAW]}}}]}`,
		},
		"one container is root": {
			`{containers: [{name: spark}], initContainers: [{name: chown, securityContext: {runAsUser: 0}}]}`,
			`{securityContext: {seccompProfile: {type: RuntimeDefault}},
			  containers: [{name: spark, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsNonRoot: true, runAsUser: 185}}],
			  initContainers: [{name: chown, securityContext: {runAsUser: 0}}]}`,
		},
		"the Pod is root": {
			`{securityContext: {runAsUser: 0}, containers: [{name: spark}, {name: sidecar, securityContext: {runAsUser: 7}}]}`,
			`{securityContext: {runAsUser: 0, seccompProfile: {type: RuntimeDefault}},
			  containers: [{name: spark}, {name: sidecar, securityContext: {
			    runAsUser: 7, runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`,
		},
		"one container is privileged": {
			`{containers: [{name: spark}, {name: gpu, securityContext: {privileged: true}}, {name: mount, securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}}]}`,
			`{securityContext: {seccompProfile: {type: RuntimeDefault}},
			  containers: [{name: spark, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsNonRoot: true, runAsUser: 185}},
			    {name: gpu, securityContext: {privileged: true}}, {name: mount, securityContext: {capabilities: {add: [CAP_SYS_ADMIN]}}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod, want := podOf(t, test.given), podOf(t, strings.ReplaceAll(test.want, "\t", ""))
			podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}.Complete(&pod.Spec, 0)
			if diff := cmp.Diff(want.Spec, pod.Spec); diff != "" {
				t.Errorf("the Pod is (-want +got):\n%s", diff)
			}
			again := pod.DeepCopy()
			podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}.Complete(&again.Spec, 0)
			if diff := cmp.Diff(pod, again); diff != "" {
				t.Errorf("a completed Pod changes again:\n%s", diff)
			}
		})
	}
}

func TestCompleteChangesNothingUnlessTheProfileIsRestricted(t *testing.T) {
	pod := podOf(t, `{containers: [{name: spark}]}`)
	podsecurity.Profile{User: podsecurity.SparkUser}.Complete(&pod.Spec, 0)
	if !equality.Semantic.DeepEqual(pod, podOf(t, `{containers: [{name: spark}]}`)) {
		t.Errorf("the Pod is %v", pod.Spec)
	}
}

func TestCompleteLeavesTheUserToTheImage(t *testing.T) {
	pod := podOf(t, `{containers: [{name: spark}]}`)
	podsecurity.Profile{Restricted: true}.Complete(&pod.Spec, 0)
	if user := pod.Spec.Containers[0].SecurityContext.RunAsUser; user != nil {
		t.Errorf("the user is %d", *user)
	}
}

// A Pod without a security context of its own conforms, and one with any keeps all that it has.
func TestCompletedPodsKeepWhatTheyHadAndConformOtherwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		given := randomPod(rng)
		completed := given.DeepCopy()
		podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}.Complete(&completed.Spec, 0)
		checkKept(t, given, completed)
		// What still breaks the profile did so before.
		before := strings.Join(podsecurity.Violations(given), "; ")
		for _, violation := range podsecurity.Violations(completed) {
			reason, _, _ := strings.Cut(violation, " (")
			if !strings.Contains(before, reason) {
				t.Fatalf("%v: new violation %q beside %q", given.Spec, violation, before)
			}
		}
		if given.Spec.SecurityContext == nil && given.Spec.Containers[0].SecurityContext == nil && given.Spec.Containers[1].SecurityContext == nil {
			if left := podsecurity.Violations(completed); len(left) > 0 {
				t.Fatalf("a plain Pod breaks the profile: %q", left)
			}
		}
	}
}

func checkKept(t *testing.T, given, completed *corev1.Pod) {
	t.Helper()
	if context := given.Spec.SecurityContext; context != nil && !keeps(context, completed.Spec.SecurityContext) {
		t.Fatalf("the context %v became %v", context, completed.Spec.SecurityContext)
	}
	for i, container := range given.Spec.Containers {
		if context := container.SecurityContext; context != nil && !keeps(context, completed.Spec.Containers[i].SecurityContext) {
			t.Fatalf("the context %v became %v", context, completed.Spec.Containers[i].SecurityContext)
		}
	}
}

// keeps reports whether each field that is set stays.
func keeps[T any](given, completed *T) bool {
	return equality.Semantic.DeepDerivative(given, completed)
}

func randomPod(rng *rand.Rand) *corev1.Pod {
	maybe := func() *bool {
		if rng.IntN(2) == 0 {
			return nil
		}
		value := rng.IntN(2) == 0
		return &value
	}
	user := func() *int64 {
		if rng.IntN(2) == 0 {
			return nil
		}
		value := rng.Int64N(2) * 1000
		return &value
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}}}
	if rng.IntN(2) == 0 {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: maybe(), RunAsUser: user()}
	}
	for i := range pod.Spec.Containers {
		if rng.IntN(2) == 0 {
			continue
		}
		context := &corev1.SecurityContext{Privileged: maybe(), AllowPrivilegeEscalation: maybe(), RunAsNonRoot: maybe(), RunAsUser: user()}
		if rng.IntN(3) == 0 {
			context.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}
		}
		pod.Spec.Containers[i].SecurityContext = context
	}
	return pod
}

func TestViolationsNameWhatBreaksTheProfile(t *testing.T) {
	pod := podOf(t, `{hostNetwork: true, volumes: [{name: node, hostPath: {path: /}}], containers: [{name: spark, securityContext: {runAsUser: 0}}]}`)
	podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}.Complete(&pod.Spec, 0)
	found := strings.Join(podsecurity.Violations(pod), "; ")
	for _, part := range []string{"host namespaces (hostNetwork=true)", `volume "node"`, "runAsUser=0", `container "spark" must`} {
		if !strings.Contains(found, part) {
			t.Errorf("%q lacks %q", found, part)
		}
	}
}
