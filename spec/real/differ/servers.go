package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

//go:embed crds.json
var crdsJSON []byte

// server is one of the two that are asked. It stays up for all seeds.
type server struct {
	name    string
	url     string
	client  *http.Client
	process *exec.Cmd
	stdin   io.Closer
	dir     string
}

const startTime = 60 * time.Second

// begin runs a command until its line that matches `ready`, and returns what the pattern's group matched.
func (s *server) begin(ready *regexp.Regexp, command string, args ...string) (string, error) {
	s.process = exec.Command(command, args...)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	stdin, err := s.process.StdinPipe() // the real server ends with it
	if err != nil {
		return "", err
	}
	s.stdin = stdin
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		return "", err
	}
	if log, err := os.Create(filepath.Join(s.dir, "server.log")); err == nil {
		s.process.Stderr = log
	}
	if err := s.process.Start(); err != nil {
		return "", err
	}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if match := ready.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
			}
		}
		close(found)
	}()
	select {
	case line, ok := <-found:
		if !ok {
			return "", fmt.Errorf("%s ended, see %s/server.log", command, s.dir)
		}
		return line, nil
	case <-time.After(startTime):
		return "", fmt.Errorf("%s was not ready after %v, see %s/server.log", command, startTime, s.dir)
	}
}

func startReal(name, binary string, flags []string) (*server, error) {
	dir, err := os.MkdirTemp("", "differ-")
	if err != nil {
		return nil, err
	}
	s := &server{name: name, dir: dir}
	// Finalizers of storage, which only a controller removes, are one of the differences of docs/sim.md.
	args := append([]string{"--dir", dir, "--", "--disable-admission-plugins=StorageObjectInUseProtection"}, flags...)
	if _, err := s.begin(regexp.MustCompile(`^ready kubeconfig=(.*)$`), binary, args...); err != nil {
		s.stop()
		return nil, err
	}
	address, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "admin.crt"), filepath.Join(dir, "admin.key"))
	if err != nil {
		return nil, err
	}
	s.url = "https://" + strings.TrimSpace(string(address))
	// The server was started here and listens on 127.0.0.1: its certificate proves nothing that matters.
	s.connect(&tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true})
	return s, nil
}

func startSim(binary string) (*server, error) {
	dir, err := os.MkdirTemp("", "differ-")
	if err != nil {
		return nil, err
	}
	s := &server{name: "sim", dir: dir}
	url, err := s.begin(regexp.MustCompile(`^Serving on (\S+)`), binary, "sim", "--port", "0")
	if err != nil {
		s.stop()
		return nil, err
	}
	s.url = url
	s.connect(nil)
	return s, s.keepDeleted()
}

// keepDeleted has the simulator keep deleted pods for their whole grace period, as a server without kubelets keeps them
// for ever: else what a sequence sees of them would depend on how long it takes.
func (s *server) keepDeleted() error {
	steps := strings.NewReader(`[{"do": "set", "terminate": "1h"}]`)
	response, err := s.client.Post(s.url+"/sim/scenario", "application/json", steps)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s does not keep deleted pods: %s", s.name, response.Status)
	}
	return nil
}

func (s *server) connect(config *tls.Config) {
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig:     config,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1, as the simulator speaks
		MaxIdleConnsPerHost: 64,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}
}

func (s *server) stop() {
	if s.process != nil && s.process.Process != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		_ = s.stdin.Close()
		_ = s.process.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

// define creates the CustomResourceDefinitions and waits until their objects are served.
func (s *server) define() error {
	var definitions []json.RawMessage
	if err := json.Unmarshal(crdsJSON, &definitions); err != nil {
		return err
	}
	for _, definition := range definitions {
		url := s.url + "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		response, err := s.client.Post(url, "application/json", bytes.NewReader(definition))
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			return fmt.Errorf("%s refuses a definition: %s", s.name, text)
		}
	}
	for _, plural := range []string{"widgets", "gadgets"} {
		if err := s.await("/apis/differ.example.com/v1/" + plural); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) await(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for ctx.Err() == nil {
		if response, err := s.client.Get(s.url + path); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not serve %s", s.name, path)
}
