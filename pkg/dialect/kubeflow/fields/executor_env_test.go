package fields_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

// Forty variables that each hold the one before twice would make a tebibyte.
func TestVariablesThatReferToEachOtherStayShort(t *testing.T) {
	environment := "env: [{name: V0, value: $(SPARK_USER)}"
	for i := range 40 {
		environment += fmt.Sprintf(", {name: V%d, value: $(V%d)$(V%d)}", i+1, i, i)
	}
	plan, err := fields.Plan(pi().Executor(environment+"]").Obj(), v1alpha1.Attempt{}, settings.NewDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan.Properties["spark.executorEnv.V3"], strings.Repeat("$(SPARK_USER)", 8); got != want {
		t.Errorf("V3 is %q, not %q", got, want)
	}
	size := 0
	for _, value := range plan.Properties {
		size += len(value)
	}
	if size > 1<<21 {
		t.Errorf("they have %d bytes", size)
	}
}
