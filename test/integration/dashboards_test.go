package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/observability"
)

// exported is a series that a program exports.
type exported struct {
	metric string
	labels map[string]string
	value  float64 // of a gauge
}

// seriesOf returns the series of a page of metrics.
func (s *env) seriesOf(page string) []exported {
	s.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	s.must(err)
	var all []exported
	for name, family := range families {
		if family.GetType() == dto.MetricType_HISTOGRAM {
			name += "_bucket"
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			all = append(all, exported{name, labels, metric.GetGauge().GetValue()})
		}
	}
	return all
}

func TestEveryPanelOfTheDashboardsHasData(t *testing.T) {
	alone(t)
	s := newEnv(t)
	r := s.replica()
	s.untilAnswered(r.probes+"/readiness", http.StatusOK)
	s.createCluster(Cluster("c"))
	s.untilClusterState("c", "Submitted")
	s.create(App("running"))
	s.run("running", 0)
	s.runThrough(restarted, "pi")
	panels, err := observability.Panels("../..", observability.Everything(s.ns))
	s.must(err)
	var lacking []string
	err = wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		_, page := s.fetch(r.metrics) // the sink has an event before the controller has its answer
		lacking = s.panelsWithoutSeries(panels, s.seriesOf(page))
		return len(lacking) == 0, nil
	})
	if err != nil {
		t.Error(strings.Join(lacking, "\n"))
	}
	if len(panels) < 30 {
		t.Errorf("there are %d panels only", len(panels))
	}
}

// panelsWithoutSeries says for which selectors of panels there is no series.
func (s *env) panelsWithoutSeries(panels []observability.Panel, series []exported) (lacking []string) {
	s.Helper()
	for _, panel := range panels {
		for _, query := range panel.Queries {
			selectors, err := observability.Selectors(query)
			s.must(err)
			for _, selector := range selectors {
				found := slices.ContainsFunc(series, func(e exported) bool { return selector.Matches(e.metric, e.labels) })
				if !found && !observability.ZeroWithoutData(query) {
					lacking = append(lacking, fmt.Sprintf("%s, %s: no series for %s%v", panel.Dashboard, panel.Title, selector.Metric, selector.Matchers))
				}
			}
		}
	}
	return lacking
}
