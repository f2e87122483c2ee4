package quota

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

var start = time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		all[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return all
}

func container(requests, limits corev1.ResourceList) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
}

func TestUsageIsThatOfTheAPIServer(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := container(list("cpu", "500m"), nil)
	sidecar.RestartPolicy = &always
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want Usage
	}{
		"requests": {
			corev1.PodSpec{Containers: []corev1.Container{container(list("cpu", "1", "memory", "1Gi"), nil)}},
			Usage{"cpu": 1000, "requests.cpu": 1000, "memory": 1 << 30 * 1000, "requests.memory": 1 << 30 * 1000},
		},
		"limits are requests where none are set": {
			corev1.PodSpec{Containers: []corev1.Container{container(list("cpu", "1"), list("cpu", "2", "nvidia.com/gpu", "3"))}},
			Usage{"cpu": 1000, "requests.cpu": 1000, "limits.cpu": 2000, "requests.nvidia.com/gpu": 3000},
		},
		"a sidecar is added": {
			corev1.PodSpec{Containers: []corev1.Container{container(list("cpu", "1"), nil), container(list("cpu", "250m"), nil)}},
			Usage{"cpu": 1250, "requests.cpu": 1250},
		},
		"of init containers the largest counts": {
			corev1.PodSpec{Containers: []corev1.Container{container(list("cpu", "1"), nil)}, InitContainers: []corev1.Container{
				container(list("cpu", "3"), nil), container(list("cpu", "2"), nil),
			}},
			Usage{"cpu": 3000, "requests.cpu": 3000},
		},
		"a native sidecar is added": {
			corev1.PodSpec{Containers: []corev1.Container{container(list("cpu", "1"), nil)}, InitContainers: []corev1.Container{sidecar}},
			Usage{"cpu": 1500, "requests.cpu": 1500},
		},
		"ephemeral storage, huge pages": {
			corev1.PodSpec{Containers: []corev1.Container{container(nil, list("ephemeral-storage", "1k", "hugepages-2Mi", "4Mi"))}},
			Usage{
				"ephemeral-storage": 1000000, "requests.ephemeral-storage": 1000000, "limits.ephemeral-storage": 1000000,
				"hugepages-2Mi": 4 << 20 * 1000, "requests.hugepages-2Mi": 4 << 20 * 1000,
			},
		},
	} {
		test.want["pods"], test.want["count/pods"] = 1000, 1000
		if got := usageOf(&corev1.Pod{Spec: test.spec}); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestUsageIsBounded(t *testing.T) {
	many := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1e30")}
	many[corev1.ResourceName("a.example.com/"+strings.Repeat("x", maxName))] = resource.MustParse("1")
	for i := range 100 {
		many[corev1.ResourceName(fmt.Sprintf("example.com/%d", i))] = resource.MustParse("1")
	}
	got := usageOf(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container(many, nil)}}})
	for name := range got {
		if len(name) > maxName {
			t.Errorf("a name has %d bytes", len(name))
		}
	}
	if len(got) != maxNames || got["cpu"] != 1000 || got["memory"] != maxAmount || got["count/pods"] != 1000 {
		t.Errorf("it has %d names: %v", len(got), got)
	}
	if sum := plus(times(maxAmount, maxAmount), -5); sum != maxAmount {
		t.Errorf("a sum is %d", sum)
	}
}

func TestPodsCountAgainstTheQuotasWhoseScopesMatch(t *testing.T) {
	selects := func(operator corev1.ScopeSelectorOperator, values ...string) *corev1.ScopeSelector {
		return &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values},
		}}
	}
	plain, urgent := v1alpha1.QuotaPods{}, v1alpha1.QuotaPods{PriorityClass: "urgent"}
	for name, test := range map[string]struct {
		spec           corev1.ResourceQuotaSpec
		plain, urgency bool
	}{
		"none":           {corev1.ResourceQuotaSpec{}, true, true},
		"BestEffort":     {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}}, false, false},
		"NotTerminating": {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotTerminating}}, true, true},
		"Terminating":    {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}}, false, false},
		"PriorityClass":  {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopePriorityClass}}, false, true},
		"a class":        {corev1.ResourceQuotaSpec{ScopeSelector: selects(corev1.ScopeSelectorOpIn, "urgent")}, false, true},
		"another class":  {corev1.ResourceQuotaSpec{ScopeSelector: selects(corev1.ScopeSelectorOpIn, "other")}, false, false},
		"not a class":    {corev1.ResourceQuotaSpec{ScopeSelector: selects(corev1.ScopeSelectorOpNotIn, "urgent")}, true, false},
		"no class":       {corev1.ResourceQuotaSpec{ScopeSelector: selects(corev1.ScopeSelectorOpDoesNotExist)}, true, false},
		"two": {
			corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort}, ScopeSelector: selects(corev1.ScopeSelectorOpExists)},
			false, true,
		},
		"of volume claims": {corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{"VolumeAttributesClass"}}, false, false},
	} {
		q := Read(&corev1.ResourceQuota{Spec: test.spec})
		if q.matches(plain) != test.plain || q.matches(urgent) != test.urgency {
			t.Errorf("%s: a plain Pod %t, an urgent one %t", name, q.matches(plain), q.matches(urgent))
		}
	}
}

