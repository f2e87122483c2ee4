package cluster

import (
	"context"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/spark"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// BuildSparkImage makes the image of the default Spark with the connectors of object storage, and hands it over. It needs no cluster.
func (c *Cluster) BuildSparkImage(ctx context.Context, deliver func(context.Context, *image.Image) error) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return step.NewRunner(c.progress, c.cache.Logs()).Run(ctx, c.sparkImageSteps(deliver)...)
}

func (c *Cluster) sparkImageSteps(deliver func(context.Context, *image.Image) error) []step.Step {
	home, layer := c.sparkStep(spark.Default), c.layerStep(spark.Default)
	return []step.Step{
		packagesStep, c.debianStep(), home, layer,
		{Name: "connectors", After: []string{home.Name}, Remedy: offline,
			Do: func(ctx context.Context, t *step.Task) error { return spark.BuildConnectors(ctx, t, c.cache) }},
		{Name: "spark image", After: []string{"debian", layer.Name, "connectors"}, Remedy: "see the log; the registry must take images, and the folder must have 2 GB of room",
			Do: func(ctx context.Context, t *step.Task) error {
				t.Say("writing the image")
				img, err := spark.ImageWithConnectors(c.cache)
				if err != nil {
					return err
				}
				return deliver(ctx, img)
			}},
	}
}
