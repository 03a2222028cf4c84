package main

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pair is the two servers, and how they are compared.
type pair struct {
	expected, found *server
	spoil           *spoiler
	count           atomic.Int64 // of sequences, for the names of namespaces
	requests        atomic.Int64
	agreed          agreement
}

// agreement counts how far the answers agree, for the sum at the end.
type agreement struct {
	code, reason, statuses, messages, objects, same atomic.Int64
}

func (g *agreement) count(expected, found *answer, differences int) {
	status := isStatus(expected.Body)
	if status {
		g.statuses.Add(1)
	} else {
		g.objects.Add(1)
	}
	if expected.Code != found.Code {
		return
	}
	g.code.Add(1)
	if textAt(expected.Body, "reason") == textAt(found.Body, "reason") {
		g.reason.Add(1)
	}
	if status && message(expected) == message(found) {
		g.messages.Add(1)
	}
	if !status && differences == 0 {
		g.same.Add(1)
	}
}

func (p *pair) agreement() string {
	g := &p.agreed
	part := func(n, of int64) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }
	all := p.requests.Load()
	return fmt.Sprintf("the same: code %s, code and reason %s; of Statuses the message %s; of objects the object %s", part(g.code.Load(), all),
		part(g.reason.Load(), all), part(g.messages.Load(), g.statuses.Load()), part(g.same.Load(), g.objects.Load()))
}

// both asks the two at once.
func both(a, b *session, r *request) (*answer, *answer, error) {
	var first, second *answer
	var err, errToo error
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		first, err = a.send(r)
	}()
	second, errToo = b.send(r)
	wait.Wait()
	if err == nil {
		err = errToo
	}
	return first, second, err
}

// sequence is the course of one: `lost` are the objects that one server has and the other has not, or with other
// contents, because of a difference that was told. What is asked of them later would only repeat it.
type sequence struct {
	p    *pair
	a, b *session
	told map[string]bool
	lost map[string]bool
	all  []*difference
}

// play sends a sequence of requests to both and returns the differences.
func (p *pair) play(seed int64, requests []*request) ([]*difference, error) {
	// Of constant length, and no part of any other name.
	ns := fmt.Sprintf("q%06dq", p.count.Add(1))
	s := &sequence{p: p, a: newSession(p.expected, ns), b: newSession(p.found, ns), told: map[string]bool{}, lost: map[string]bool{}}
	if err := s.a.start(); err != nil {
		return nil, err
	}
	if err := s.b.start(); err != nil {
		return nil, err
	}
	watched := []*request{}
	for i, r := range requests {
		if r.Object != "" && (s.lost[r.Object] || s.lost[path.Dir(r.Object)+"/*"]) {
			continue
		}
		if s.lost[strings.TrimSuffix(r.Path, "/")] {
			continue // an odd path of such an object
		}
		p.requests.Add(1)
		found, opened, err := s.ask(r)
		if err != nil {
			return nil, err
		}
		if opened {
			watched = append(watched, r)
		}
		s.keep(found, seed, i)
	}
	settle(s.a, s.b)
	s.keep(s.watches(watched), seed, len(requests)-1)
	return s.all, nil
}

func (s *sequence) keep(found []*difference, seed int64, index int) {
	for _, d := range found {
		d.seed, d.index = seed, index
	}
	s.all = append(s.all, found...)
}

const again = 80 * time.Millisecond

// ask compares the answers to one request. The real server's cache may be a moment behind: a read that differs is
// asked once more.
func (s *sequence) ask(r *request) ([]*difference, bool, error) {
	reads := r.Method == "GET" && !r.Watch
	for try := 0; ; try++ {
		first, second, err := both(s.a, s.b, r)
		if err != nil {
			return nil, false, err
		}
		s.mine(r, first)
		s.mine(r, second)
		if s.p.spoil != nil {
			s.p.spoil.answer(second)
		}
		told := s.told
		if try == 0 && reads {
			told = copyOf(told)
		}
		c := &comparison{request: r, told: told, object: r.Object}
		if c.object == "" {
			c.object = r.Path
		}
		c.compare(first, second)
		if reads && try == 0 && len(c.found) > 0 && s.p.spoil == nil {
			time.Sleep(again)
			continue
		}
		if reads {
			for key := range c.told {
				s.told[key] = true
			}
		}
		s.note(r, first, second)
		s.p.agreed.count(first, second, len(c.found))
		return c.found, r.Watch && first.Code == 200 && second.Code == 200, nil
	}
}

