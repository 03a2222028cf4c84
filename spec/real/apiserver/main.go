// apiserver runs a genuine kube-apiserver on an embedded etcd, for the specs: one process, one folder, no network
// but a port of 127.0.0.1. It prints "ready kubeconfig=PATH" and runs until SIGTERM or until its stdin ends, so that it
// never outlives a test runner.
//
//	apiserver [--dir DIR] [--audit FILE] [-- KUBE-APISERVER-FLAG ...]
//	apiserver --pod-security FILE
//	apiserver --schema DIR
//
// A folder that was used before is taken up again: same objects, certificates, tokens and (when free) port.
// For what a spec may do to it see admin.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "folder for data, certificates and sockets (default: a new one, removed at the end)")
	audit := flag.String("audit", "", "file that gets a JSON line for each request")
	pods := flag.String("pod-security", "", "file with a list of pods: print what Kubernetes' policies say of them, and end")
	schema := flag.String("schema", "", "folder that gets the files of core/schema/data, from this server's kinds and types")
	flag.Parse()
	if *pods != "" {
		return tellPodSecurity(*pods)
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if *schema == "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}

	if *dir == "" {
		temporary, err := os.MkdirTemp("", "apiserver-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		*dir = temporary
	}
	files, err := openFolder(*dir, *audit)
	if err != nil {
		return err
	}
	if *schema != "" {
		return serve(ctx, files, schemaFlags, func(s *server) error { return tellSchema(s, *schema) })
	}
	return serve(ctx, files, flag.Args(), func(s *server) error {
		fmt.Printf("ready kubeconfig=%s\n", files.path("kubeconfig"))
		return <-s.done
	})
}

// serve starts the parts one on top of the other and waits for the end: etcd, the relay in front of it, the API
// server that sees etcd only through the relay, and the admin socket. When all is ready it does what it is for.
func serve(ctx context.Context, files *folder, extra []string, do func(*server) error) error {
	etcd, err := startEtcd(files)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.stop()
	link, err := startRelay(files.path("relay.sock"), files.path("etcd.sock"))
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	defer link.stop()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := startServer(ctx, files, extra)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	admin, err := startAdmin(files.path("admin.sock"), etcd, link)
	if err != nil {
		return fmt.Errorf("admin socket: %w", err)
	}
	defer admin.Close()
	if err := server.waitReady(ctx, files); err != nil {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	return do(server)
}

// folder is the place of everything that the process keeps, by absolute paths.
type folder struct {
	dir   string
	audit string
	creds credentials
}

func openFolder(dir, audit string) (*folder, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if audit != "" {
		if audit, err = filepath.Abs(audit); err != nil {
			return nil, err
		}
	}
	files := &folder{dir: absolute, audit: audit}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, err
	}
	for _, socket := range []string{"etcd.sock", "peer.sock", "relay.sock", "admin.sock"} {
		if err := os.Remove(files.path(socket)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return files, files.creds.loadOrMake(files)
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }
