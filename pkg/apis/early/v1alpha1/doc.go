// Package v1alpha1 holds spark-operator.k8s.io/v1alpha1, the API of the early Spark operator: September 2017 to January 2018.
//
// In these weeks some fields changed their names, two of them twice. Each spelling is a field. The API server refuses an object with
// two spellings of one field that have different values.
//
// +k8s:deepcopy-gen=package
// +groupName=spark-operator.k8s.io
// +groupGoName=Early
// +kubebuilder:object:generate=false
package v1alpha1
