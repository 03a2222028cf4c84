package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// server is the running kube-apiserver; done gets its end.
type server struct {
	url    string
	config app.CompletedConfig
	done   chan error
}

// One line for each request: a watch's when it begins, any other's when it is answered. The server's own are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  users: ["system:apiserver"]
- level: Metadata
  verbs: ["watch"]
  omitStages: [RequestReceived, ResponseComplete]
- level: Metadata
  omitStages: [RequestReceived, ResponseStarted]
`

func startServer(ctx context.Context, files *folder, extra []string) (*server, error) {
	listener, err := listen(files)
	if err != nil {
		return nil, err
	}
	s := &server{url: "https://" + listener.Addr().String(), done: make(chan error, 1)}
	if err := writeKubeconfig(files, s.url); err != nil {
		return nil, err
	}
	arguments, err := arguments(files, extra)
	if err != nil {
		return nil, err
	}
	completed, err := configure(ctx, listener, arguments)
	if err != nil {
		return nil, err
	}
	return s, s.run(ctx, *completed)
}

// run does what app.Run does, which keeps its configuration to itself.
func (s *server) run(ctx context.Context, completed options.CompletedOptions) error {
	config, err := app.NewConfig(completed)
	if err != nil {
		return err
	}
	if s.config, err = config.Complete(); err != nil {
		return err
	}
	chain, err := app.CreateServerChain(s.config)
	if err != nil {
		return err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return err
	}
	go func() { s.done <- prepared.Run(ctx) }()
	return nil
}

// listen takes the port that the folder's kubeconfig has named before, so that clients outlive a restart.
func listen(files *folder) (net.Listener, error) {
	address := "127.0.0.1:0"
	if text, err := os.ReadFile(files.path("address")); err == nil {
		address = string(text)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	return listener, os.WriteFile(files.path("address"), []byte(listener.Addr().String()), 0o600)
}

func arguments(files *folder, extra []string) ([]string, error) {
	list := []string{
		"--etcd-servers=unix://" + files.path("relay.sock"),
		"--etcd-compaction-interval=0",
		"--endpoint-reconciler-type=none",
		"--authorization-mode=RBAC",
		"--token-auth-file=" + files.path("tokens.csv"),
		"--client-ca-file=" + files.path("ca.crt"),
		"--tls-cert-file=" + files.path("server.crt"),
		"--tls-private-key-file=" + files.path("server.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + files.path("service-account.key"),
		"--service-account-signing-key-file=" + files.path("service-account.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
		"--shutdown-send-retry-after=true",
	}
	if files.audit != "" {
		policy := files.path("audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
			return nil, err
		}
		list = append(list, "--audit-policy-file="+policy, "--audit-log-path="+files.audit)
	}
	return append(list, extra...), nil
}

// configure does what the kube-apiserver command does before it runs, with a listener that is already open.
func configure(ctx context.Context, listener net.Listener, arguments []string) (*options.CompletedOptions, error) {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	sets := o.Flags()
	globalflag.AddGlobalFlags(sets.FlagSet("global"), "kube-apiserver", logs.SkipLoggingConfigurationFlags())
	for _, set := range sets.FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("not a flag: %s", strings.Join(flags.Args(), " "))
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	o.SecureServing.Listener = listener
	if o.SecureServing.BindPort, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, err
	}
	return &completed, utilerrors.NewAggregate(completed.Validate())
}

// waitReady returns when /readyz is ok.
func (s *server) waitReady(ctx context.Context, files *folder) error {
	ca, err := os.ReadFile(files.path("ca.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+files.creds.adminToken)
	for {
		if answer, err := client.Do(request); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-s.done:
			return errors.Join(errors.New("it ended before it was ready"), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
