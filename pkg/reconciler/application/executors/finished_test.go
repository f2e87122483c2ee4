package executors

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func TestFinishedExecutorsBeyondTheBoundAreSurplus(t *testing.T) {
	finished, launch := NewFinished(), &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "driver-0"}
	pods := map[string]*Pod{}
	for i := range MaxFinished + 3 {
		uid := types.UID(fmt.Sprintf("%03d", i))
		name := "exec-" + string(uid)
		pods[name] = anExecutor(uid).Numbered("1").Ended(start.Add(time.Duration(i) * time.Second)).Obj()
		finished.Update(nil, anExecutor(uid).Obj()) // it runs
		if more := finished.Update(anExecutor(uid).Obj(), pods[name]); more != (i >= MaxFinished) {
			t.Fatalf("after %d it reports %v", i+1, more)
		}
	}
	if finished.Update(pods["exec-000"], pods["exec-000"]) {
		t.Error("an executor ended twice")
	}
	surplus := func(now time.Time, most int) (names []string) {
		for _, pod := range finished.Surplus("team-a", launch, now, most) {
			names = append(names, pod.Name)
		}
		return names
	}
	if !finished.MoreThanStay("team-a", launch) || finished.MoreThanStay("team-b", launch) {
		t.Error("it does not report that there are more than stay")
	}
	late := start.Add(time.Hour)
	for want, got := range map[string][]string{
		"[exec-000 exec-001 exec-002]": surplus(late, 10),
		"[exec-000 exec-001]":          surplus(late, 2),
		"[exec-000]":                   surplus(start.Add(finishedAge), 10),
	} {
		if fmt.Sprint(got) != want {
			t.Errorf("surplus are %v, want %s", got, want)
		}
	}
	for range 3 {
		for _, name := range surplus(late, 1) {
			finished.Update(pods[name], nil)
		}
	}
	if got := surplus(late, 10); got != nil || finished.MoreThanStay("team-a", launch) {
		t.Errorf("afterwards %v", got)
	}
	for name, pod := range pods {
		finished.Update(pod, nil)
		delete(pods, name)
	}
	if len(finished.groups) > 0 {
		t.Errorf("it holds %v", finished.groups)
	}
}
