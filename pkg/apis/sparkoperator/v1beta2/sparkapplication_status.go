package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// GetRecord returns status.firesteel; nil where there is none.
func (a *SparkApplication) GetRecord() *firesteelv1alpha1.Record { return a.Status.Firesteel }

// GetConditions returns the conditions of the status.
func (a *SparkApplication) GetConditions() []metav1.Condition { return a.Status.Conditions }

// GetUndecodable says why all but the metadata could not be decoded; empty where it could.
func (a *SparkApplication) GetUndecodable() string { return a.Undecodable }

// Compact has the application take as little memory as it can be kept in. It says the same afterwards, but for its managed
// fields.
func (a *SparkApplication) Compact() {
	firesteelv1alpha1.CompactMeta(&a.ObjectMeta)
	spec := &a.Spec
	for _, text := range []*string{&spec.MainClass, &spec.MainApplicationFile, &spec.Image, &spec.SparkVersion} {
		*text = firesteelv1alpha1.Shared(*text)
	}
	spec.SparkConf = firesteelv1alpha1.CompactTexts(spec.SparkConf)
	a.Status.Conditions = firesteelv1alpha1.CompactConditions(a.Status.Conditions)
	a.Status.Firesteel.Compact()
}
