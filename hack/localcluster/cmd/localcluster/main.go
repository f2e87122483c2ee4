// Command localcluster boots a real Kubernetes on this machine, with the images
// that Firesteel's tests run, and takes it down again.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cluster"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/function"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/registry"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/spark"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/volumes"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "localcluster: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	dir, err := cache.Default()
	if err != nil {
		return err
	}
	c := cluster.New(dir, os.Stderr)
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "A real Kubernetes on this machine",
		Long:          "A real Kubernetes on this machine, for Firesteel's tests. What it builds is stored in " + string(dir) + " (FIRESTEEL_CACHE).",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(upCommand(c, dir), downCommand(c), statusCommand(c), kubeconfigCommand(dir),
		envCommand(c), assetsCommand(c, dir), sparkCommand(c, dir), sparkImageCommand(c), functionCommand(c), prometheusCommand(c), tmuxCommand(c), chromiumCommand(c), pythonCommand(c), registryCommand(c), volumesCommand())
	return root.ExecuteContext(ctx)
}

func upCommand(c *cluster.Cluster, dir cache.Dir) *cobra.Command {
	var versions []string
	var eventing bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Boot the cluster, building what is missing, and print its kubeconfig's path",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			more, err := spark.Find(versions...)
			if err != nil {
				return err
			}
			if err := c.Up(cmd.Context(), cluster.Contents{Spark: more, Eventing: eventing}); err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "\nTo use it:\n%s\n", exports(c))
			fmt.Println(dir.Kubeconfig())
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&versions, "spark", nil, "have images of these versions of Spark too, besides "+spark.Default.Version)
	cmd.Flags().BoolVar(&eventing, "eventing", false, "have Knative Eventing run in it")
	return cmd
}

func downCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and put the machine back as it was",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.Down(cmd.Context()) },
	}
}

func statusCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Report what runs, and fail unless the cluster is healthy",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			status, err := c.Status(cmd.Context())
			fmt.Print(status)
			return err
		},
	}
}

func kubeconfigCommand(dir cache.Dir) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the cluster's kubeconfig",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { fmt.Println(dir.Kubeconfig()) },
	}
}

func envCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print what a shell exports to use the cluster",
		Args:  cobra.NoArgs,
		Run:   func(*cobra.Command, []string) { fmt.Print(exports(c)) },
	}
}

func assetsCommand(c *cluster.Cluster, dir cache.Dir) *cobra.Command {
	var kwok bool
	cmd := &cobra.Command{
		Use:   "control-plane-assets",
		Short: "Build etcd, kube-apiserver and kubectl only, and print their folder, for KUBEBUILDER_ASSETS",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.BuildAssets(cmd.Context(), kwok); err != nil {
				return err
			}
			fmt.Println(dir.Bin())
			return nil
		},
	}
	cmd.Flags().BoolVar(&kwok, "kwok", false, "build kwok too, which simulates nodes")
	return cmd
}

func sparkCommand(c *cluster.Cluster, dir cache.Dir) *cobra.Command {
	return &cobra.Command{
		Use:   "spark VERSION...",
		Short: "Download these versions of Spark only, and print the folder that holds each under its version",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, versions []string) error {
			wanted, err := spark.Find(versions...)
			if err != nil {
				return err
			}
			if err := c.InstallSpark(cmd.Context(), wanted); err != nil {
				return err
			}
			fmt.Println(spark.Homes(dir))
			return nil
		},
	}
}

func sparkImageCommand(c *cluster.Cluster) *cobra.Command {
	var repository, archive string
	cmd := &cobra.Command{
		Use:   "spark-image",
		Short: "Make an image of Spark " + spark.Default.Version + " with s3a, gs and the JMX exporter, push or write it, and print its name",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name := "spark:" + spark.Default.Version + "-object-storage"
			return c.BuildSparkImage(cmd.Context(), func(ctx context.Context, img *image.Image) error {
				if archive != "" {
					fmt.Println("docker.io/library/" + name)
					return img.WriteArchive(archive, "docker.io/library/"+name)
				}
				pushed, err := img.Publish(ctx, repository+"/"+name)
				if err == nil {
					fmt.Println(pushed)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&repository, "push", "", "the registry, with a folder, to push it to, as REGISTRY/FOLDER")
	cmd.Flags().StringVar(&archive, "archive", "", "the file to write it to, as an OCI archive")
	cmd.MarkFlagsOneRequired("push", "archive")
	cmd.MarkFlagsMutuallyExclusive("push", "archive")
	return cmd
}

func functionCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "function DIR IMAGE",
		Short: "Make an image of a function in Python, requirements.txt and function.py, for the cluster that runs",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.AddFunction(cmd.Context(), function.Function{Dir: args[0], Image: args[1]})
		},
	}
}

func prometheusCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "prometheus",
		Short: "Install Prometheus and promtool only",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.InstallPrometheus(cmd.Context()) },
	}
}

func tmuxCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux",
		Short: "Install tmux only",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.InstallTmux(cmd.Context()) },
	}
}

func chromiumCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "chromium",
		Short: "Install Chromium only",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.InstallChromium(cmd.Context()) },
	}
}

func pythonCommand(c *cluster.Cluster) *cobra.Command {
	return &cobra.Command{
		Use:   "python REQUIREMENTS",
		Short: "Install the Python packages that a requirements.txt names only, and print their folder, for PYTHONPATH",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := c.InstallPython(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Println(dir)
			return nil
		},
	}
}

func registryCommand(c *cluster.Cluster) *cobra.Command {
	var address, dir string
	var base bool
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Serve container images, as `up` does in the background",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if base {
				go func() { cobra.CheckErr(c.PushBase(cmd.Context(), address, dir)) }()
			}
			return registry.Serve(cmd.Context(), address, dir)
		},
	}
	cmd.Flags().BoolVar(&base, "base", false, "have "+cluster.BaseName+" in it, on which ko puts a Go program")
	cmd.Flags().StringVar(&address, "address", "127.0.0.1:5005", "where to listen")
	cmd.Flags().StringVar(&dir, "dir", "", "the folder to keep blobs in")
	_ = cmd.MarkFlagRequired("dir")
	return cmd
}

func volumesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "volumes DIR",
		Short: "Let every pod write to the volumes in a folder, as `up` does in the background",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return volumes.Serve(cmd.Context(), args[0]) },
	}
}

func exports(c *cluster.Cluster) string {
	var text string
	for _, setting := range c.Environment() {
		text += "export " + setting + "\n"
	}
	return text
}
