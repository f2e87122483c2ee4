package dialect_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// secret is what no message may have.
const secret = "hunter2hunter2"

var kinds = map[string]struct {
	dialect dialect.Dialect
	app     func() dialect.Application
	spec    func(dialect.Application) any
	conf    func(dialect.Application) map[string]string
}{
	"spark.apache.org": {
		dialect: apache.New(apache.Defaults{}),
		app: func() dialect.Application {
			return &sparkv1.SparkApplication{ObjectMeta: named(), Spec: sparkv1.ApplicationSpec{
				MainClass: "Main", Jars: "local:///a.jar", RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.1"},
				SparkConf: map[string]string{"spark.kubernetes.container.image": "spark:4.1.1"},
			}}
		},
		spec: func(app dialect.Application) any { return &app.(*sparkv1.SparkApplication).Spec },
		conf: func(app dialect.Application) map[string]string { return app.(*sparkv1.SparkApplication).Spec.SparkConf },
	},
	"spark-operator.k8s.io": {
		dialect: early.New(early.Settings{}),
		app: func() dialect.Application {
			return &earlyv1alpha1.SparkApplication{ObjectMeta: named(), Spec: earlyv1alpha1.SparkApplicationSpec{
				MainClass: "Main", MainApplicationFile: "local:///a.jar", SparkConf: map[string]string{},
				Driver: earlyv1alpha1.DriverSpec{Image: "spark:4.1.1"}, Executor: earlyv1alpha1.ExecutorSpec{Image: "spark:4.1.1"},
			}}
		},
		spec: func(app dialect.Application) any { return &app.(*earlyv1alpha1.SparkApplication).Spec },
		conf: func(app dialect.Application) map[string]string {
			return app.(*earlyv1alpha1.SparkApplication).Spec.SparkConf
		},
	},
	"sparkoperator.k8s.io": {
		dialect: kubeflow.New(settings.Defaults{}),
		app: func() dialect.Application {
			return &v1beta2.SparkApplication{ObjectMeta: named(), Spec: v1beta2.SparkApplicationSpec{
				MainClass: "Main", MainApplicationFile: "local:///a.jar", SparkVersion: "4.1.1", Image: "spark:4.1.1",
				SparkConf: map[string]string{},
			}}
		},
		spec: func(app dialect.Application) any { return &app.(*v1beta2.SparkApplication).Spec },
		conf: func(app dialect.Application) map[string]string { return app.(*v1beta2.SparkApplication).Spec.SparkConf },
	},
}

// generation is that of the last application. Another spec has another one.
var generation int64

func named() metav1.ObjectMeta {
	generation++
	return metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Generation: generation}
}

// messagesOf returns all messages about an application before its launch, as conditions have them.
func messagesOf(d dialect.Dialect, app dialect.Application) []string {
	texts := d.Warnings(app).Sentences()
	if refused := d.Policy(app).Refused; refused != nil {
		texts = append(texts, refused.Message)
	}
	if err := built(d, app); err != nil {
		texts = append(texts, d.Refusals(app, err).String(), err.Error())
	}
	text, err := json.Marshal(app)
	if err != nil {
		panic(err)
	}
	redactor := redact.For(text)
	for i := range texts {
		texts[i] = dialect.Clipped(redactor.Text(texts[i]))
	}
	return texts
}

func built(d dialect.Dialect, app dialect.Application) error {
	plan, err := d.Plan(app, v1alpha1.Attempt{})
	if err != nil {
		return err
	}
	objects, err := submission.Build(plan)
	if err != nil {
		return err
	}
	return d.Complete(app, objects)
}

