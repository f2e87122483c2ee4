// Package v1 holds spark.apache.org/v1, the API of the Apache Spark operator.
//
// The same types are served as v1beta1 and v1alpha1: the versions differ in nothing but their names, so
// no conversion is needed.
//
// +k8s:deepcopy-gen=package
// +groupName=spark.apache.org
// +kubebuilder:object:generate=false
package v1
