package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"encoding/json"
)

// shrink leaves out of a sequence what is not needed for a difference of this category.
func (p *pair) shrink(category string, requests []*request) ([]*request, error) {
	shows := func(tried []*request) (bool, error) {
		found, err := p.play(0, tried)
		if err != nil {
			return false, err
		}
		for _, d := range found {
			if d.category() == category {
				return true, nil
			}
		}
		return false, nil
	}
	last := requests[len(requests)-1]
	guesses := [][]*request{{last}}
	var same []*request
	for _, r := range requests {
		if r.Object != "" && r.Object == last.Object {
			same = append(same, r)
		}
	}
	guesses = append(guesses, same)
	for _, guess := range guesses {
		if ok, err := shows(guess); err != nil {
			return nil, err
		} else if ok {
			requests = guess
			break
		}
	}
	for size := (len(requests) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at+size < len(requests)+1; {
			shorter := append(append([]*request{}, requests[:at]...), requests[at+size:]...)
			ok := false
			if len(shorter) > 0 {
				var err error
				if ok, err = shows(shorter); err != nil {
					return nil, err
				}
			}
			if ok {
				requests = shorter
			} else {
				at += size
			}
		}
	}
	return requests, nil
}

// save writes a sequence as JSON lines, which --replay reads.
func save(dir string, n int, requests []*request) (string, error) {
	name := filepath.Join(dir, fmt.Sprintf("%02d.json", n))
	var lines strings.Builder
	for _, r := range requests {
		lines.WriteString(text(r) + "\n")
	}
	return name, os.WriteFile(name, []byte(lines.String()), 0o644)
}

func load(name string) (requests []*request, err error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(content)))
	for decoder.More() {
		r := &request{}
		if err := decoder.Decode(r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// short is a request in one line, or two with the body.
func (r *request) short() string {
	line := r.Method + " " + r.Path
	if r.Query != "" {
		line += "?" + r.Query
	}
	for _, name := range []string{"Content-Type", "Accept"} {
		if value, ok := r.Headers[name]; ok && (name == "Accept" || value != "application/json") {
			line += "  " + name + ": " + value
		}
	}
	if r.Body != "" {
		line += "\n      " + shown(r.Body)
	}
	return line
}
