package main

import (
	"math/rand"
	"sync"
)

// spoiler changes one answer of the second server in each sequence, as a server that is wrong would give it. The
// self-check is that each is found.
type spoiler struct {
	mutex sync.Mutex
	way   string
	skip  int // answers that would fit and are spared
	done  bool
}

var spoilWays = []string{"another code", "another type", "a warning", "a field more", "a field less", "a label more", "another message",
	"another reason", "details missing", "an item less", "an event less", "an event's object"}

func newSpoiler(seed int64) *spoiler {
	random := rand.New(rand.NewSource(seed))
	return &spoiler{way: spoilWays[int(seed)%len(spoilWays)], skip: random.Intn(3)}
}

// spend tells whether it is this one's turn.
func (s *spoiler) spend(fits bool) bool {
	if !fits || s.done {
		return false
	}
	s.skip--
	s.done = s.skip < 0
	return s.done
}

func (s *spoiler) answer(a *answer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	body, isObject := a.Body.(map[string]any)
	metadata, hasMetadata := at(a.Body, "metadata").(map[string]any)
	items, _ := at(a.Body, "items").([]any)
	spec, _ := at(a.Body, "spec").(map[string]any)
	ways := map[string]struct {
		fits bool
		do   func()
	}{
		"another code":    {true, func() { a.Code++ }},
		"another type":    {true, func() { a.Type = "text/other" }},
		"a warning":       {true, func() { a.Warnings = append(a.Warnings, `299 - "spoilt"`) }},
		"a field more":    {isObject, func() { body["spoilt"] = true }},
		"a field less":    {len(spec) > 0, func() { delete(spec, sortedKeys(spec)[0]) }},
		"a label more":    {hasMetadata && !isStatus(a.Body), func() { metadata["labels"] = map[string]any{"spoilt": "yes"} }},
		"another message": {isStatus(a.Body), func() { body["message"] = "spoilt" }},
		"another reason":  {isStatus(a.Body), func() { body["reason"] = "Spoilt" }},
		"details missing": {isStatus(a.Body) && body["details"] != nil, func() { delete(body, "details") }},
		"an item less":    {len(items) > 0, func() { body["items"] = items[1:] }},
	}
	if way, ok := ways[s.way]; ok && s.spend(way.fits) {
		way.do()
	}
}

// events drops the last event of an object, or spoils what is in it.
func (s *spoiler) events(byObject map[string][]any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, name := range sortedKeys(asAny(byObject)) {
		list := byObject[name]
		s.skip = 0
		switch metadata, _ := at(list[len(list)-1], "object", "metadata").(map[string]any); {
		case s.way == "an event less" && s.spend(true):
			byObject[name] = list[:len(list)-1]
		case s.way == "an event's object" && s.spend(metadata != nil):
			metadata["spoilt"] = true
		}
	}
}
