package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

const m = redact.Mark

func TestRedactValue(t *testing.T) {
	for _, test := range []struct{ key, value, want string }{
		{"spark.kubernetes.authenticate.driver.oauthToken", "hunter", m},
		{"spark.hadoop.fs.s3a.access.key", "AKIA", m},
		{"spark.hadoop.fs.s3a.accesskey", "AKIA", m},
		{"spark.hadoop.fs.s3a.secret.key", "hunter", m},
		{"spark.kubernetes.driverEnv.PASSWORD", "hunter", m},
		{"AWS_ACCESS_KEY_ID", "AKIA", m},
		{"DB_PASSWD", "hunter", m},
		{"spark.custom", "my-token-is-here", m},
		{"spark.driver.extraJavaOptions", "-Xss4m -Dhttp.proxyHost=https://me:hunter@proxy", "-Xss4m -Dhttp.proxyHost=https://" + m + "@proxy"},
		{"spark.jars", "https://user:hunter@example.com/a.jar", "https://" + m + "@example.com/a.jar"},
		{"spark.driver.memory", "1.5g", "1.5g"},
		{"spark.kubernetes.driver.secretKeyRef.PASSWORD", "database:password", "database:password"},
		{"spark.kubernetes.driver.secrets.a", "/b", "/b"},
		{"spark.kubernetes.kerberos.tokenSecret.name", "hdfs", "hdfs"},
		{"spark.kubernetes.driver.podTemplateFile", "https://me:hunter@example.com/secret.yaml", "https://" + m + "@example.com/secret.yaml"},
		{"spec.sparkConf[spark.kubernetes.driver.podTemplateFile]", "https://example.com/secret.yaml", "https://example.com/secret.yaml"},
		{"spark.executorEnv.secrets.A", "hunter", m},
		{"spec.driver.secrets[0].name", "database", "database"},
		{"spec.driver.secrets[0]", "database", "database"},
		{"spec.hadoopConf.fs.s3a.secret.key", "hunter", m},
		{"spec.hadoopConf[fs.s3a.secret.key]", "hunter", m},
		{"spec.sparkConf[spark.kubernetes.driver.secretKeyRef.PASSWORD]", "database:password", "database:password"},
		{"spark.driver.password", "", ""},
	} {
		if got := redact.Value(test.key, test.value); got != test.want {
			t.Errorf("%s %q becomes %q, want %q", test.key, test.value, got, test.want)
		}
	}
}

