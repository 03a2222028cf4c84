package main

import (
	"context"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// store is the embedded etcd with a client that does not go through the relay.
type store struct {
	server *embed.Etcd
	client *clientv3.Client
}

func startEtcd(files *folder) (*store, error) {
	clients := url.URL{Scheme: "unix", Path: files.path("etcd.sock")}
	peers := url.URL{Scheme: "unix", Path: files.path("peer.sock")}
	config := embed.NewConfig()
	config.Dir = files.path("etcd")
	// What it advertises stays as it is by default: nobody looks it up.
	config.ListenClientUrls = []url.URL{clients}
	config.ListenPeerUrls = []url.URL{peers}
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.QuotaBackendBytes = 8 << 30
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{clients.String()}, DialTimeout: 5 * time.Second})
	if err != nil {
		server.Close()
		return nil, err
	}
	return &store{server: server, client: client}, nil
}

// compact forgets all that was before the present revision and returns it.
func (s *store) compact(ctx context.Context) (int64, error) {
	answer, err := s.client.Get(ctx, "kubelua")
	if err != nil {
		return 0, err
	}
	revision := answer.Header.Revision
	_, err = s.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	return revision, err
}

// advance makes new revisions that are no API server object's.
func (s *store) advance(ctx context.Context, count int) error {
	for range count {
		if _, err := s.client.Put(ctx, "kubelua", time.Now().String()); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) stop() {
	s.client.Close()
	s.server.Close()
}
