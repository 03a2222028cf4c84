package main

import (
	"io"
	"net"
	"sync"
)

// relay stands between two unix sockets. While it is cut it has no connections and refuses new ones.
type relay struct {
	listener net.Listener
	target   string

	mutex sync.Mutex
	cuts  int // how many cuts are in force
	conns map[net.Conn]struct{}
}

func startRelay(path, target string) (*relay, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	go r.accept()
	return r, nil
}

func (r *relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.join(conn)
	}
}

func (r *relay) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("unix", r.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !r.enter(near, far) {
		return
	}
	defer r.leave(near, far)
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

func (r *relay) enter(conns ...net.Conn) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.cuts > 0 {
		return false
	}
	for _, conn := range conns {
		r.conns[conn] = struct{}{}
	}
	return true
}

func (r *relay) leave(conns ...net.Conn) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, conn := range conns {
		delete(r.conns, conn)
	}
}

func (r *relay) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.cuts++
	for conn := range r.conns {
		conn.Close()
	}
}

func (r *relay) mend() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.cuts--
}

func (r *relay) stop() {
	r.listener.Close()
	r.cut()
}