func TestRedactText(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a property":            {"spark.ssl.keyPassword=hunter2 is wrong", "spark.ssl.keyPassword=" + m + " is wrong"},
		"a property in quotes":  {`spark.a.password "hunter 2" is no size: write another`, `spark.a.password "` + m + `" is no size: write another`},
		"what a property is":    {`spec.sparkConf[spark.x.token] is "hunter2": leave it out`, `spec.sparkConf[spark.x.token] is "` + m + `": leave it out`},
		"a key in brackets":     {`spec.sparkConf[spark.x.token] "hunter2" is wrong: no`, `spec.sparkConf[spark.x.token] "` + m + `" is wrong: no`},
		"brackets and an error": {`spec.sparkConf[spark.x.token]: Invalid value: "hunter2"`, `spec.sparkConf[spark.x.token]: Invalid value: "` + m + `"`},
		"blanks around the =":   {"password = hunter2", "password = " + m},
		"YAML":                  {"user: me\npassword: hunter2\nhost: h", "user: me\npassword: " + m + "\nhost: h"},
		"JSON":                  {`{"user":"me","password":"hunter2","n":1}`, `{"user":"me","password":"` + m + `","n":1}`},
		"a number in JSON":      {`{"password": 1234567}`, `{"password": ` + m},
		"JSON in JSON":          {`{"m":"{\"password\":\"hunter2\",\"a\":1}"}`, `{"m":"{\"password\":\"` + m + `\",\"a\":1}"}`},
		"a quoted backslash":    {`"password":"hun\"ter2" x`, `"password":"` + m + `" x`},
		"a variable in JSON":    {`{"name":"PASSWORD","value":"hunter2"}`, `{"name":"PASSWORD","value":"` + m + `"}`},
		"a variable in YAML":    {"- name: DB_PASSWORD\n  value: hunter2\n", "- name: DB_PASSWORD\n  value: " + m + "\n"},
		"a variable in Go":      {`EnvVar{Name:"PASSWORD", Value:"hunter2"}`, `EnvVar{Name:"PASSWORD", Value:"` + m + `"}`},
		"its value first, JSON": {`{"value":"hunter2","name":"PASSWORD"}`, `{"value":"` + m + `","name":"PASSWORD"}`},
		"first, JSON in JSON":   {`"{\"value\":\"hun ter2\", \"name\":\"PASSWORD\"}"`, `"{\"value\":\"` + m + `\", \"name\":\"PASSWORD\"}"`},
		"a number first":        {`[{"value":1234567,"name":"PASSWORD"},{"value":1,"name":"x"}]`, `[{"value":` + m + `,"name":"PASSWORD"},{"value":1,"name":"x"}]`},
		"first, with more":      {`{"value":"hunter2","valueFrom":null,"name":"PASSWORD"}`, `{"value":"` + m + `","valueFrom":null,"name":"PASSWORD"}`},
		"first, and a URL":      {`{"value":"x https://a:b@c hunter2","name":"PASSWORD"}`, `{"value":"` + m + `","name":"PASSWORD"}`},
		"first, YAML":           {"- value: hunter2 two\n  name: DB_PASSWORD\n- value: x\n  name: y", "- value: " + m + "\n  name: DB_PASSWORD\n- value: x\n  name: y"},
		"first, YAML in quotes": {`"- value: hunter2\n  name: DB_PASSWORD\n"`, `"- value: ` + m + `\n  name: DB_PASSWORD\n"`},
		"first, in one line":    {"[{value: hunter2, name: PASSWORD}]", "[{value: " + m + ", name: PASSWORD}]"},
		"first, a block":        {"- value: |\n    hunter2\n    two\n  name: PASSWORD\n", "- value: |\n    " + m + "\n  name: PASSWORD\n"},
		"first, with a key":     {`{"value":"hunter2","key":"PASSWORD"}`, `{"value":"` + m + `","key":"PASSWORD"}`},
		"another's value":       {`[{"name":"A","value":"a"},{"name":"PASSWORD","value":"b"}]`, `[{"name":"A","value":"a"},{"name":"PASSWORD","value":"` + m + `"}]`},
		"another's, YAML":       {"- name: A\n  value: a\n- name: PASSWORD\n  value: b\n", "- name: A\n  value: a\n- name: PASSWORD\n  value: " + m + "\n"},
		"another's, in a line":  {"[{name: A, value: a}, {name: PASSWORD, value: b }]", "[{name: A, value: a}, {name: PASSWORD, value: " + m + " }]"},

		"a block":            {"a: b\npassword: |\n  hunter2\n\n   two\nuser: me\n", "a: b\npassword: |\n  " + m + "\nuser: me\n"},
		"a folded block":     {"password: >-  # secret\r\n  hunter2\r\nuser: me\n", "password: >-  # secret\r\n  " + m + "\r\nuser: me\n"},
		"an indented block":  {"  a:\n    password: |2-\n        hun\n      ter2\n    user: me", "  a:\n    password: |2-\n        " + m + "\n    user: me"},
		"a block in a list":  {"- password: |\n    hunter2\n  user: me\n", "- password: |\n    " + m + "\n  user: me\n"},
		"a variable's block": {"- name: PASSWORD\n  value: |\n    hunter2\n    two\n- name: A\n", "- name: PASSWORD\n  value: |\n    " + m + "\n- name: A\n"},
		"a block in quotes":  {`    "y": "password: |\n  hunter2\n  \"two\"\nuser: me", "z": 1`, `    "y": "password: |\n  ` + m + `\nuser: me", "z": 1`},
		"a block at the end": {`{"y":"password: |\n  hunter2","z":1}`, `{"y":"password: |\n  ` + m + `","z":1}`},
		"a block of nothing": {"password: |\nuser: me", "password: |\nuser: me"},
		"a block to the end": {"secret: |\n  hunter2", "secret: |\n  " + m},

		"escaped slashes":        {`"https:\/\/user:hunter2@example.com\/x" fails`, `"https:\/\/` + m + `@example.com\/x" fails`},
		"twice escaped":          {`https:\\/\\/user:hunter2@example.com\\/x`, `https:\\/\\/` + m + `@example.com\\/x`},
		"slashes in Unicode":     {`https:\u002f\u002Fuser:hunter2@example.com`, `https:\u002f\u002F` + m + `@example.com`},
		"escaped, a mail":        {`https:\/\/example.com:8080\/x?to=a@b.c`, `https:\/\/example.com:8080\/x?to=a@b.c`},
		"escaped JDBC":           {`"jdbc:x:\/\/h?user=me\u0026password=hunter2\u0026ssl=true"`, `"jdbc:x:\/\/h?user=me\u0026password=` + m + `\u0026ssl=true"`},
		"an escaped signature":   {`"https://h/x?a=1\u0026X-Amz-Signature=hunter2\u0026b=1"`, `"https://h/x?a=1\u0026X-Amz-Signature=` + m + `\u0026b=1"`},
		"an escaped equals sign": {`"password\u003dhunter2 x"`, `"password\u003d` + m + ` x"`},

		"a Java option":         {"-Xmx1g -Djavax.net.ssl.trustStorePassword=hunter2 -Dx=y", "-Xmx1g -Djavax.net.ssl.trustStorePassword=" + m + " -Dx=y"},
		"a Java option, quoted": {`-Dpassword='hunter 2' -Dx=y`, `-Dpassword='` + m + `' -Dx=y`},
		"an option":             {"run --db-password hunter2 --x y", "run --db-password " + m + " --x y"},
		"an option with =":      {"run --token=hunter2 --x y", "run --token=" + m + " --x y"},
		"options in a list":     {`["--password","hunter2","--x"]`, `["--password","` + m + `","--x"]`},
		"options in Go":         {`["--password" "hunter2"]`, `["--password" "` + m + `"]`},
		"an option without":     {"run --password --x y", "run --password --x y"},
		"a URL":                 {`Get "https://user:hunter2@example.com/x": no route`, `Get "https://` + m + `@example.com/x": no route`},
		"a user that is all":    {"https://ghp_hunter2@github.com/x.git", "https://" + m + "@github.com/x.git"},
		"a URL, badly escaped":  {`parse "https://user:hun%zzter@example.com": bad`, `parse "https://` + m + `@example.com": bad`},
		"a URL with a blank":    {`"http://user:hun ter@example.com/x" is none`, `"http://` + m + `@example.com/x" is none`},
		"a URL with a slash":    {`http://user:hun/ter@example.com/x`, `http://` + m + `@example.com/x`},
		"a URL with two @":      {`http://user:h@nter@example.com/x`, `http://` + m + `@example.com/x`},
		"a mail in a URL":       {"https://example.com:8080/x?to=a@b.c", "https://example.com:8080/x?to=a@b.c"},
		"a container":           {"abfss://data@account.dfs.core.windows.net/x", "abfss://data@account.dfs.core.windows.net/x"},
		"keys in s3":            {"s3a://AKIA:hunter2@bucket/x", "s3a://" + m + "@bucket/x"},
		"JDBC":                  {"jdbc:postgresql://h/db?user=me&password=hunter2&ssl=true", "jdbc:postgresql://h/db?user=me&password=" + m + "&ssl=true"},
		"JDBC of SQL Server":    {"jdbc:sqlserver://h:1433;user=me;password=hunter2;x=y", "jdbc:sqlserver://h:1433;user=me;password=" + m + ";x=y"},
		"JDBC of Oracle":        {"jdbc:oracle:thin:scott/hunter2@//h:1521/x", "jdbc:oracle:thin:" + m + "@//h:1521/x"},
		"a signed URL":          {"https://h/x?X-Amz-Date=1&X-Amz-Signature=hunter2", "https://h/x?X-Amz-Date=1&X-Amz-Signature=" + m},
		"a header":              {"Authorization: Bearer eyJhbGciOi.hunter2", "Authorization: Bearer " + m},
		"an invalid value":      {`Pod "x" is invalid: spec.password: Invalid value: "hunter 2": no`, `Pod "x" is invalid: spec.password: Invalid value: "` + m + `": no`},
		"a required value":      {"spec.env[0].secretKeyRef.name: Required value", "spec.env[0].secretKeyRef.name: Required value"},
		"a file of properties":  {"a\nspark.x.password  hunter2\nspark.y z", "a\nspark.x.password  " + m + "\nspark.y z"},
		"such a file, quoted":   {`conf is "spark.x.password hunter2\nspark.x.token hunter2"`, `conf is "spark.x.password ` + m + `\nspark.x.token ` + m + `"`},
		"a cut value":           {`"password":"hunter2...`, `"password":"` + m},
		"what is redacted":      {"password=" + m + ", x", "password=" + m + ", x"},

		"the type of a secret":    {`spec.driver.secrets[0].secretType "Generci" is not known: write one of Generic`, `spec.driver.secrets[0].secretType "Generci" is not known: write one of Generic`},
		"a secret's name":         {`spec.volumes[0].secret.secretName: Invalid value: "Data_Base": no`, `spec.volumes[0].secret.secretName: Invalid value: "Data_Base": no`},
		"a name in JSON":          {`{"secretName":"database","password":"x"}`, `{"secretName":"database","password":"` + m + `"}`},
		"a property's place":      {`spec.sparkConf.spark.x.token "x" is wrong: no`, `spec.sparkConf.spark.x.token "` + m + `" is wrong: no`},
		"a variable's place":      {`spec.driver.envVars.PASSWORD "x" is wrong: no`, `spec.driver.envVars.PASSWORD "` + m + `" is wrong: no`},
		"a secret in YAML":        {"secret: hunter2", "secret: " + m},
		"the name of a secret":    {`Container driver cannot be created: secret "database" not found`, `Container driver cannot be created: secret "database" not found`},
		"a field and a remedy":    {"spec.driver.secrets[0]: name one of the secrets: a token goes there", "spec.driver.secrets[0]: name one of the secrets: a token goes there"},
		"a property, refused":     {"spark.a.oauthToken would put credentials into a Secret: use b", "spark.a.oauthToken would put credentials into a Secret: use b"},
		"a property and remedy":   {"spark.kubernetes.driver.secrets.a.b: name no volume so", "spark.kubernetes.driver.secrets.a.b: name no volume so"},
		"the name of a namespace": {"--serviceaccount=secret-team:default", "--serviceaccount=secret-team:default"},
		"a path":                  {"/mnt/secrets: must be unique", "/mnt/secrets: must be unique"},
		"prose":                   {"Basic authentication is off; put the token into a Secret.", "Basic authentication is off; put the token into a Secret."},
		"no secret":               {"Driver Pod cannot be scheduled: 3 insufficient cpu.", "Driver Pod cannot be scheduled: 3 insufficient cpu."},
		"nothing":                 {"", ""},
		"a key and nothing else":  {"password=", "password="},
	} {
		t.Run(name, func(t *testing.T) {
			got := redact.Text(test.text)
			if got != test.want {
				t.Errorf("%s\nbecomes %s\nwant    %s", test.text, got, test.want)
			}
			if again := redact.Text(got); again != got {
				t.Errorf("redacted again, it becomes %s", again)
			}
		})
	}
}

