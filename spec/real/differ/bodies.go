package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"
)

// place is a value in a body.
type place struct {
	holder any
	key    string
	index  int
	path   []string
}

func (p place) get() any {
	if list, ok := p.holder.([]any); ok {
		return list[p.index]
	}
	return p.holder.(map[string]any)[p.key]
}

func (p place) set(value any) {
	if list, ok := p.holder.([]any); ok {
		list[p.index] = value
		return
	}
	p.holder.(map[string]any)[p.key] = value
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	sort.Strings(keys) // the same seed gives the same requests
	return keys
}

// places gives all values below one, in a fixed order.
func places(value any, path []string) (found []place) {
	below := func(p place) {
		found = append(found, p)
		found = append(found, places(p.get(), p.path)...)
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(typed) {
			below(place{holder: typed, key: key, path: append(append([]string{}, path...), key)})
		}
	case []any:
		for i := range typed {
			below(place{holder: typed, index: i, path: append(append([]string{}, path...), fmt.Sprint(i))})
		}
	}
	return found
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.Intn(len(list))] }

func (g *generator) pick(list ...string) string { return pick(g.random, list) }

func text(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(encoded), `\u003c`, "<"), `\u003e`, ">")
}

func submap(object map[string]any, key string) map[string]any {
	below, ok := object[key].(map[string]any)
	if !ok {
		below = map[string]any{}
		object[key] = below
	}
	return below
}

// object makes a complete body.
func (g *generator) object(k *kind, name string) map[string]any {
	body := clone(k.Base).(map[string]any)
	body["apiVersion"], body["kind"] = k.apiVersion(), k.Kind
	metadata := submap(body, "metadata")
	metadata["name"] = name
	if g.one(3) && len(k.More) > 0 {
		merge(body, pick(g.random, k.More))
	}
	if g.one(3) {
		submap(metadata, "labels")["app"] = g.pick("a", "b")
	}
	if g.one(5) {
		submap(metadata, "annotations")["note"] = g.pick("x", "", "längere Notiz")
	}
	if g.one(12) {
		metadata["finalizers"] = []any{"example.com/hold"}
	}
	if g.one(15) {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
			"uid": "11111111-1111-4111-8111-111111111111"}}
	}
	if g.one(20) {
		body["status"] = map[string]any{"phase": "Given"}
	}
	return body
}

var badNames = []string{"UPPER", "with_underscore", "-first", "last-", "a..b", "", "white space", "umläut", "a/b", "%",
	strings.Repeat("n", 64), strings.Repeat("n", 254), "..", "dots.in.name"}
var badKeys = []string{"", "a b", "/a", "a/", "a/b/c", "UPPER.com/a", "-a", "a-", strings.Repeat("k", 64), "ä", "a_b/c",
	strings.Repeat("p", 254) + "/a"}
var badValues = []any{"white space", "-a", "a-", strings.Repeat("v", 64), "ä", 1.0, true, nil, []any{}}

// spoilMetadata puts one mistake into the metadata, and names it.
func (g *generator) spoilMetadata(metadata map[string]any) string {
	owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "11111111-1111-4111-8111-111111111111"}
	switch g.random.Intn(13) {
	case 0, 1:
		metadata["name"] = pick(g.random, badNames)
		return "bad name"
	case 2, 3:
		submap(metadata, "labels")[pick(g.random, badKeys)] = "v"
		return "bad label key"
	case 4, 5:
		submap(metadata, "labels")["l"] = pick(g.random, badValues)
		return "bad label value"
	case 6:
		submap(metadata, "annotations")[pick(g.random, badKeys)] = "v"
		return "bad annotation key"
	case 7:
		metadata["finalizers"] = []any{pick(g.random, []any{"nodomain", "a b/c", "", 1.0, "example.com/x/y"})}
		return "bad finalizer"
	case 8:
		delete(owner, g.pick("apiVersion", "kind", "name", "uid"))
		metadata["ownerReferences"] = []any{owner}
		return "bad owner"
	case 9:
		owner["controller"] = true
		second := clone(owner).(map[string]any)
		second["uid"], second["name"] = "22222222-2222-4222-8222-222222222222", "second"
		metadata["ownerReferences"] = []any{owner, second}
		return "two controllers"
	case 10:
		metadata["namespace"] = g.pick("other", "default")
		return "other namespace"
	case 11:
		metadata[g.pick("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "deletionTimestamp")] =
			pick(g.random, []any{"1", 7.0, "2020-01-01T00:00:00Z", nil, "x"})
		return "system field given"
	default:
		metadata[g.pick("labels", "annotations", "finalizers", "ownerReferences", "name")] =
			pick(g.random, []any{1.0, "text", []any{}, map[string]any{}, []any{1.0}, nil, true})
		return "metadata of a wrong type"
	}
}

var wrongValues = []any{1.0, -1.0, 2.5, "text", "", true, nil, []any{}, map[string]any{}, []any{"x"}, map[string]any{"x": 1.0}, 1e12}

// spoil puts one mistake into a body, and names it. The result is text, because some mistakes are of the JSON.
func (g *generator) spoil(k *kind, body map[string]any) (string, string) {
	all := places(body, nil)
	switch g.random.Intn(14) {
	case 0, 1, 2, 3:
		mistake := g.spoilMetadata(submap(body, "metadata"))
		return text(body), mistake
	case 4, 5:
		if len(k.Wrong) > 0 {
			merge(body, pick(g.random, k.Wrong))
			return text(body), "refused by its validation"
		}
		fallthrough
	case 6, 7:
		p := pick(g.random, all)
		p.set(pick(g.random, wrongValues))
		return text(body), "wrong type"
	case 8, 9:
		p := pick(g.random, all)
		if holder, ok := p.holder.(map[string]any); ok {
			delete(holder, p.key)
		}
		return text(body), "missing field"
	case 10, 11:
		for _, p := range all {
			if holder, ok := p.get().(map[string]any); ok && (g.one(3) || p.key == "spec") {
				holder[g.pick("unknownField", "Spec", "replica")] = pick(g.random, []any{1.0, "x", map[string]any{"a": "b"}})
				return text(body), "unknown field"
			}
		}
		body["unknownField"] = 1.0
		return text(body), "unknown field"
	case 12:
		body[g.pick("kind", "apiVersion")] = pick(g.random, []any{"Other", "", nil, 1.0, "v9", "apps/v1", "a/b/c"})
		return text(body), "wrong kind"
	default:
		whole := text(body)
		return g.pick("", "{", "null", "[]", "1", "\"text\"", whole[:len(whole)-1], whole+"}", "{}",
			strings.Replace(whole, "{", `{"kind":"First",`, 1), strings.ReplaceAll(whole, ":", ": "), "\xff\xfe", "a: b"), "bad JSON"
	}
}
