package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/recorded"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// healthKey is the key of the script for a kind in Argo CD's ConfigMap.
func healthKey(o *object) string {
	gvk := o.GroupVersionKind()
	return "resource.customizations.health." + gvk.Group + "_" + gvk.Kind
}

// argoCDScripts returns the scripts that the component adds to the ConfigMap of an overlay of Argo CD.
func argoCDScripts(t *testing.T) map[string]string {
	t.Helper()
	configMap := build(t, "examples/kustomize/argo-cd").get(t, "ConfigMap", "argocd-cm")
	scripts, found, err := unstructured.NestedStringMap(configMap.Object, "data")
	if err != nil || !found {
		t.Fatalf("the ConfigMap has no data: %v", err)
	}
	return scripts
}

// assess runs a script with the libraries that Argo CD gives the scripts of its ConfigMap: no string, no math.
func assess(script string, o map[string]any) (status, message string, err error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return "", "", err
		}
	}
	l.SetGlobal("obj", luaValue(l, o))
	if err := l.DoString(script); err != nil {
		return "", "", err
	}
	result, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("the script returned %s, not a table", l.Get(-1).Type())
	}
	return lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message")), nil
}

// luaValue converts a decoded JSON value.
func luaValue(l *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := l.NewTable()
		for key, item := range value {
			table.RawSetString(key, luaValue(l, item))
		}
		return table
	case []any:
		table := l.NewTable()
		for _, item := range value {
			table.Append(luaValue(l, item))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	default:
		return lua.LNil
	}
}

func TestArgoCDAssessesObjectsInEachState(t *testing.T) {
	scripts := argoCDScripts(t)
	for _, o := range recorded.All() {
		t.Run(o.Name, func(t *testing.T) {
			script := scripts[healthKey(o.Object)]
			if script == "" {
				t.Fatalf("there is no script %s", healthKey(o.Object))
			}
			status, message, err := assess(script, o.Object.Object)
			if err != nil {
				t.Fatal(err)
			}
			if status != string(o.Health) || message == "" || !strings.Contains(message, o.Message) {
				t.Errorf("it is %s: %s, want %s: %s", status, message, o.Health, o.Message)
			}
		})
	}
}

func TestArgoCDPatchIsTheSameWithoutKustomize(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "config/argo-cd/argocd-cm.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	all.add(t, "argocd-cm.yaml", text)
	want, _, err := unstructured.NestedStringMap(all.get(t, "ConfigMap", "argocd-cm").Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	scripts := argoCDScripts(t)
	for key, script := range want {
		if scripts[key] != script {
			t.Errorf("kustomize has another %s:\n%s", key, scripts[key])
		}
	}
	if scripts["application.instanceLabelKey"] == "" {
		t.Error("the patch removes settings of the ConfigMap")
	}
}