// properties are all that the code names.
func properties(t *testing.T) []string {
	t.Helper()
	var keys []string
	property := regexp.MustCompile(`"(spark\.[A-Za-z0-9.]+)"`)
	for _, folder := range []string{"../submission", "."} {
		if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range property.FindAllStringSubmatch(string(text), -1) {
				keys = append(keys, found[1])
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(keys)
	if keys = slices.Compact(keys); len(keys) < 100 {
		t.Fatalf("found only %q", keys)
	}
	return keys
}

func TestSecretsAreInNoMessageAboutAProperty(t *testing.T) {
	keys := properties(t)
	for api, kind := range kinds {
		t.Run(api, func(t *testing.T) {
			messages := 0
			check := func(key, value string) {
				app := kind.app()
				kind.conf(app)[key] = value
				for _, text := range messagesOf(kind.dialect, app) {
					messages++
					if strings.Contains(text, secret) {
						t.Errorf("%s %q is told: %s", key, value, text)
					}
				}
			}
			for _, key := range keys {
				if strings.HasSuffix(key, ".") {
					check(key+"PASSWORD", secret+" ~")
					check(key+"token.mount.path", secret+" ~")
					key += "x"
				}
				check(key, "a token: "+secret+" ~")
				check(key, "https://me:"+secret+"@example.com:port/%zz x")
				check(key, "-Dstore.password="+secret)
			}
			if messages < len(keys) {
				t.Errorf("only %d messages came of %d properties", messages, len(keys))
			}
		})
	}
}

func TestSecretsAreInNoMessageAboutAField(t *testing.T) {
	for api, kind := range kinds {
		t.Run(api, func(t *testing.T) {
			leaves, messages := 0, 0
			for _, value := range []string{"https://me:" + secret + "@example.com:port/%zz x", "token=" + secret} {
				fields := len(leavesOf(kind.spec(kind.app())))
				for i := range fields {
					app := kind.app()
					leaf := leavesOf(kind.spec(app))[i]
					leaf.set(value)
					leaves++
					for _, text := range messagesOf(kind.dialect, app) {
						messages++
						if strings.Contains(text, secret) {
							t.Errorf("%s %q is told: %s", leaf.path, value, text)
						}
					}
				}
			}
			if leaves < 100 || messages < 50 {
				t.Errorf("only %d messages came of %d fields", messages, leaves)
			}
		})
	}
}

// leaf is a field that holds a text, which set gives it.
type leaf struct {
	path string
	set  func(string)
}

// leavesOf are the texts of a spec: of lists and maps one entry. Pods' own fields are left to the API server, which refuses
// what is wrong with them.
func leavesOf(spec any) []leaf {
	var leaves []leaf
	var visit func(path string, value reflect.Value, set func(reflect.Value))
	visit = func(path string, value reflect.Value, set func(reflect.Value)) {
		switch value.Kind() {
		case reflect.String:
			leaves = append(leaves, leaf{path, func(text string) {
				set(reflect.ValueOf(text).Convert(value.Type()))
			}})
		case reflect.Pointer:
			target := reflect.New(value.Type().Elem())
			if !value.IsNil() {
				target.Elem().Set(value.Elem())
			}
			visit(path, target.Elem(), func(field reflect.Value) { target.Elem().Set(field); set(target) })
		case reflect.Struct:
			if strings.HasPrefix(value.Type().PkgPath(), "k8s.io/api/") && value.NumField() > 6 {
				return
			}
			for i := range value.NumField() {
				if field := value.Type().Field(i); field.IsExported() {
					visit(path+"."+field.Name, value.Field(i), func(given reflect.Value) {
						changed := reflect.New(value.Type()).Elem()
						changed.Set(value)
						changed.Field(i).Set(given)
						set(changed)
					})
				}
			}
		case reflect.Slice:
			entry := reflect.New(value.Type().Elem()).Elem()
			visit(path+"[0]", entry, func(given reflect.Value) {
				set(reflect.Append(reflect.MakeSlice(value.Type(), 0, 1), given))
			})
		case reflect.Map:
			if value.Type().Elem().Kind() != reflect.String {
				return
			}
			leaves = append(leaves, leaf{path + ".token", func(text string) {
				changed := reflect.MakeMap(value.Type())
				for _, key := range value.MapKeys() {
					changed.SetMapIndex(key, value.MapIndex(key))
				}
				changed.SetMapIndex(reflect.ValueOf("token"), reflect.ValueOf(text))
				set(changed)
			}})
		}
	}
	root := reflect.ValueOf(spec).Elem()
	visit("spec", root, func(given reflect.Value) { root.Set(given) })
	return leaves
}

func TestSecretsAreInNoWarningAboutAnOverruledProperty(t *testing.T) {
	app := &v1beta2.SparkApplication{ObjectMeta: named(), Spec: v1beta2.SparkApplicationSpec{
		MainClass: "Main", MainApplicationFile: "local:///a.jar", SparkVersion: "4.1.1", Image: "spark:4.1.1",
		SparkConf: map[string]string{"spark.kubernetes.driverEnv.PASSWORD": secret + "a"},
	}}
	app.Spec.Driver.EnvVars = map[string]string{"PASSWORD": secret + "b"}
	text := strings.Join(kubeflow.New(settings.Defaults{}).Warnings(app).Sentences(), " ")
	want := fmt.Sprintf("spec.sparkConf[spark.kubernetes.driverEnv.PASSWORD] %[1]q has no effect, spec.driver.envVars[PASSWORD] says %[1]q: "+
		"leave one of them out", redact.Mark)
	if strings.Contains(text, secret) || !strings.Contains(text, want) {
		t.Errorf("it says %s, want %s", text, want)
	}
}

func TestSecretsAreInNoWarningAboutACluster(t *testing.T) {
	for i := range leavesOf(&sparkv1.ClusterSpec{}) {
		c := &sparkv1.SparkCluster{ObjectMeta: named()}
		leaf := leavesOf(&c.Spec)[i]
		leaf.set("token=" + secret)
		for _, text := range status.Warnings(c).Sentences() {
			if shown := dialect.Clipped(text); strings.Contains(shown, secret) {
				t.Errorf("%s is told: %s", leaf.path, shown)
			}
		}
	}
}
