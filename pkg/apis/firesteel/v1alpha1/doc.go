// Package v1alpha1 holds what is Firesteel's own in the API: the record that every kind of application carries
// in its status, what schedules of both kinds have in common, and the schedule of the Apache operator's applications.
//
// +k8s:deepcopy-gen=package
// +groupName=firesteel.dev
// +kubebuilder:object:generate=false
package v1alpha1