// object returns an object with Spark properties and environment variables.
func object(conf, env map[string]string, arguments ...string) *redact.Redactor {
	variables := []map[string]string{}
	for name, value := range env {
		variables = append(variables, map[string]string{"name": name, "value": value})
	}
	text, _ := json.Marshal(map[string]any{"spec": map[string]any{
		"sparkConf": conf, "arguments": arguments,
		"volumes": []any{map[string]any{"name": "v", "secret": map[string]any{"secretName": "database"}}},
		"driver":  map[string]any{"env": variables, "secrets": []any{map[string]any{"name": "credentials-file", "secretType": "Generic"}}},
	}})
	return redact.For(text)
}

func TestRedactForObject(t *testing.T) {
	r := object(
		map[string]string{
			"spark.hadoop.fs.s3a.secret.key": "hunter2/x", "spark.x.token": `quo"ted42`, "spark.executor.memory": "gigantic",
			"spark.driver.extraJavaOptions": "-Dstore.password=storeword9", "spark.jars": "https://me:urlword77@h/x.jar",
			"spark.kubernetes.driver.secrets.database": "/etc/database", "spark.short.password": "abc",
		},
		map[string]string{"DB_PASSWORD": "variable8"}, "--auth-token", "argument5", "--password=argument6")
	for text, want := range map[string]string{
		`metadata.labels: Invalid value: "hunter2/x": bad`:  `metadata.labels: Invalid value: "` + m + `": bad`,
		`it says "quo\"ted42"`:                              `it says "` + m + `"`,
		"java: storeword9 was refused":                      "java: " + m + " was refused",
		"urlword77, variable8, argument5 and argument6.":    m + ", " + m + ", " + m + " and " + m + ".",
		"variable80 is another":                             "variable80 is another",
		`secret "database" not found at /etc/database`:      `secret "database" not found at /etc/database`,
		"gigantic is no size, abc neither":                  "gigantic is no size, abc neither",
		`secret "credentials-file" of the type Generic: no`: `secret "credentials-file" of the type Generic: no`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", text, got, want)
		}
	}
}

