package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
)

// report collects differences by category.
type report struct {
	mutex    sync.Mutex
	byName   map[string][]*difference
	known    []*known
	seeds    int
	seedsBad int
}

func newReport(list []*known) *report {
	return &report{byName: map[string][]*difference{}, known: list}
}

func (r *report) add(found []*difference) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.seeds++
	bad := false
	for _, d := range found {
		if !r.isKnown(d) {
			r.byName[d.category()] = append(r.byName[d.category()], d)
			bad = true
		}
	}
	if bad {
		r.seedsBad++
	}
}

func (r *report) isKnown(d *difference) bool {
	for _, k := range r.known {
		if k.pattern.MatchString(d.category() + " | " + d.kind) {
			k.count++
			return true
		}
	}
	return false
}

func (r *report) categories() []string {
	names := make([]string, 0, len(r.byName))
	for name := range r.byName {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := len(r.byName[names[i]]), len(r.byName[names[j]])
		return a > b || (a == b && names[i] < names[j])
	})
	return names
}

func (r *report) kindsOf(name string) string {
	counts := map[string]int{}
	for _, d := range r.byName[name] {
		counts[d.kind]++
	}
	var parts []string
	for kind := range counts {
		parts = append(parts, kind)
	}
	sort.Slice(parts, func(i, j int) bool {
		return counts[parts[i]] > counts[parts[j]] || (counts[parts[i]] == counts[parts[j]] && parts[i] < parts[j])
	})
	for i, kind := range parts {
		parts[i] = fmt.Sprintf("%s %d", kind, counts[kind])
	}
	if len(parts) > 5 {
		parts = append(parts[:5], "...")
	}
	return strings.Join(parts, ", ")
}

// aspects sums up by the first two words of a category, for the overview.
func (r *report) aspects() string {
	counts := map[string]int{}
	for name, list := range r.byName {
		counts[strings.SplitN(name, " | ", 2)[0]] += len(list)
	}
	var parts []string
	for aspect := range counts {
		parts = append(parts, aspect)
	}
	sort.Slice(parts, func(i, j int) bool { return counts[parts[i]] > counts[parts[j]] })
	for i, aspect := range parts {
		parts[i] = fmt.Sprintf("%s %d", aspect, counts[aspect])
	}
	return strings.Join(parts, ", ")
}

// print writes all categories to a file and the most frequent to the output.
func (r *report) print(file string, top int) error {
	var all strings.Builder
	names := r.categories()
	for n, name := range names {
		first := r.byName[name][0]
		entry := fmt.Sprintf("%5d  %s  (%s)\n       seed %d, request %d\n       - %s\n       + %s\n", len(r.byName[name]), name, r.kindsOf(name),
			first.seed, first.index, first.expected, first.found)
		all.WriteString(entry)
		if n < top {
			fmt.Print(cut(entry))
		}
	}
	for _, k := range r.known {
		fmt.Printf("%5d  known: %s\n", k.count, k.reason)
	}
	if len(names) > top {
		fmt.Printf("%d more categories are in %s\n", len(names)-top, file)
	}
	return os.WriteFile(file, []byte(all.String()), 0o644)
}

func (r *report) total() (n int) {
	for _, list := range r.byName {
		n += len(list)
	}
	return n
}

const columns = 240

// cut shortens the lines of a text.
func cut(entry string) string {
	lines := strings.Split(entry, "\n")
	for i, line := range lines {
		if runes := []rune(line); len(runes) > columns {
			lines[i] = string(runes[:columns]) + "..."
		}
	}
	return strings.Join(lines, "\n")
}