// app asks for a driver and a number of executors of 1 CPU each, and has waited for some minutes.
func app(name string, executors int64, waited time.Duration) Application {
	each := Usage{"pods": 1000, "requests.cpu": 1000}
	return Application{UID: types.UID(name), Claim: &v1alpha1.QuotaClaim{
		Since: metav1.NewMicroTime(start.Add(-waited)), Pods: []v1alpha1.QuotaPods{{Count: 1, Usage: each}, {Count: executors, Usage: each}},
	}}
}

func pods(hard, used int64) Quota {
	return Quota{Name: "team", Hard: Usage{"pods": hard * 1000}, Used: Usage{"pods": used * 1000}}
}

func TestTheQueueIsByPriorityAndWaitAndSmallerOnesPassForAWhile(t *testing.T) {
	const overtake = 10 * time.Minute
	urgent := app("urgent", 2, 0)
	urgent.Claim.Priority = 5
	for name, test := range map[string]struct {
		used    int64
		waiting []Application
		ready   string
	}{
		"all that fit, in the order of waiting":       {0, []Application{app("c", 2, 1), app("b", 2, 2), app("a", 2, 3)}, "a b c"},
		"the UID decides between equals":              {7, []Application{app("b", 2, 1), app("a", 2, 1)}, "a"},
		"the priority comes first":                    {7, []Application{app("a", 2, 3), urgent}, "urgent"},
		"a smaller one passes the head":               {8, []Application{app("head", 2, time.Minute), app("small", 1, 0)}, "small"},
		"it does not if the head has waited too long": {8, []Application{app("head", 2, overtake), app("small", 1, 0)}, ""},
		"nor before the head in the room of both":     {7, []Application{app("head", 2, time.Minute), app("small", 1, 0)}, "head"},
		"what never fits blocks none":                 {0, []Application{app("large", 20, time.Hour), app("small", 1, 0)}, "small"},
		"nothing is free":                             {12, []Application{app("a", 0, 0)}, ""},
	} {
		n := Namespace{Quotas: []Quota{pods(10, test.used)}, Waiting: test.waiting}
		ready := n.Queue(start, overtake).Ready()
		if got := strings.Trim(fmt.Sprint(ready), "[]"); got != test.ready {
			t.Errorf("%s: %s may launch, want %s", name, got, test.ready)
		}
		for _, a := range test.waiting {
			if decision := n.Queue(start, overtake).Decide(a); decision.Fits != slices.Contains(ready, a.UID) {
				t.Errorf("%s: the decision about %s: %+v", name, a.UID, decision)
			}
		}
	}
}