func TestRedactForObjectWithCustomPattern(t *testing.T) {
	own := func(pattern string) *redact.Redactor {
		return object(map[string]string{"spark.redaction.regex": pattern, "spark.my.pin": "4711-0815", "spark.x": "ZZ-top-9"}, nil)
	}
	r := own("(?i)pin$|^ZZ-")
	for text, want := range map[string]string{
		`spark.my.pin "1" is refused: write less`: `spark.my.pin "` + m + `" is refused: write less`,
		"the value 4711-0815 repeated":            "the value " + m + " repeated",
		"ZZ-top-9":                                m,
		"password=x":                              "password=" + m,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
	if got := r.Value("spark.my.pin", "1"); got != m {
		t.Errorf("the value is shown: %s", got)
	}
	if got := r.Value("spark.y", "ZZ-1"); got != m {
		t.Errorf("the value is shown: %s", got)
	}
	for name, pattern := range map[string]string{
		"none": "(", "Java's alone": "(?<!a)pin", "endless": strings.Repeat("pin|", 1000) + "x", "wide": "(pin{999}){999}",
		"many": strings.Repeat("(x{1000})", 50), "all": "", "all with something": "a*|pin",
	} {
		t.Run(name, func(t *testing.T) {
			r := own(pattern)
			if got := r.Text("spark.my.pin=1 password=x"); got != "spark.my.pin=1 password="+m {
				t.Errorf("it becomes %s", got)
			}
		})
	}
}

func TestRedactForInvalidObject(t *testing.T) {
	for _, text := range []string{"", "null", "[", `{"spec":null}`, `{"spec":"x"}`, `{"spec":{"sparkConf":{"password":{}}}}`} {
		if got := redact.For([]byte(text)).Text("a password=x"); got != "a password="+m {
			t.Errorf("with %s it becomes %s", text, got)
		}
	}
}

// A text of a megabyte takes milliseconds. The bound catches a search that practically never ends.
func TestRedactCostOfALongText(t *testing.T) {
	for _, part := range []string{"://", "&sig=", "jdbc:oracle:", "password ", "name: token, ", "--secret ", `"password":"`, "a:b@", `\\"token`, "Bearer "} {
		begun := time.Now()
		redact.Text(strings.Repeat(part, 1<<20/len(part)))
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%q repeated takes %s", part, took)
		} else {
			t.Logf("%q repeated takes %s", part, took)
		}
	}
}

