package submission

import "testing"

func TestVolcanosPodGroupComesBeforeThePod(t *testing.T) {
	plan := pi("spark.kubernetes.driver.pod.featureSteps=" + volcanoStep)
	objects := mustBuild(t, plan)
	wantEqual(t, "objects before", len(objects.Before), 1)
	const name = "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061-podgroup"
	wantEqual(t, "name", objects.Before[0].GetName(), name)
	wantEqual(t, "annotation", objects.Driver.Annotations["scheduling.k8s.io/group-name"], name)
	wantRefused(t, with(plan, podGroupTemplateKey+"=/x.yaml"), podGroupTemplateKey, "/x.yaml")
	mustBuild(t, pi(podGroupTemplateKey+"=/x.yaml"))
}
