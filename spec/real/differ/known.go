package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed known
var knownText string

// known is a difference that docs/sim.md lists, and its reason. The file has a line for each: a regular expression for
// its categories with " | KIND" at their end, a tab, the reason.
type known struct {
	pattern *regexp.Regexp
	reason  string
	count   int
}

const knownMax = 20

func readKnown() (list []*known, err error) {
	for n, line := range strings.Split(knownText, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, reason, ok := strings.Cut(line, "\t")
		if !ok || reason == "" {
			return nil, fmt.Errorf("known:%d: there is no tab with a reason", n+1)
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("known:%d: %w", n+1, err)
		}
		list = append(list, &known{pattern: compiled, reason: reason})
	}
	if len(list) > knownMax {
		return nil, fmt.Errorf("known: %d differences; at most %d are allowed", len(list), knownMax)
	}
	return list, nil
}
