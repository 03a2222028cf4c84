package main

import (
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strings"
)

// difference is one between two answers. Category groups it with others of the same cause, as far as that can be
// told; what is behind it are an example's values.
type difference struct {
	aspect, verb, tag, detail string
	kind                      string
	expected, found           string
	seed                      int64
	index                     int
}

func (d *difference) category() string {
	return fmt.Sprintf("%s | %s | %s | %s", d.aspect, d.verb, d.tag, d.detail)
}

const shownMax = 700

func shown(value any) string {
	said, ok := value.(string)
	if !ok {
		said = text(value)
	}
	if len(said) > shownMax {
		said = said[:shownMax] + "..."
	}
	return said
}

// comparison is of the two answers to one request. Differences in paths that an object has shown before are not told
// again: `told` is kept over the sequence, by object.
type comparison struct {
	request *request
	told    map[string]bool
	object  string
	found   []*difference
	prefix  string
}

func (c *comparison) add(aspect, detail string, expected, found any) {
	c.found = append(c.found, &difference{aspect: c.prefix + aspect, verb: c.request.Verb, tag: c.request.Tag, detail: detail,
		kind: c.request.Kind, expected: shown(expected), found: shown(found)})
}

func isStatus(body any) bool { return textAt(body, "kind") == "Status" && at(body, "status") != nil }

func outcome(a *answer) string {
	if reason := textAt(a.Body, "reason"); reason != "" && isStatus(a.Body) {
		return fmt.Sprintf("%d %s", a.Code, reason)
	}
	return fmt.Sprint(a.Code)
}

// compare looks from the outside in: after a difference in the status code or in the kind of the answer, what is
// within would only repeat it.
func (c *comparison) compare(expected, found *answer) {
	if expected.Code != found.Code {
		c.add("code", outcome(expected)+" -> "+outcome(found), message(expected), message(found))
		return
	}
	if e, f := strings.Join(expected.Warnings, "\n"), strings.Join(found.Warnings, "\n"); e != f {
		c.add("warning", "", e, f)
	}
	if expected.Type != found.Type {
		c.add("type", expected.Type+" -> "+found.Type, "", "")
	}
	if expected.Retry != found.Retry {
		c.add("retry-after", expected.Retry+" -> "+found.Retry, "", "")
	}
	if expected.Text != found.Text {
		c.add("text", "", expected.Text, found.Text)
	}
	if isStatus(expected.Body) && isStatus(found.Body) {
		c.compareStatus(expected.Body, found.Body)
		return
	}
	if e, f := textAt(expected.Body, "kind"), textAt(found.Body, "kind"); e != f {
		c.add("kind", e+" -> "+f, expected.Body, found.Body)
		return
	}
	c.compareObjects(expected.Body, found.Body)
}

func message(a *answer) string {
	if said := textAt(a.Body, "message"); said != "" && isStatus(a.Body) {
		return said
	}
	if a.Body != nil {
		return text(a.Body)
	}
	return a.Text
}

func (c *comparison) compareStatus(expected, found any) {
	if e, f := textAt(expected, "reason"), textAt(found, "reason"); e != f {
		c.add("reason", e+" -> "+f, at(expected, "message"), at(found, "message"))
		return
	}
	if e, f := at(expected, "message"), at(found, "message"); !reflect.DeepEqual(e, f) {
		c.add("message", textAt(expected, "reason"), e, f)
		return // causes say the same once more
	}
	if e, f := at(expected, "details"), at(found, "details"); !reflect.DeepEqual(e, f) {
		c.add("details", textAt(expected, "reason"), e, f)
	}
	c.compareValues("", without(expected, "message", "details"), without(found, "message", "details"), "status")
}

func without(value any, keys ...string) map[string]any {
	rest := map[string]any{}
	if object, ok := value.(map[string]any); ok {
		for key, below := range object {
			rest[key] = below
		}
	}
	for _, key := range keys {
		delete(rest, key)
	}
	return rest
}

// compareObjects compares an object, or the items of a list one by one.
func (c *comparison) compareObjects(expected, found any) {
	for _, list := range []string{"items", "rows"} {
		if e, ok := at(expected, list).([]any); ok {
			f, _ := at(found, list).([]any)
			c.compareItems(e, f)
			expected, found = without(expected, list), without(found, list)
		}
	}
	c.compareValues("", expected, found, "object")
}