func FuzzRedactText(f *testing.F) {
	for _, text := range []string{
		`{"value":"x","name":"PASSWORD"}`, "value: |\n  x\n  name: token", "password: >\n  x", `"password: |\n  x\n"`, `:\/\/a:b@c`, `\u0026sig\u003dx`,
		`"password":"x"`, "://a:b@c", "name: token, value: \\\"x", "--secret 'x", "jdbc:oracle:thin:@", "password==>", "Bearer 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "hunter2hunter2") {
			return
		}
		for _, before := range []string{
			"password=hunter2hunter2 ", `{"value":"hunter2hunter2","name":"PASSWORD"}`, "- value: hunter2hunter2\n  name: PASSWORD\n",
			"password: |\n  a\n  hunter2hunter2\n", `"password: |\n  a\n  hunter2hunter2"`, `https:\/\/a:hunter2hunter2@h `,
		} {
			if got := redact.Text(before + text); strings.Contains(got, "hunter2hunter2") {
				t.Errorf("the secret is shown: %s", got)
			}
		}
	})
}

func BenchmarkTextWithoutSecrets(b *testing.B) {
	text := fmt.Sprintf("Driver Pod %s cannot be scheduled: %d insufficient cpu.", "pi-0-driver", 3)
	for b.Loop() {
		redact.Text(text)
	}
}

// Each reconcile makes a logger with the name of its object.
func BenchmarkValueOfAName(b *testing.B) {
	for b.Loop() {
		redact.Value("namespace", "team-a")
	}
}
