// Command kubernetes is every program of the local cluster in one binary: the
// Kubernetes components, kubectl, etcd and CoreDNS. One link instead of eight
// saves minutes on a cold machine and a gigabyte on disk.
//
// It behaves as the program that its own name says, so links called kubectl or
// etcd work where those are expected (envtest looks them up by name), and
// otherwise as the program that its first argument names.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, where the machine has no zone files

	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"       // CoreDNS plugins register themselves; these
	_ "github.com/coredns/coredns/plugin/cache"      // are the ones that the cluster's Corefile
	_ "github.com/coredns/coredns/plugin/errors"     // names.
	_ "github.com/coredns/coredns/plugin/forward"    //
	_ "github.com/coredns/coredns/plugin/kubernetes" //
	_ "github.com/coredns/coredns/plugin/ready"      //
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's credential plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// programs maps a program's name to its main function. A command is built only
// when it runs: they share process-wide registries and would clash otherwise.
var programs = map[string]func(){
	"kube-apiserver":          component(apiserver.NewAPIServerCommand),
	"kube-controller-manager": component(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          component(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              component(proxy.NewProxyCommand),
	"kubelet": component(func() *cobra.Command {
		return kubelet.NewKubeletCommand(context.Background())
	}),
	"kubectl": runKubectl,
	"etcd":    func() { etcdmain.Main(os.Args) },
	"coredns": coremain.Run,
}

func main() {
	name := programName(os.Args[0])
	if programs[name] == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	run, ok := programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: kubernetes PROGRAM [ARGUMENT...]\nprograms: %s\n",
			strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	run()
}

// programName is the name that the binary was called by.
func programName(arg0 string) string {
	return filepath.Base(arg0)
}

// component runs a Kubernetes component's command to its end.
func component(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

func runKubectl() {
	// The verbosity has to hold before the command is built, which already logs.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