func itemName(item any) string {
	if name := textAt(item, "object", "metadata", "name"); name != "" {
		return name
	}
	if name := textAt(item, "metadata", "name"); name != "" {
		return name
	}
	if cells, ok := at(item, "cells").([]any); ok && len(cells) > 0 {
		return fmt.Sprint(cells[0])
	}
	return ""
}

func (c *comparison) compareItems(expected, found []any) {
	names := func(items []any) (list []string) {
		for _, item := range items {
			list = append(list, itemName(item))
		}
		return list
	}
	for _, items := range [][]any{expected, found} {
		if random := strings.Join(names(items), " "); strings.Contains(random, "MADE") || strings.Contains(random, "UID") {
			if strings.Contains(c.request.Query, "limit=") && len(expected) == len(found) {
				return // which of them are on a page depends on their names
			}
			sort.SliceStable(items, func(i, j int) bool { return itemName(items[i]) < itemName(items[j]) })
		}
	}
	if e, f := names(expected), names(found); !reflect.DeepEqual(e, f) {
		c.add("items", "", strings.Join(e, " "), strings.Join(f, " "))
		return
	}
	collection := c.object
	for i := range expected {
		c.object = collection + "/" + itemName(expected[i])
		c.compareValues("", expected[i], found[i], "object")
	}
	c.object = collection
}

// freeKeys are maps with keys of users: their keys are no part of a category.
var freeKeys = regexp.MustCompile(`(\b(?:labels|annotations|data|nodeSelector|matchLabels|limits|requests|binaryData|stringData|capacity))\.[^\[]*$`)

func (c *comparison) compareValues(path string, expected, found any, aspect string) {
	if reflect.DeepEqual(expected, found) {
		return
	}
	e, isMap := expected.(map[string]any)
	f, wasMap := found.(map[string]any)
	if isMap && wasMap && path != "metadata.managedFields" {
		for _, key := range unionKeys(e, f) {
			below := strings.TrimPrefix(path+"."+key, ".")
			ev, has := e[key]
			fv, had := f[key]
			switch {
			case !had:
				c.tell(aspect, below, "missing", ev, "")
			case !has:
				c.tell(aspect, below, "added", "", fv)
			default:
				c.compareValues(below, ev, fv, aspect)
			}
		}
		return
	}
	el, isList := expected.([]any)
	fl, wasList := found.([]any)
	if isList && wasList && len(el) == len(fl) && path != "metadata.managedFields" {
		for i := range el {
			c.compareValues(path+"[]", el[i], fl[i], aspect)
		}
		return
	}
	c.tell(aspect, path, "other", expected, found)
}

func (c *comparison) tell(aspect, path, how string, expected, found any) {
	path = freeKeys.ReplaceAllString(path, "$1.*")
	key := c.object + " " + path
	if c.object != "" && c.told[key] {
		return
	}
	c.told[key] = true
	c.add(aspect, how+" "+path, expected, found)
}

func unionKeys(a, b map[string]any) []string {
	both := map[string]any{}
	for key := range a {
		both[key] = nil
	}
	for key := range b {
		both[key] = nil
	}
	keys := sortedKeys(both)
	sort.Strings(keys)
	return keys
}

// events compares a watch's events, object by object.
func (c *comparison) events(expected, found map[string][]any) {
	c.prefix = "event "
	for _, name := range unionKeys(asAny(expected), asAny(found)) {
		e, f := expected[name], found[name]
		types := func(events []any) string {
			var list []string
			for _, event := range events {
				list = append(list, textAt(event, "type"))
			}
			return strings.Join(list, " ")
		}
		if strings.Contains(c.request.Query, "resourceVersion=0") {
			e = catchUp(e, len(f))
		}
		if types(e) != types(f) {
			c.add("types", "", name+": "+types(e), types(f))
			continue
		}
		c.object = c.request.Path + "/" + name
		for i := range e {
			c.compareValues("", at(e[i], "object"), at(f[i], "object"), "object")
		}
	}
}

// catchUp leaves out the first events of an object that the real server's cache had not seen yet when a watch from 0
// began: it may begin with an older state than another server.
func catchUp(events []any, n int) []any {
	for len(events) > n && len(events) > 1 && textAt(events[0], "type") == "ADDED" && textAt(events[1], "type") == "MODIFIED" {
		first := without(events[1])
		first["type"] = "ADDED"
		events = append([]any{first}, events[2:]...)
	}
	return events
}

func asAny(events map[string][]any) map[string]any {
	keys := map[string]any{}
	for key := range events {
		keys[key] = nil
	}
	return keys
}
