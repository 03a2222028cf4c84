package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The schema bundle: what core/schema/ has compiled into the engine. A server with everything enabled that Kubernetes
// has tells the kinds and their resources; types come from Go's own reflection over k8s.io/api and from Kubernetes'
// generated OpenAPI, and defaults from its scheme. docs/dev/schema.md has the form of the files.
var schemaFlags = []string{"--runtime-config=api/all=true", "--feature-gates=AllAlpha=true,AllBeta=true"}

// Types of requests and responses that are no resource's.
var schemaExtras = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.WatchEvent{}, metav1.PartialObjectMetadata{},
	metav1.PartialObjectMetadataList{}, metav1.APIVersions{}, metav1.APIGroup{}, metav1.APIGroupList{},
	metav1.APIResourceList{},
}

func tellSchema(s *server, dir string) error {
	types := newTypeTable()
	kinds, err := findKinds(s, types)
	if err != nil {
		return err
	}
	for _, extra := range schemaExtras {
		types.add(reflect.TypeOf(extra))
	}
	findDefaults(kinds, types)
	files := map[string]*bytes.Buffer{"kinds": {}}
	for _, k := range kinds {
		k.write(files["kinds"])
	}
	for name, packageTypes := range types.byPackage() {
		files[strings.ReplaceAll(name, "/", "_")] = writePackage(packageTypes)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writePackage(types []*schemaType) *bytes.Buffer {
	out := &bytes.Buffer{}
	for _, t := range types {
		fmt.Fprintf(out, ":%s", t.name)
		for _, attribute := range t.attributes {
			fmt.Fprintf(out, "\t%s", attribute)
		}
		fmt.Fprintf(out, "\n\"%s\n", t.description)
		for _, f := range t.fields {
			fmt.Fprintf(out, "%s\t%d\t%s", f.name, f.number, f.form)
			for _, attribute := range f.attributes {
				fmt.Fprintf(out, "\t%s", attribute)
			}
			fmt.Fprintf(out, "\n\"%s\n", f.description)
		}
	}
	return out
}

// firstSentence of a Go comment, without what OpenAPI adds about enums.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n\nPossible enum values:")
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	for at := 0; ; {
		end := strings.Index(text[at:], ". ")
		if end < 0 {
			return text
		}
		at += end + 2
		before := strings.ToLower(text[:at-2])
		if !strings.HasSuffix(before, "e.g") && !strings.HasSuffix(before, "i.e") && !strings.HasSuffix(before, " vs") {
			return text[:at-1]
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
