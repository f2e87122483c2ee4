package sparksubmit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

func TestAFolderOfAClaimIsReadWhereItIsMounted(t *testing.T) {
	whole, part := sparksubmit.ClaimMount{Claim: "data", Path: "/data"}, sparksubmit.ClaimMount{Claim: "data", Path: "/jars/", SubPath: "team/jars"}
	for _, test := range []struct {
		mount               sparksubmit.ClaimMount
		claim, folder, want string
	}{
		{whole, "data", "", "/data"},
		{whole, "data", "/jars/", "/data/jars"},
		{whole, "other", "jars", ""},
		{part, "data", "team/jars", "/jars"},
		{part, "data", "team/jars/a", "/jars/a"},
		{part, "data", "team/jarsa", ""},
		{part, "data", "", ""},
		{sparksubmit.ClaimMount{Claim: "data"}, "data", "", ""},
	} {
		if got := test.mount.Reads(test.claim, test.folder); got != test.want {
			t.Errorf("%+v reads %s/%s at %q, want %q", test.mount, test.claim, test.folder, got, test.want)
		}
	}
}

func TestWhatAReceiverOfFilesNeedsOfAManifest(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		want     sparksubmit.Receiver
	}{
		"Kubeflow": {
			`{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {image: spark, imagePullSecrets: [s], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, emptyDir: {}}],
				driver: {volumeMounts: [{name: v, mountPath: /data, subPath: a}, {name: w, mountPath: /w}]}}}`,
			sparksubmit.Receiver{Namespace: "n", Image: "spark", PullSecrets: []string{"s"}, Mounts: []sparksubmit.ClaimMount{{Claim: "data", Path: "/data", SubPath: "a"}}},
		},
		"Apache": {
			`{apiVersion: spark.apache.org/v1, kind: SparkApplication, spec: {sparkConf: {spark.kubernetes.container.image: spark, spark.kubernetes.container.image.pullSecrets: "a, b",
				spark.kubernetes.driver.volumes.persistentVolumeClaim.v.options.claimName: data, spark.kubernetes.driver.volumes.persistentVolumeClaim.v.mount.path: /data},
				driverSpec: {podTemplateSpec: {spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: more}}], containers: [{volumeMounts: [{name: v, mountPath: /more}]}]}}}}}`,
			sparksubmit.Receiver{Namespace: "n", Image: "spark", PullSecrets: []string{"a", "b"}, Mounts: []sparksubmit.ClaimMount{{Claim: "data", Path: "/data"}, {Claim: "more", Path: "/more"}}},
		},
		"nothing": {`{}`, sparksubmit.Receiver{Namespace: "n"}},
	} {
		var manifest sparksubmit.Object
		if err := yaml.Unmarshal([]byte(test.manifest), &manifest); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, sparksubmit.ManifestReceiver(manifest, "n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
