package policy

import (
	"fmt"
	"strings"
)

// celRule is the check of a rule in CEL. It makes a list of what breaks the rule, each with field, value, problem and remedy. It reads the variable
// settings, which has the data of config-admission, and variables of the API.
type celRule struct {
	// variable is the variable with the values that the rule checks. A kind without this variable does not have the rule.
	variable string
	// on is the value of the key that switches the rule on, if the key is a switch.
	on string
	// valid is an expression that is true if the value of the key is valid. Otherwise the rule is not evaluated.
	valid string
	// breaks is an expression about v, an entry of the variable: true if it breaks the rule. problem and remedy are texts, with %s for the setting.
	breaks, problem, remedy string
	// setting is an expression for %s. By default, it is the value of the key.
	setting string
	// nameless leaves the value out of the message: the path of the field has it.
	nameless bool
	// expression is the whole list, if the other fields do not express it.
	expression string
	// helpers are variables that these expressions read.
	helpers []Variable
}

// variables are those of the rule: the value of its key, as a list where it is one, whether it is valid, and what breaks the rule.
func (r *Rule) variables() []Variable {
	given := celSetting(r.Key)
	variables := []Variable{{variableName(r.Key, "Given"), "variables.settings[?'" + r.Key + "'].orValue('').trim()"}}
	if r.listed {
		variables = append(variables, Variable{variableName(r.Key, "List"), celSplit(given)})
	}
	return append(append(variables, r.cel().helpers...),
		Variable{variableName(r.Key, "Valid"), given + " == '' || " + r.cel().valid},
		Variable{VariableName(r.Key), r.list()},
	)
}

// validity is the validation of the value of the key. Its message has the words of the controller.
func (r *Rule) validity() Validation {
	return Validation{
		Expression: "variables." + variableName(r.Key, "Valid"),
		Message:    celText(ConfigMap+": "+r.Key+" is \"") + " + " + celClip(celSetting(r.Key)) + " + " + celText(`": `+r.Remedy),
	}
}

// list returns the expression of what breaks the rule.
func (r *Rule) list() string {
	c := r.cel()
	on := celSetting(r.Key) + " != '' && variables." + variableName(r.Key, "Valid")
	if c.on != "" {
		on = fmt.Sprintf("%s == '%s'", celSetting(r.Key), c.on)
	}
	expression := c.expression
	if expression == "" {
		value, setting := "v.value", c.setting
		if c.nameless {
			value = "''"
		}
		if setting == "" {
			setting = celSetting(r.Key)
		}
		expression = fmt.Sprintf("variables.%s.filter(v, %s).map(v, {'field': v.field, 'value': %s, 'problem': %s, 'remedy': %s})",
			c.variable, c.breaks, value, celFormat(c.problem, setting), celFormat(c.remedy, setting))
	}
	return on + " ? " + expression + " : []"
}

// celMessage is the message about the first entry of a list of what breaks a rule, in the words of the finding.
func celMessage(list string) string {
	return fmt.Sprintf(`%[1]s[0].field + (%[1]s[0].value == '' ? '' : ' "' + %[2]s + '"') + ' ' + %[1]s[0].problem + ': ' + %[1]s[0].remedy`,
		list, celClip(list+"[0].value"))
}

// celClip cuts a long value and replaces line breaks: the API server accepts only messages of one line.
func celClip(text string) string {
	return fmt.Sprintf("[%s].map(t, size(t) > 256 ? t.substring(0, 256) + '...' : t)[0].replace('\\n', ' ').replace('\\r', ' ')", text)
}

// celSetting is the value of a key of the ConfigMap. An absent key has none.
func celSetting(key string) string { return "variables." + variableName(key, "Given") }

// celList is the value of a key that is a list.
func celList(key string) string { return "variables." + variableName(key, "List") }

// celOneOf reports whether the value of a key is one of some.
func celOneOf(key string, values ...string) string {
	return celSetting(key) + " in ['" + strings.Join(values, "', '") + "']"
}

// celSplit splits a text at commas and white space.
func celSplit(text string) string {
	return text + `.replace(',', ' ').replace('\n', ' ').replace('\r', ' ').replace('\t', ' ').split(' ').filter(e, e != '')`
}

// celListed reports whether a list has an entry, like Listed in Go. The variable of prefixesOf has the entries with a star.
func celListed(entry, list, key string) string {
	return fmt.Sprintf("%[1]s in %[2]s || variables.%[3]s.exists(e, %[1]s.startsWith(e))", entry, list, variableName(key, "Prefixes"))
}

// prefixesOf is the variable of the entries of a list that end with a star, without it. There are few: each costs as much as all keys.
func prefixesOf(key, list string) Variable {
	return Variable{variableName(key, "Prefixes"), list + ".filter(e, e.endsWith('*')).map(e, e.substring(0, size(e) - 1))"}
}

// celText quotes a text.
func celText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// celFormat is a text with an expression in the place of each %s.
func celFormat(format, expression string) string {
	var parts []string
	for i, part := range strings.Split(format, "%s") {
		if i > 0 {
			parts = append(parts, expression)
		}
		if part != "" {
			parts = append(parts, celText(part))
		}
	}
	return strings.Join(parts, " + ")
}

// celMemory is the list of what breaks a rule about the memory of a role.
func celMemory(key, role string) string {
	parts, added := "variables."+role+"Memory", "variables."+role+"Factor"
	entry := func(problem, remedy string) string {
		return fmt.Sprintf("{'field': v.field, 'value': v.value, 'problem': %s, 'remedy': %s}", celText(problem), celText(remedy))
	}
	unreadable := fmt.Sprintf("(%[1]s.filter(v, !(%[7]s) || !v.value.trim().matches('%[2]s')).map(v, %[3]s) + %[4]s.filter(v, !(%[7]s) || !v.value.trim().matches('%[5]s')).map(v, %[6]s))",
		parts, sizePattern, entry(sizeProblem+key+boundedBy, sizeRemedy), added, factorPattern, entry("is no factor, and "+key+boundedBy, "write one such as 0.1"), celParsed("v.value"))
	total := fmt.Sprintf("([0.0] + %s.map(v, %s) + %s.map(v, double(v.value.trim()) * %s)).sum()",
		parts, celSize("v.value.trim()"), added, celSize(parts+"[0].value.trim()"))
	before, after, _ := strings.Cut(memoryProblem, "%d")
	exceeded := fmt.Sprintf("[%s].filter(n, n > %s).map(n, {'field': %[3]s[0].field, 'value': %[3]s[0].value, 'problem': %[4]s + (n < 1.0e18 ? string(int(n / 1048576.0)) : '999999999999') + %[5]s, 'remedy': %[6]s})",
		total, celSize(celSetting(key)), parts, celText(before), celFormat(after+key+allows, celSetting(key)), celText(memoryRemedy))
	return fmt.Sprintf("[%s].map(u, size(u) > 0 ? u : %s)[0]", unreadable, exceeded)
}