func TestDecisionSaysWhatLacksAndThePlace(t *testing.T) {
	n := Namespace{Quotas: []Quota{pods(10, 8)}, Waiting: []Application{app("a", 5, 2), app("b", 5, 1)}}
	decision := n.Queue(start, time.Minute).Decide(app("b", 5, 1))
	if got := fmt.Sprint(decision.Lacks[0]); got != "pods (6 requested, 2 available of 10)" || decision.Place != 2 || decision.Queue != 2 {
		t.Errorf("%s, %+v", got, decision)
	}
	if decision := n.Queue(start, time.Minute).Decide(app("large", 10, 0)); !decision.TooLarge || decision.Place != 0 {
		t.Errorf("of one that never fits: %+v", decision)
	}
	for lack, want := range map[Lack]string{
		{Resource: "requests.cpu", Requested: 3000, Available: 2000}:                            "too many cores (3.000 cores requested, 2.000 available)",
		{Resource: "memory", Requested: 3712 << 20 * 1000, Available: 2 << 30 * 1000}:           "too much memory (3712Mi requested, 2048Mi available)",
		{Resource: "requests.nvidia.com/gpu", Requested: 2000, Available: 1000}:                 "too much of requests.nvidia.com/gpu (2 requested, 1 available)",
		{Resource: "limits.memory", Requested: 1500 * 1000, Available: 1024 * 1000, Hard: 5000}: "too much of limits.memory (1500 requested, 1Ki available)",
	} {
		if got := lack.Refusal(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRoomCountsWhatIsReservedAndNotUsedYet(t *testing.T) {
	for name, test := range map[string]struct {
		used int64
		app  Application
		free int64
	}{
		"nothing exists":               {0, Application{}, 7},
		"the driver exists":            {1, Application{Driver: true}, 7},
		"an executor, too":             {2, Application{Driver: true, Executors: 1}, 7},
		"all":                          {3, Application{Driver: true, Executors: 2}, 7},
		"more than planned":            {5, Application{Driver: true, Executors: 4}, 5},
		"the quota is older":           {0, Application{Driver: true, Executors: 2}, 7},
		"the driver has ended":         {2, Application{Over: true, Executors: 2}, 8},
		"Pods of others are used, too": {6, Application{Driver: true, Executors: 2}, 4},
	} {
		test.app.Claim = app("a", 2, 0).Claim
		n := Namespace{Quotas: []Quota{pods(10, test.used)}, Reserved: []Application{test.app}}
		if got := n.room()[0]["pods"]; got != test.free*1000 {
			t.Errorf("%s: %d free, want %d", name, got, test.free*1000)
		}
	}
}

func TestExecutorsLackWhatTheQuotaDoesNotHave(t *testing.T) {
	running := app("a", 2, 0)
	running.Driver = true
	if lacks := (Namespace{Quotas: []Quota{pods(10, 1)}}).ExecutorsLack(running); lacks != nil {
		t.Errorf("with room it lacks %v", lacks)
	}
	if lacks := (Namespace{Quotas: []Quota{pods(1, 1)}}).ExecutorsLack(running); len(lacks) != 1 {
		t.Errorf("without room it lacks %v", lacks)
	}
	running.Executors = 2
	if lacks := (Namespace{Quotas: []Quota{pods(3, 3)}}).ExecutorsLack(running); lacks != nil {
		t.Errorf("with all its executors it lacks %v", lacks)
	}
}

// TestReservationsNeverExceedTheQuota has several replicas decide on caches of any age. Reservations are ordered, as the API server orders
// writes, and a replica confirms its own when its cache has it. It may know more of later ones, or not.
func TestReservationsNeverExceedTheQuota(t *testing.T) {
	for seed := range int64(300) {
		rng := rand.New(rand.NewSource(seed))
		hard, overtake := 3+rng.Int63n(20), time.Duration(rng.Int63n(3))*time.Minute
		var all, reserved []Application
		for i := range 2 + rng.Intn(12) {
			all = append(all, app(fmt.Sprint(i), rng.Int63n(5), time.Duration(rng.Int63n(5))*time.Minute))
		}
		launched := map[types.UID]bool{}
		order := uint64(0)
		known := func() []Application { // a cache of any age: a prefix of the reservations
			return reserved[:rng.Intn(len(reserved)+1)]
		}
		for range 60 {
			candidate := all[rng.Intn(len(all))]
			if slices.ContainsFunc(reserved, func(a Application) bool { return a.UID == candidate.UID }) {
				continue
			}
			cached := known()
			waiting := slices.DeleteFunc(slices.Clone(all), func(a Application) bool {
				return slices.ContainsFunc(cached, func(b Application) bool { return b.UID == a.UID })
			})
			n := Namespace{Quotas: []Quota{pods(hard, 0)}, Waiting: waiting, Reserved: cached}
			if !n.Queue(start, overtake).Decide(candidate).Fits {
				continue
			}
			order++
			candidate.Order = order
			reserved = append(reserved, candidate)
			if rng.Intn(3) == 0 {
				continue // it is confirmed later
			}
			for _, own := range reserved {
				if launched[own.UID] {
					continue
				}
				seen := slices.DeleteFunc(slices.Clone(reserved), func(a Application) bool { return a.Order > own.Order && rng.Intn(2) == 0 })
				if (Namespace{Quotas: []Quota{pods(hard, 0)}, Reserved: seen}).Confirm(own).Fits {
					launched[own.UID] = true
				}
			}
		}
		total := int64(0)
		for _, a := range all {
			if launched[a.UID] {
				total += 1 + a.Claim.Pods[1].Count
			}
		}
		if total > hard {
			t.Fatalf("seed %d: %d Pods are launched in a quota for %d", seed, total, hard)
		}
	}
}

func TestLargeAmountsFit(t *testing.T) {
	memory := func(hard string) Quota {
		return Read(&corev1.ResourceQuota{
			Spec: corev1.ResourceQuotaSpec{Hard: list("requests.memory", hard)}, Status: corev1.ResourceQuotaStatus{Used: list("requests.memory", "9Ti")},
		})
	}
	asks := app("a", 0, 0)
	asks.Claim.Pods[0].Usage = Usage{"requests.memory": 6 << 40 * 1000}
	for hard, want := range map[string]bool{"16Ti": true, "14Ti": false, "1e30": true} {
		if decision := (Namespace{Quotas: []Quota{memory(hard)}}).Queue(start, time.Minute).Decide(asks); decision.Fits != want {
			t.Errorf("6Ti in a quota of %s: %+v", hard, decision)
		}
	}
	asks.Claim.Pods[0].Usage["requests.memory"] = maxAmount
	n := Namespace{Quotas: []Quota{memory("14Ti")}, Reserved: []Application{asks, asks, asks}}
	if free := n.room()[0]["requests.memory"]; free >= 0 {
		t.Errorf("a difference overflows: %d", free)
	}
	if decision := (Namespace{Quotas: []Quota{memory("1e30")}, Reserved: n.Reserved}).Queue(start, time.Minute).Decide(app("b", 0, 0)); !decision.Fits {
		t.Errorf("a quota without a limit: %+v", decision)
	}
}

func TestAnEditedReservationDoesNotCountAgainstItself(t *testing.T) {
	own := app("a", 4, 0)
	n := Namespace{Quotas: []Quota{pods(6, 0)}, Reserved: []Application{own}}
	if decision := n.Queue(start, time.Minute).Decide(app("a", 5, 0)); !decision.Fits {
		t.Errorf("it does not fit: %+v", decision)
	}
	if decision := n.Queue(start, time.Minute).Decide(app("b", 1, 0)); decision.Fits {
		t.Errorf("another one fits: %+v", decision)
	}
}

func TestOneWhoseLaunchWasRefusedTakesNoRoom(t *testing.T) {
	refused := app("refused", 2, 2*time.Hour)
	n := Namespace{Quotas: []Quota{pods(4, 0)}, Waiting: []Application{refused, app("behind", 2, 0)}}
	if ready := n.Queue(start, time.Hour).Ready(); fmt.Sprint(ready) != "[refused]" {
		t.Errorf("%s may launch", ready)
	}
	n.Waiting[0].RefusedUntil = start.Add(time.Minute)
	queue := n.Queue(start, time.Hour)
	if ready := queue.Ready(); fmt.Sprint(ready) != "[behind]" || !queue.Ends().Equal(start.Add(time.Minute)) {
		t.Errorf("%s may launch until %s", ready, queue.Ends())
	}
	n.Waiting[0].Claim.Pods[1].Count = 3
	n.Quotas[0].Used["pods"] = 1000
	if ready := n.Queue(start, time.Hour).Ready(); fmt.Sprint(ready) != "[behind]" {
		t.Errorf("%s may pass it", ready)
	}
}

// Decisions with a queue that is kept are the same as with a new queue.
func TestAQueueDecidesAsOneThatIsWalkedAgain(t *testing.T) {
	for seed := range int64(200) {
		rng := rand.New(rand.NewSource(seed))
		n := Namespace{Quotas: []Quota{pods(12, rng.Int63n(4))}}
		queue := n.Queue(start, 2*time.Minute)
		for i := range 12 {
			next := app(fmt.Sprintf("%02d", i), rng.Int63n(14), time.Duration(12-i+rng.Intn(3))*time.Minute/4)
			if rng.Intn(4) == 0 {
				next.RefusedUntil = start.Add(time.Minute)
			}
			before := queue.Decide(next)
			n.Waiting = append(n.Waiting, next)
			if !queue.Append(next) {
				queue = n.Queue(start, 2*time.Minute)
			}
			again := n.Queue(start, 2*time.Minute)
			if want := again.Decide(next); fmt.Sprint(before) != fmt.Sprint(want) {
				t.Fatalf("seed %d: %+v, want %+v", seed, before, want)
			}
			if fmt.Sprint(queue.Ready(), queue.Ends()) != fmt.Sprint(again.Ready(), again.Ends()) {
				t.Fatalf("seed %d: %s until %s, want %s until %s", seed, queue.Ready(), queue.Ends(), again.Ready(), again.Ends())
			}
		}
	}
}

func TestCompleteApplicationsReserveNoMoreExecutors(t *testing.T) {
	shrunk := app("a", 4, 0)
	shrunk.Driver, shrunk.Executors, shrunk.Complete = true, 1, true
	n := Namespace{Quotas: []Quota{pods(2, 2)}, Reserved: []Application{shrunk}}
	if free := n.room()[0]["pods"]; free != 0 || n.ExecutorsLack(shrunk) != nil {
		t.Errorf("%d is free, and it lacks %v", free, n.ExecutorsLack(shrunk))
	}
}
