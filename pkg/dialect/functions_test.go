package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestADialectThatLacksAFunctionIsFoundWhenTheProcessStarts(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "*v1.SparkApplication lacks the function Policy") {
			t.Errorf("panicked with %q", text)
		}
	}()
	dialect.Of(dialect.Functions[*sparkv1.SparkApplication, dialect.Settings]{})
}
