package submission

import (
	"strings"
	"testing"
)

func TestTheServiceAccountIsInBothFields(t *testing.T) {
	spec := mustBuild(t, pi("spark.kubernetes.authenticate.driver.serviceAccountName=spark")).Driver.Spec
	wantEqual(t, "serviceAccountName", spec.ServiceAccountName, "spark")
	wantEqual(t, "serviceAccount", spec.DeprecatedServiceAccount, "spark")
}

func TestCredentialsOfTheSubmittingHostAreRefusedWithoutShowingThem(t *testing.T) {
	for _, key := range []string{"oauthToken", "caCertFile", "clientKeyFile", "clientCertFile"} {
		plan := pi("spark.kubernetes.authenticate.driver." + key + "=topsecret")
		wantRefused(t, plan, "spark.kubernetes.authenticate.driver."+key, "serviceAccountName")
		if _, err := Build(plan); strings.Contains(err.Error(), "topsecret") {
			t.Errorf("the error shows the value: %v", err)
		}
	}
}

func TestTokensAreKeptOutOfTheConfigMap(t *testing.T) {
	properties := propertiesOf(t, mustBuild(t, pi(
		"spark.kubernetes.authenticate.submission.oauthToken=topsecret",
		"spark.kubernetes.authenticate.driver.mounted.oauthTokenFile=/token",
	)))
	wantEqual(t, "token", properties["spark.kubernetes.authenticate.submission.oauthToken"], "<present_but_redacted>")
	wantEqual(t, "file", properties["spark.kubernetes.authenticate.driver.mounted.oauthTokenFile"], "/token")
}
