// Programs against an API server as client-go's documentation writes them: typed and dynamic clients, informers, an
// election, and a controller with a work queue. Each scenario prints one line when it is done; the first failure ends
// the program with 1. The server is that of $KUBECONFIG; all objects are in a namespace of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const patience = 30 * time.Second

// run is what a scenario gets.
type run struct {
	ctx       context.Context
	config    *rest.Config
	namespace string
}

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func must(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

// await calls the condition until it holds.
func await(what string, condition func() bool) {
	deadline := time.Now().Add(patience)
	for !condition() {
		must(time.Now().Before(deadline), "%s: not within %v", what, patience)
		time.Sleep(10 * time.Millisecond)
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err, "KUBECONFIG")
	config.QPS, config.Burst = 1000, 1000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := run{ctx, config, fmt.Sprintf("client-go-%d", os.Getpid())}
	for _, scenario := range []struct {
		name string
		play func(run)
	}{
		{"typed", typed},
		{"informers", informers},
		{"dynamic", dynamicClient},
		{"election", election},
		{"controller", controller},
	} {
		scenario.play(r)
		fmt.Println("ok", scenario.name)
	}
}
