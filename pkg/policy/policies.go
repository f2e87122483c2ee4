package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Folder is the folder below config of a set of policies.
type Folder string

// The sets of policies. Each can be had without the others.
const (
	// FolderRules has the policies of the admin's rules.
	FolderRules Folder = "admission"
	// FolderAccounts has the policies about who may name a service account.
	FolderAccounts Folder = "admission-accounts"
	// FolderWarnings has the policies that warn of what has no effect.
	FolderWarnings Folder = "admission-warnings"
)

// Policy is a ValidatingAdmissionPolicy with its Binding.
type Policy struct {
	Name   string
	Folder Folder
	// Comment explains its purpose, in sentences.
	Comment   string
	Resources []Resources
	// ConfigMap is the parameter of the policy, a ConfigMap of the installation; empty for none. If it does not exist, the policy allows everything:
	// otherwise the API server would even refuse updates of finalizers.
	ConfigMap string
	// Warns makes the API server warn instead of refuse.
	Warns       bool
	Variables   []Variable
	Validations []Validation
}

// Validation is a validation of a policy. Message is an expression.
type Validation struct{ Expression, Message string }

// domain ends the names of all policies.
const domain = ".firesteel.dev"

// Policies are all policies.
func Policies() []Policy {
	policies := []Policy{kubeflowProperties()}
	for _, a := range apis() {
		policies = append(policies, a.rules(), a.serviceAccounts(), a.warnings())
	}
	return policies
}

// SpecIsNew is the match condition of all policies: a field of the spec is new or changed, except suspend. So an existing object that breaks a rule
// can still be suspended, resumed and deleted, and its finalizers can be removed.
func SpecIsNew() string {
	return fmt.Sprintf("oldObject == null || [%s].exists(s, [%s].exists(o, "+
		"s.exists(k, k != 'suspend' && !(k in o && o[k] == s[k])) || o.exists(k, k != 'suspend' && !(k in s))))",
		orEmpty("dyn(object).?spec", "{}"), orEmpty("dyn(oldObject).?spec", "{}"))
}

// settings is the variable of the data of the ConfigMap.
var settings = Variable{"settings", "params.?data.orValue({})"}

// rules is the policy of the admin's rules.
func (a *api) rules() Policy {
	ofManifest := slices.Concat(a.boundedSpecVariables(), []Variable{labelsVariable()}, a.variables)
	p := Policy{
		Name: a.name + "-rules" + domain, Folder: FolderRules, Resources: a.resources, ConfigMap: ConfigMap,
		Comment:   "Refuses " + a.kinds + " that break the rules of config-admission.",
		Variables: slices.Concat([]Variable{settings}, ofManifest),
	}
	p.Validations = append(p.Validations, excess())
	var validations []Validation
	for i := range Table {
		rule := &Table[i]
		read := rule.cel().variable
		if !slices.ContainsFunc(ofManifest, func(v Variable) bool { return v.Name == read }) {
			continue
		}
		name := VariableName(rule.Key)
		p.Variables = append(p.Variables, rule.variables()...)
		p.Validations = append(p.Validations, rule.validity())
		validations = append(validations, Validation{
			Expression: "size(variables." + name + ") == 0", Message: celMessage("variables." + name),
		})
	}
	p.Validations = append(p.Validations, validations...)
	return p
}

// VariableName makes a name of CEL from a key: maxExecutorsBroken.
func VariableName(key string) string { return variableName(key, "Broken") }

func variableName(key, suffix string) string {
	parts := strings.Split(key, "-")
	for i, part := range parts[1:] {
		parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "") + suffix
}

const (
	deniedOf     = "variables.settings[?'" + KeyDenied + "']"
	rightsReason = "it gives rights that the fields of the application do not show"
)

