package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

// watch is an open one; its events are compared at the end of the sequence.
type watch struct {
	request *request
	mutex   sync.Mutex
	events  []any
	close   func()
	done    chan struct{}
	last    time.Time
}

const (
	quiet     = 40 * time.Millisecond   // without an event: both have said all, if they said equally much
	quietLong = 1200 * time.Millisecond // when one has said less than the other
)

func (s *session) startWatch(r *request) (*answer, error) {
	response, err := s.open(r)
	if err != nil {
		return s.broken(err)
	}
	a := headOf(response)
	if response.StatusCode != 200 {
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		a.take(text)
		s.normalise(a)
		return a, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{request: r, done: make(chan struct{}), last: time.Now()}
	w.close = func() {
		cancel()
		response.Body.Close()
	}
	s.watches = append(s.watches, w)
	go func() {
		defer close(w.done)
		lines := bufio.NewReaderSize(response.Body, 1<<20)
		for ctx.Err() == nil {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			event, err := decode(line)
			if err != nil {
				event = string(line)
			}
			w.mutex.Lock()
			w.events = append(w.events, event)
			w.last = time.Now()
			w.mutex.Unlock()
		}
	}()
	return a, nil
}

func (w *watch) state() (int, time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.events), time.Since(w.last)
}

// settle waits until both servers' watches are quiet, and ends them.
func settle(a, b *session) {
	begin := time.Now()
	for i := range min(len(a.watches), len(b.watches)) {
		for {
			n, calm := a.watches[i].state()
			m, calmToo := b.watches[i].state()
			calm = min(calm, calmToo, time.Since(begin))
			if calm > quietLong || (n == m && calm > quiet) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for _, s := range []*session{a, b} {
		for _, w := range s.watches {
			w.close()
			<-w.done
		}
	}
}

// normalEvents gives the events of a watch by object, as an answer of which Events can be compared. The initial events
// of a watch come in any order, and so do deletions of a collection; what happens to one object does not.
func (s *session) normalEvents(w *watch) map[string][]any {
	byObject := map[string][]any{}
	for _, event := range w.events {
		a := &answer{Body: event}
		s.normalise(a)
		kind := textAt(a.Body, "type")
		name := textAt(a.Body, "object", "metadata", "name")
		if kind == "BOOKMARK" {
			if textAt(a.Body, "object", "metadata", "annotations", "k8s.io/initial-events-end") == "" {
				continue // comes now and then
			}
			name = "(bookmark)"
		}
		if rows, ok := at(a.Body, "object", "rows").([]any); ok && len(rows) > 0 {
			name = textAt(rows[0], "object", "metadata", "name")
		}
		if isRepair(a.Body) {
			continue
		}
		if !s.own(w.request.Path, name) && kind != "ERROR" && kind != "BOOKMARK" {
			continue
		}
		byObject[name] = append(byObject[name], a.Body)
	}
	return byObject
}

// own tells whether an item of a list or a watch over all namespaces or of a cluster's kind is of this sequence.
func (s *session) own(path, name string) bool {
	return strings.Contains(path, "/namespaces/{{ns}}") || strings.HasPrefix(name, normalNs)
}
