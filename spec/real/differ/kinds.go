package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed kinds.json
var kindsJSON []byte

// kind says how clients write one: `base` is a complete object, `more` what can be added or changed, `wrong` what its
// own validation refuses. Each of the latter is merged into an object, or sent as a patch.
type kind struct {
	Kind, Path, Plural      string
	Weight                  int
	Cluster, Custom, Status bool
	Scale                   bool
	OnlyDry                 bool `json:"only_dry"`
	Subresources            []string
	Base                    map[string]any
	More, Wrong             []map[string]any
	Statuses                []map[string]any // what writes of the status bring, good and bad
}

func readKinds(wanted string) ([]*kind, error) {
	var all, chosen []*kind
	if err := json.Unmarshal(kindsJSON, &all); err != nil {
		return nil, fmt.Errorf("kinds.json: %w", err)
	}
	if wanted == "" {
		return all, nil
	}
	for _, name := range strings.Split(wanted, ",") {
		found := false
		for _, k := range all {
			if k.Plural == name || k.Kind == name {
				chosen = append(chosen, k)
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no kind %q in kinds.json", name)
		}
	}
	return chosen, nil
}

func (k *kind) apiVersion() string {
	return strings.TrimPrefix(strings.TrimPrefix(k.Path, "/apis/"), "/api/")
}

// collection is the path of the kind's objects in the sequence's namespace.
func (k *kind) collection() string {
	if k.Cluster {
		return k.Path + "/" + k.Plural
	}
	return k.Path + "/namespaces/{{ns}}/" + k.Plural
}

// name makes names of cluster's kinds the sequence's own.
func (k *kind) name(short string) string {
	switch {
	case k.Kind == "CustomResourceDefinition":
		return "things.differ.example.com"
	case k.Cluster:
		return "{{ns}}-" + short
	}
	return short
}

func clone(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(typed))
		for key, below := range typed {
			copied[key] = clone(below)
		}
		return copied
	case []any:
		copied := make([]any, len(typed))
		for i, below := range typed {
			copied[i] = clone(below)
		}
		return copied
	}
	return value
}

// merge is a JSON merge patch.
func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		there, wasMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && wasMap:
			merge(there, below)
		default:
			into[key] = clone(value)
		}
	}
}
