package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// versions of the marker and of the bookmark are above those of all objects.
const (
	bookmarkVersion = "1000900000"
	markerVersion   = "1000900001"
)

// server has all bytes ready before it listens.
type server struct {
	*kind
	states [3][]byte
	storm  chan struct{}
	once   sync.Once
}

func serve(k *kind, dir string, empty bool) error {
	s := &server{kind: k, storm: make(chan struct{})}
	for i := range s.states {
		if empty {
			break
		}
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s.%d", k.name, i)))
		if err != nil {
			return err
		}
		s.states[i] = text
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, s)
}

func (k *kind) groupPath() string {
	if k.resource.Group == "" {
		return "/api/v1"
	}
	return "/apis/" + k.resource.GroupVersion().String()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case s.groupPath() + "/" + s.resource.Resource:
		s.watch(w, r)
	case "/storm":
		s.once.Do(func() { close(s.storm) })
	case "/version":
		answer(w, map[string]any{"major": "1", "minor": "37", "gitVersion": "v1.37.0"})
	case "/api":
		answer(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case "/apis":
		answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": s.groups()})
	case "/api/v1", s.groupPath():
		answer(w, s.resources(r.URL.Path))
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	// A client that has gone needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}

func (s *server) groups() []any {
	if s.resource.Group == "" {
		return []any{}
	}
	version := map[string]any{"groupVersion": s.resource.GroupVersion().String(), "version": s.resource.Version}
	return []any{map[string]any{"name": s.resource.Group, "versions": []any{version}, "preferredVersion": version}}
}

func (s *server) resources(path string) any {
	list, version := []any{}, "v1"
	if path == s.groupPath() {
		version = s.resource.GroupVersion().String()
		list = append(list, map[string]any{"name": s.resource.Resource, "singularName": "", "kind": s.kind.kind,
			"namespaced": s.kind.kind != "Node", "verbs": []string{"get", "list", "watch"}})
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": list}
}

// watch sends the first state as a watch-list, and the others when the storm begins.
func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "only a watch-list is served", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	send := func(text []byte) {
		// A client that has gone is noticed by the context.
		_, _ = w.Write(text)
		w.(http.Flusher).Flush()
	}
	head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{`, s.kind.kind, s.resource.GroupVersion())
	send(s.states[0])
	send([]byte(`{"type":"BOOKMARK","object":` + head + `"resourceVersion":"` + bookmarkVersion +
		`","annotations":{"k8s.io/initial-events-end":"true"}}}}` + "\n"))
	select {
	case <-s.storm:
	case <-r.Context().Done():
		return
	}
	send(s.states[1])
	send(s.states[2])
	namespace := `,"namespace":"default"`
	if s.kind.kind == "Node" {
		namespace = ""
	}
	send([]byte(`{"type":"ADDED","object":` + head + `"name":"marker"` + namespace + `,"uid":"marker","resourceVersion":"` +
		markerVersion + `","creationTimestamp":"2026-01-02T03:04:05Z"}}}` + "\n"))
	<-r.Context().Done()
}
