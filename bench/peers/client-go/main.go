// client-go is a subject of the benchmark: an informer of client-go on all pods, with handlers, at the library's
// defaults. It prints one JSON object per line on stdout: `synced` once, then one for each marker (handler.go).
//
//	client-go --server URL [--mode json|protobuf|dynamic|metadata] [--select]
//
// It ends at SIGTERM. How the benchmark speaks with it is told in docs/performance.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(1)
	}
}

func run() error {
	server := flag.String("server", "", "URL of the API server")
	mode := flag.String("mode", "protobuf", "json, protobuf, dynamic or metadata")
	selects := flag.Bool("select", false, "measure the lister once the cache has synced")
	flag.Parse()
	if *server == "" {
		return errors.New("--server URL is needed")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	// A QPS below zero means no limit on the client's side: by default a paged list of 10,000 waits 2 s for it.
	subject, err := newSubject(*mode, &rest.Config{Host: *server, QPS: -1})
	if err != nil {
		return err
	}
	handler := &handler{read: subject.read}
	registration, err := subject.informer.AddEventHandler(handler)
	if err != nil {
		return err
	}
	subject.start(ctx)
	if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) {
		return nil
	}
	if err := reportSynced(subject, handler, *selects); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func reportSynced(subject *subject, handler *handler, selects bool) error {
	line := map[string]any{"event": "synced", "objects": handler.objects.Load(), "version": version()}
	if selects {
		if err := measureSelects(subject, line); err != nil {
			return err
		}
	}
	return printLine(line)
}

// version is that of the library, as the linker has put it down, and that of Go.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/client-go" {
			return "client-go " + module.Version + " (" + runtime.Version() + ")"
		}
	}
	return ""
}

// printLine writes the line in one piece, as the handlers and the main goroutine both print.
func printLine(line map[string]any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}
