package main

import (
	"context"
	"slices"
	"testing"

	"go.uber.org/zap"
	"k8s.io/client-go/rest"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// During an upgrade two versions of Firesteel run side by side. With different leases both would lead the same objects.
func TestLeasesKeepTheirNamesAcrossVersions(t *testing.T) {
	want := []string{
		"github.com.firesteel-dev.firesteel.pkg.reconciler.earlyapplication.Reconciler",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.namespace.Reconciler",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.scheduledsparkapplication.apaches",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.scheduledsparkapplication.kubeflows",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.sparkapplication.Reconciler",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.sparkcluster.Reconciler",
		"github.com.firesteel-dev.firesteel.pkg.reconciler.sparkoperator.Reconciler",
	}
	t.Setenv("SYSTEM_NAMESPACE", "firesteel-system")
	ctx, cancel := context.WithCancel(logging.WithLogger(t.Context(), zap.NewNop().Sugar()))
	cancel() // the controllers are made and do not start
	ctx = filteredfactory.WithSelectors(ctx, slices.Concat(applications.PodSelectors())...)
	ctx, _ = injection.Default.SetupInformers(ctx, &rest.Config{Host: "127.0.0.1:1"})
	process := base.NewProcess((&relayFactory{sends: events.NewLimiter(), requests: events.NewLimiter()}).newRelay, base.Started{NamespaceHandler: true}, nil)
	var names []string
	for _, construct := range controllers(process, nil, nil) {
		names = append(names, construct(ctx, &configmap.ManualWatcher{}).Name)
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the leases are %q, want %q", names, want)
	}
}
