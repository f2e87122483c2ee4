package parity

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// decode reads the manifest of an application as the controller reads what the API server has of it. unknown are the application's unknown
// fields.
func decode(manifest []byte, app dialect.Application, unknown *[]string) error {
	if err := yaml.Unmarshal(manifest, app); err != nil {
		return err
	}
	if app.GetUndecodable() != "" || len(*unknown) > 0 {
		return fmt.Errorf("not all of it is understood: %s%q", app.GetUndecodable(), *unknown)
	}
	return nil
}

// build returns the objects of a plan that an application gives, with Spark's names of the objects. complete adds what the dialect adds.
func (c Case) build(plan submission.Plan, namespace string, complete func(*submission.Objects) error) ([]Object, error) {
	own, err := c.Plan(plan.SparkVersion, namespace)
	if err != nil {
		return nil, err
	}
	plan.Names = own.Names
	built, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	if err := complete(built); err != nil {
		return nil, err
	}
	return sent(built)
}
