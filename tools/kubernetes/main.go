// Command kubernetes runs a Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler as they are released. Nodes and containers are played: see kubelet.go.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The components are processes of this program, because each of them takes the logging and the feature gates of its
// process for itself.
var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: kubernetes run DIRECTORY | render DIRECTORY"))
	}
	command, argument := os.Args[1], os.Args[2]
	switch command {
	case "run":
		fail(run(argument))
	case "render":
		fail(render(argument))
	default:
		component := components[command]
		if component == nil {
			fail(fmt.Errorf("there is no command %q", command))
		}
		go endWithInput(func() { os.Exit(0) })
		os.Args = append([]string{command}, os.Args[2:]...)
		os.Exit(cli.Run(component()))
	}
}

// render prints the objects of a Kustomize directory as one YAML stream, as `kubectl kustomize` does.
func render(directory string) error {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), directory)
	if err != nil {
		return err
	}
	text, err := objects.AsYaml()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

// endWithInput calls end when standard input ends: the process that holds its other side is gone then.
func endWithInput(end func()) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	end()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
