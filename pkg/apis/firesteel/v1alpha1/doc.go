// Package v1alpha1 holds what is Firesteel's own in the API: the record that every kind of application carries
// in its status.
//
// +k8s:deepcopy-gen=package
// +groupName=firesteel.dev
// +kubebuilder:object:generate=false
package v1alpha1
