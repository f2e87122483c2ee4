// Package v1beta2 holds sparkoperator.k8s.io/v1beta2, the API of the Kubeflow Spark operator, formerly Google's.
//
// The fields have the names of that operator's latest version. Older spellings, which its documents showed and its
// versions of their time took, are fields besides.
//
// +k8s:deepcopy-gen=package
// +groupName=sparkoperator.k8s.io
// +kubebuilder:object:generate=false
package v1beta2