func copyOf(told map[string]bool) map[string]bool {
	copied := make(map[string]bool, len(told))
	for key := range told {
		copied[key] = true
	}
	return copied
}

// mine leaves only the sequence's own items in a list, and not those that are lost.
func (s *sequence) mine(r *request, a *answer) {
	for _, list := range []string{"items", "rows"} {
		items, ok := at(a.Body, list).([]any)
		if !ok {
			continue
		}
		kept := []any{}
		for _, item := range items {
			name := itemName(item)
			namespace := textAt(item, "metadata", "namespace")
			own := strings.Contains(r.Path, "/namespaces/{{ns}}") || strings.HasPrefix(name, normalNs) || namespace == normalNs
			if own && !s.lostNamed(r, name) && !isRepair(item) {
				kept = append(kept, item)
			}
		}
		a.Body.(map[string]any)[list] = kept
		if metadata, ok := at(a.Body, "metadata").(map[string]any); ok && !strings.Contains(r.Path, "/namespaces/{{ns}}") {
			delete(metadata, "remainingItemCount") // counts others' objects
			delete(metadata, "continue")
		}
	}
}

// isRepair tells whether an item is an Event, or a row about one, of the real server's controllers that look after addresses and ports of services:
// under load they may find a service before its address.
func isRepair(item any) bool {
	said := text(item)
	return strings.Contains(said, "ipallocator-repair-controller") || strings.Contains(said, "portallocator-repair-controller") ||
		strings.Contains(said, "is not allocated; repairing")
}

func (s *sequence) lostNamed(r *request, name string) bool {
	name = strings.Replace(name, normalNs, "{{ns}}", 1)
	if strings.HasSuffix(r.Path, "/"+name) {
		return s.lost[r.Path]
	}
	return s.lost[strings.TrimSuffix(r.Path, "/")+"/*"] || s.lost[strings.TrimSuffix(r.Path, "/")+"/"+name]
}

// onlyTries tells whether the request is a dry run: of a delete its body says so, if there is one.
func (r *request) onlyTries() bool {
	if r.Method == "DELETE" && r.Body != "" {
		return strings.Contains(r.Body, `"dryRun"`)
	}
	return strings.Contains(r.Query, "dryRun=All")
}

// note marks the object as lost, if a write has succeeded on one server alone. What a deletecollection does is not
// looked into: all of the collection is lost, and found again when it is created. A namespace that is deleted is lost:
// the simulator removes it with its content, and on a real server without controllers it stays forever.
func (s *sequence) note(r *request, first, second *answer) {
	if r.Method == "GET" || r.onlyTries() {
		return
	}
	if r.Kind == "Namespace" && r.Method == "DELETE" && first.Code < 300 && second.Code < 300 {
		s.lost[r.Object] = true
	}
	if first.Code < 300 == (second.Code < 300) && (first.Code < 300 || first.Code == second.Code) {
		return
	}
	if first.Code >= 300 && second.Code >= 300 {
		return // neither has changed anything
	}
	if r.Object != "" {
		s.lost[r.Object] = true
		return
	}
	s.lost[r.Path+"/*"] = true
}

// watches compares the events. After a difference in any write, events differ as the objects do.
func (s *sequence) watches(requests []*request) (found []*difference) {
	for i := range min(len(s.a.watches), len(s.b.watches), len(requests)) {
		first, second := s.a.watches[i], s.b.watches[i]
		if first.request != second.request {
			return found // one of them was refused, and that has been told
		}
		c := &comparison{request: requests[i], told: s.told}
		expected, events := s.a.normalEvents(first), s.b.normalEvents(second)
		if s.p.spoil != nil {
			s.p.spoil.events(events)
		}
		for _, byObject := range []map[string][]any{expected, events} {
			for name := range byObject {
				if s.lostNamed(first.request, name) {
					delete(byObject, name)
				}
			}
		}
		c.events(expected, events)
		found = append(found, c.found...)
	}
	return found
}
