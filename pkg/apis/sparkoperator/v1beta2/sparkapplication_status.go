package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// GetRecord returns status.firesteel; nil if there is none.
func (a *SparkApplication) GetRecord() *firesteelv1alpha1.Record { return a.Status.Firesteel }

// GetConditions returns the conditions of the status.
func (a *SparkApplication) GetConditions() []metav1.Condition { return a.Status.Conditions }

// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
func (a *SparkApplication) GetUndecodable() string { return a.Undecodable }
