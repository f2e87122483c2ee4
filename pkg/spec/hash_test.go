package spec_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// before is a type of one version of a library, and after of a newer one.
type (
	before struct {
		Name  string            `json:"name"`
		Count int               `json:"count"`
		Bare  *bare             `json:"bare"`
		Flags map[string]string `json:"flags"`
	}
	after struct {
		Flags map[string]string `json:"flags,omitempty"`
		Added string            `json:"added"`
		Bare  *bare             `json:"bare,omitempty"`
		Lists []string          `json:"lists"`
		Deep  struct {
			Also *int `json:"also"`
		} `json:"deep"`
		Count int    `json:"count,omitempty"`
		Title string `json:"name,omitempty"`
	}
	bare struct {
		On bool `json:"on,omitempty"`
	}
)

func hashOf(t *testing.T, value any) string {
	t.Helper()
	hash, err := spec.Hash(value)
	if err != nil || len(hash) != 16 {
		t.Fatalf("%q: %v", hash, err)
	}
	return hash
}

func TestANewerLibraryChangesNoHash(t *testing.T) {
	for name, test := range map[string]struct {
		before before
		after  after
	}{
		"nothing is said": {},
		"some is said":    {before{Name: "a", Bare: &bare{}}, after{Title: "a", Bare: &bare{}, Lists: []string{}}},
		"all is said": {
			before{Name: "a", Count: 7, Bare: &bare{On: true}, Flags: map[string]string{"x": "", "a": "<&>"}},
			after{Title: "a", Count: 7, Bare: &bare{On: true}, Flags: map[string]string{"a": "<&>", "x": ""}},
		},
	} {
		if was, now := hashOf(t, test.before), hashOf(t, test.after); was != now {
			t.Errorf("%s: the hash was %s and is %s", name, was, now)
		}
	}
}

// What an edit changes must change the hash, too.
func TestEditsChangeTheHash(t *testing.T) {
	security := func(s *corev1.SecurityContext) corev1.Container {
		return corev1.Container{Name: "c", SecurityContext: s}
	}
	volume := func(s corev1.VolumeSource) corev1.Volume { return corev1.Volume{Name: "v", VolumeSource: s} }
	limit := func(text string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(text)} }
	for name, values := range map[string][]any{
		"a pointer to zero":     {security(nil), security(&corev1.SecurityContext{}), security(&corev1.SecurityContext{RunAsUser: ptr.To[int64](0)})},
		"a pointer to false":    {corev1.PodSpec{}, corev1.PodSpec{AutomountServiceAccountToken: ptr.To(false)}},
		"a pointer to nothing":  {volume(corev1.VolumeSource{}), volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})},
		"a pointer to no text":  {corev1.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("")}},
		"an entry of a list":    {[]string{}, []string{""}, []string{"", ""}, []string{"a", "b"}, []string{"b", "a"}, []string{"a,b"}},
		"an entry of a map":     {map[string]string{}, map[string]string{"a": ""}, map[string]string{"a": "b"}, map[string]string{"a\":\"b": ""}},
		"a quantity":            {limit("0"), limit("1"), limit("1m"), corev1.ResourceList{}},
		"another field's value": {metav1.ObjectMeta{Name: "a"}, metav1.ObjectMeta{Namespace: "a"}, metav1.ObjectMeta{GenerateName: "a"}},
		"raw JSON":              {json.RawMessage(`{"a":1}`), json.RawMessage(`{"a":2}`), json.RawMessage(`{"a":"1"}`), json.RawMessage(`{"a":[1]}`)},
	} {
		seen := map[string]int{}
		for i, value := range values {
			if other, ok := seen[hashOf(t, value)]; ok {
				t.Errorf("%s: %d has the hash of %d", name, i, other)
			}
			seen[hashOf(t, value)] = i
		}
	}
}

func TestOrderAndSpellingChangeNoHash(t *testing.T) {
	for name, same := range map[string][2]any{
		"names of raw JSON": {json.RawMessage(`{"b":{"y":1,"x":null},"a":1}`), json.RawMessage(` {"a":1,"b":{"y":1}}`)},
		"a quantity":        {corev1.ResourceList{"memory": resource.MustParse("1Gi")}, corev1.ResourceList{"memory": resource.MustParse("1024Mi")}},
		"a pointer":         {&before{Name: "a"}, before{Name: "a"}},
	} {
		if hashOf(t, same[0]) != hashOf(t, same[1]) {
			t.Errorf("%s: another hash", name)
		}
	}
}

func TestTheEncoding(t *testing.T) {
	encoded, err := spec.Encode(struct {
		metav1.TypeMeta `json:",inline"`
		Zero            int
		Z               *int64  `json:"z"`
		A               []any   `json:"a"`
		Text            string  `json:"text"`
		Secret          string  `json:"-"`
		Bytes           []byte  `json:"bytes"`
		Real            float64 `json:"real"`
		When            *metav1.Time
	}{
		TypeMeta: metav1.TypeMeta{Kind: "K"}, Z: ptr.To[int64](0), A: []any{nil, 1, "b", map[string]any{"d": nil, "c": true}}, Text: "ü\n",
		Secret: "no", Bytes: []byte("b"), Real: 1.5, When: &metav1.Time{},
	})
	if err != nil || string(encoded) != `{"a":[null,1,"b",{"c":true}],"bytes":"Yg==","kind":"K","real":1.5,"text":"ü\n","z":0}` {
		t.Errorf("%s, %v", encoded, err)
	}
}
