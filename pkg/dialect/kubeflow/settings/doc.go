// Package settings reads the operator's settings for applications of sparkoperator.k8s.io from the ConfigMap
// config-kubeflow.
//
// It is pure.
package settings
