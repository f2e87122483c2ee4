package status_test

import (
	"strings"
	"testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster/status"
)

// master is a template of the master's container.
func master(container string) string {
	return `masterSpec: {statefulSetSpec: {template: {spec: {containers: [{name: master, ` + container + `}]}}}}`
}

func TestWarningsNameFieldsThatAreNotDoneAsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		spec   string
		change func(*sparkv1.SparkCluster)
		want   []string // parts of the sentences
	}{
		"no warning":            {},
		"a range":               {spec: workers(2, 1, 3)},
		"a minimum above":       {spec: workers(2, 5, 1), want: []string{"minWorkers 5 is above maxWorkers 1"}},
		"a minimum below none":  {spec: workers(2, -1, 3), want: []string{"minWorkers -1 is below 0"}},
		"no minimum of a range": {spec: workers(2, 0, 3), want: []string{"minWorkers 0 is too low, the autoscaler keeps at least 1 worker"}},
		"more than the range":   {spec: workers(7, 1, 3), want: []string{"initWorkers 7 is above maxWorkers 3, so the autoscaler reduces it"}},
		"fewer than the range":  {spec: workers(1, 2, 3), want: []string{"initWorkers 1 is below the autoscaler's minimum, so there are 2 at first: write a number from 2 to 3."}},
		"none of a range":       {spec: workers(0, 1, 3), want: []string{"initWorkers 0 is below the autoscaler's minimum, so there are 1 at first"}},
		"none without a range":  {spec: workers(0, 1, 1)},
		"more without a range":  {spec: workers(7, 2, 2)},
		"replicas":              {spec: `workerSpec: {statefulSetSpec: {replicas: 3}}`, want: []string{"spec.workerSpec.statefulSetSpec.replicas 3 has no effect: write the number into initWorkers."}},
		"masters":               {spec: `masterSpec: {statefulSetSpec: {replicas: 3}}`, want: []string{"spec.masterSpec.statefulSetSpec.replicas 3 has no effect: there is one master."}},
		"an image that is none": {spec: `sparkConf: {spark.kubernetes.container.image: 'A B'}`, want: []string{`spec.sparkConf[spark.kubernetes.container.image] "A B" is no reference of an image`}},
		"one of a container":    {spec: master(`image: 'A B'`), want: []string{`spec.masterSpec.statefulSetSpec.template.spec.containers[0].image "A B" is no reference`}},
		"one that is overruled": {spec: "sparkConf: {spark.kubernetes.container.image: spark}\n" + master(`image: 'A B'`)},
		"an order":              {spec: `masterSpec: {statefulSetSpec: {podManagementPolicy: OrderedReady}}`, want: []string{`podManagementPolicy "OrderedReady" has no effect`}},
		"a Service's name":      {spec: `masterSpec: {statefulSetSpec: {serviceName: a}}`, want: []string{`serviceName "a" has no effect`}},
		"a finalizer of Pods":   {spec: `masterSpec: {statefulSetSpec: {template: {metadata: {finalizers: [a]}}}}`, want: []string{`spec.masterSpec.statefulSetSpec.template.metadata.finalizers "a" has no effect`}},
		"a finalizer of a set":  {spec: `workerSpec: {statefulSetMetadata: {finalizers: [a]}}`, want: []string{`spec.workerSpec.statefulSetMetadata.finalizers "a" has no effect`}},
		"a Service's finalizer": {spec: `workerSpec: {serviceMetadata: {finalizers: [a]}}`, want: []string{`spec.workerSpec.serviceMetadata.finalizers "a" has no effect`}},
		"a selector":            {spec: `workerSpec: {statefulSetSpec: {selector: {}}}`, want: []string{"selector has no effect"}},
		"another port":          {spec: master(`env: [{name: SPARK_MASTER_PORT, value: "7078"}]`), want: []string{"spec.masterSpec.statefulSetSpec.template.spec.containers[0].env[SPARK_MASTER_PORT] is set to 7077: leave it out."}},
		"the same port":         {spec: master(`env: [{name: SPARK_MASTER_PORT, value: "7077"}]`)},
		"a port for the page":   {spec: master(`env: [{name: SPARK_MASTER_WEBUI_PORT, value: "9080"}]`)},
		"a port of a property": {spec: `sparkConf: {spark.master.ui.port: "9080"}
` + master(`env: [{name: SPARK_MASTER_WEBUI_PORT, value: "9081"}]`), want: []string{"env[SPARK_MASTER_WEBUI_PORT] is set to 9080"}},
		"a port from elsewhere":         {spec: master(`env: [{name: SPARK_MASTER_WEBUI_PORT, valueFrom: {fieldRef: {fieldPath: a}}}]`), want: []string{"env[SPARK_MASTER_WEBUI_PORT] is set to 8080"}},
		"a port that leads nowhere":     {spec: master(`ports: [{name: spark, containerPort: 1234}, {name: mine, containerPort: 1}]`), want: []string{"ports[spark] 1234 is the target of the Service, but the daemon listens on 7077"}},
		"options from elsewhere":        {spec: master(`env: [{name: SPARK_MASTER_OPTS, valueFrom: {fieldRef: {fieldPath: a}}}]`), want: []string{"env[SPARK_MASTER_OPTS].valueFrom has no effect: use SPARK_DAEMON_JAVA_OPTS"}},
		"an autoscaler without a range": {spec: `workerSpec: {horizontalPodAutoscalerSpec: {}}`, want: []string{"horizontalPodAutoscalerSpec has no effect, since minWorkers 2 is not below maxWorkers 2"}},
		"another minimum":               {spec: workers(1, 1, 3) + `workerSpec: {horizontalPodAutoscalerSpec: {minReplicas: 2}}`, want: []string{"minReplicas 2 has no effect: write it into minWorkers."}},
		"another maximum":               {spec: workers(1, 1, 3) + `workerSpec: {horizontalPodAutoscalerSpec: {maxReplicas: 9}}`, want: []string{"maxReplicas 9 has no effect: write it into maxWorkers."}},
		"the same range":                {spec: workers(1, 1, 3) + `workerSpec: {horizontalPodAutoscalerSpec: {minReplicas: 1, maxReplicas: 3}}`},
		"another namespace":             {spec: `sparkConf: {spark.kubernetes.namespace: other}`, want: []string{`spec.sparkConf[spark.kubernetes.namespace] "other" has no effect, it is always "spark"`}},
		"its own namespace":             {spec: `sparkConf: {spark.kubernetes.namespace: spark}`},
		"a long name": {
			change: func(c *sparkv1.SparkCluster) { c.Name = strings.Repeat("c", 46) },
			want:   []string{"has 46 characters, and Kubernetes may not be able to create Pods of names with more than 45"},
		},
		"a misspelt field": {
			change: func(c *sparkv1.SparkCluster) { c.UnknownFields = []string{`unknown field "spec.masterSpec.a"`} },
			want:   []string{`unknown field "spec.masterSpec.a" is dropped: correct its spelling or its place.`},
		},
		"a suspension before the creation": {spec: `suspend: true`},
		"a suspension of an existing cluster": {
			spec:   `suspend: true`,
			change: func(c *sparkv1.SparkCluster) { c.Status.Workers = &sparkv1.ClusterWorkers{} },
			want:   []string{"spec.suspend does nothing to a cluster that exists"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := of(t, test.spec)
			if test.change != nil {
				test.change(c)
			}
			got := Warnings(c).Sentences()
			if len(got) != len(test.want) {
				t.Fatalf("warnings %q, want %q", got, test.want)
			}
			for i, part := range test.want {
				if !strings.Contains(got[i], part) {
					t.Errorf("%q, want %q", got[i], part)
				}
			}
		})
	}
}