// kubeflowProperties is the policy of the properties that config-kubeflow denies. An absent key stands for the default.
func kubeflowProperties() Policy {
	var defaults []string
	for _, key := range KubeflowDenied {
		defaults = append(defaults, celText(key))
	}
	list := fmt.Sprintf("%[1]s.hasValue() ? %[2]s : [%[3]s]", deniedOf, celSplit(deniedOf+".value()"), strings.Join(defaults, ", "))
	const namespace = "spark.kubernetes.namespace"
	a := kubeflow()
	return Policy{
		Name: a.name + "-properties" + domain, Folder: FolderRules, Resources: a.resources, ConfigMap: "config-kubeflow",
		Comment: "Refuses " + a.kinds + " that set a Spark property that denied-spark-properties of config-kubeflow has: by default one that " +
			"gives rights that fields do not show. The Kubeflow operator's webhook does the same from 2.5.2 on.",
		Variables: slices.Concat([]Variable{settings}, a.boundedSpecVariables(), []Variable{
			{"keys", list},
			prefixesOf(KeyDenied, "variables.keys"),
			{"denied", "variables.conf.map(k, k).filter(k, " + celListed("k", "variables.keys", KeyDenied) + ")"},
		}),
		Validations: []Validation{
			excess(),
			{"size(variables.denied) == 0", `'sparkConf key "' + variables.denied[0] + '" is not allowed: ` + rightsReason + `'`},
			{
				fmt.Sprintf("variables.conf[?'%s'].orValue(object.metadata.namespace) == object.metadata.namespace", namespace),
				fmt.Sprintf(`'sparkConf key "%s" is not allowed: the namespace is that of the application, ' + object.metadata.namespace`, namespace),
			},
		},
	}
}

// serviceAccounts is the policy of service accounts. Messages cannot ask what a user may do, so each account has a validation of its own.
func (a *api) serviceAccounts() Policy {
	p := Policy{
		Name: a.name + "-service-accounts" + domain, Folder: FolderAccounts, Resources: a.resources,
		Comment:   "Refuses " + a.kinds + " that name a service account which their author may not use.",
		Variables: specVariables(a.scheduled...),
	}
	for i, account := range a.accounts {
		name := fmt.Sprintf("account%d", i)
		p.Variables = append(p.Variables, Variable{name, first(account)})
		p.Validations = append(p.Validations, Validation{
			"variables." + name + ".all(a, a.value == '' || " +
				"authorizer.group('').resource('serviceaccounts').namespace(object.metadata.namespace).name(a.value).check('use').allowed())",
			"variables." + name + `[0].field + ' "' + ` + celClip("variables."+name+"[0].value") + ` + '" is a service account that you may not use: ` +
				`name another, or ask for the verb use on it in namespace ' + object.metadata.namespace`,
		})
	}
	return p
}

// warnings is the policy of what has no effect.
func (a *api) warnings() Policy {
	p := Policy{
		Name: a.name + "-warnings" + domain, Folder: FolderWarnings, Resources: a.resources, Warns: true,
		Comment:   "Warns of what has no effect in " + a.kinds + ".",
		Variables: a.boundedSpecVariables(),
	}
	for i := range a.noEffect {
		row := &a.noEffect[i]
		list := row.list()
		p.Validations = append(p.Validations, Validation{
			Expression: "size(" + list + ") == 0",
			Message:    list + "[0].field + " + celText(" "+row.Message+": "+row.Remedy),
		})
	}
	return p
}

// KubeflowDenied are the properties that config-kubeflow denies by default. The Kubeflow operator refuses them from 2.5.2 on. They give an
// application rights that its fields do not show: another service account's, or another API server's.
var KubeflowDenied = []string{
	"spark.master",
	"spark.kubernetes.driver.master",
	DriverAccountKey,
	ExecutorAccountKey,
	"spark.kubernetes.authenticate.oauthToken",
	"spark.kubernetes.authenticate.oauthTokenFile",
	"spark.kubernetes.authenticate.driver.oauthToken",
	"spark.kubernetes.authenticate.driver.oauthTokenFile",
	"spark.kubernetes.authenticate.executor.oauthToken",
	"spark.kubernetes.authenticate.executor.oauthTokenFile",
}
