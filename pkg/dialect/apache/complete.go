package apache

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Ingredients returns what, besides the plan, the objects of an attempt depend on.
func Ingredients(app *sparkv1.SparkApplication, defaults Defaults) any {
	return struct {
		ConfigMaps []*corev1.ConfigMap
		Ingresses  []sparkv1.DriverServiceIngress
		HTTPRoutes []sparkv1.DriverHTTPRoute
		GRPCRoutes []sparkv1.DriverGRPCRoute
		// Without a Service for the UI the ID of a launch is that of earlier versions.
		UIServiceType corev1.ServiceType `json:",omitempty"`
	}{
		ConfigMaps(app), app.Spec.DriverServiceIngressList, app.Spec.DriverHTTPRouteList, app.Spec.DriverGRPCRouteList,
		defaults.UIServiceType,
	}
}

// Complete adds the user's config maps and routes to the objects of an attempt, and changes the objects as the Apache
// operator does. It adds the Service of the UI if the operator's settings ask for one.
func Complete(app *sparkv1.SparkApplication, defaults Defaults, objects *submission.Objects) error {
	routes, err := Routes(app, objects)
	if err := errors.Join(CheckConfigMaps(app, objects).Err(), err); err != nil {
		return err
	}
	objects.Owned = append(objects.Owned, routes...)
	Decorate(objects)
	addUI(app, defaults, objects)
	if err := addGang(app, defaults, objects); err != nil {
		return err
	}
	for _, configMap := range ConfigMaps(app) {
		configMap.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		objects.Before = append(objects.Before, configMap)
	}
	return nil
}
