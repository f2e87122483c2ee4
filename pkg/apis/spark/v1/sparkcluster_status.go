package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// GetRecord returns status.firesteel; nil if there is none.
func (c *SparkCluster) GetRecord() *firesteelv1alpha1.Record { return c.Status.Firesteel }

// GetConditions returns the conditions of the status.
func (c *SparkCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// GetUndecodable returns why all but the metadata could not be decoded; empty if it could.
func (c *SparkCluster) GetUndecodable() string { return c.Undecodable }
