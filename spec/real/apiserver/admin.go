package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
)

// The admin socket speaks HTTP over DIR/admin.sock; an answer is one line of text. It returns when the thing is done.
//
//	POST /compact      etcd forgets its history; watches go on, old list versions and continue tokens die
//	POST /cut?ms=N     the API server loses etcd for N milliseconds (answers at once)
//	POST /expire       every resourceVersion given out so far is too old: for lists, continue tokens and watches
type admin struct {
	etcd *store
	link *relay
}

func startAdmin(path string, etcd *store, link *relay) (*http.Server, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	a := &admin{etcd: etcd, link: link}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /compact", answer(a.compact))
	mux.HandleFunc("POST /cut", answer(a.cut))
	mux.HandleFunc("POST /expire", answer(a.expire))
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	return server, nil
}

func answer(do func(*http.Request) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := do(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, text)
	}
}

func (a *admin) compact(r *http.Request) (string, error) {
	revision, err := a.etcd.compact(r.Context())
	return fmt.Sprintf("revision %d", revision), err
}

func (a *admin) cut(r *http.Request) (string, error) {
	ms, err := strconv.Atoi(r.URL.Query().Get("ms"))
	if err != nil {
		return "", fmt.Errorf("ms: %w", err)
	}
	a.link.cut()
	time.AfterFunc(time.Duration(ms)*time.Millisecond, a.link.mend)
	return fmt.Sprintf("cut for %d ms", ms), nil
}

// expire compacts past everything that the API server's watch caches have seen, while they cannot see it. When they
// are back, their place in the history is gone and they have to begin anew, and so has everyone who watched them.
// Two new revisions: a watch goes on at the one after the last it saw, which must be compacted too.
func (a *admin) expire(r *http.Request) (string, error) {
	a.link.cut()
	err := a.etcd.advance(r.Context(), 2)
	var revision int64
	if err == nil {
		revision, err = a.etcd.compact(r.Context())
	}
	a.link.mend()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("revision %d", revision), waitForCaches(r.Context(), revision)
}

// waitForCaches returns when each watch cache of the API server has seen the revision.
func waitForCaches(ctx context.Context, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		behind, err := cacheBehind(revision)
		if err != nil || behind == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the watch cache of %s did not come back", behind)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// cacheBehind names a watch cache that has not seen the revision. The process's own metrics know.
func cacheBehind(revision int64) (string, error) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return "", err
	}
	for _, family := range families {
		if family.GetName() != "apiserver_watch_cache_resource_version" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if int64(metric.GetGauge().GetValue()) < revision {
				return fmt.Sprint(metric.GetLabel()), nil
			}
		}
		return "", nil
	}
	return "", fmt.Errorf("the API server does not tell the versions of its watch caches")
}
