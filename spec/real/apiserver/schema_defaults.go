package main

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// One place where a field of a struct type is, below a kind.
type place struct {
	kind   *schemaKind
	path   string
	value  string // JSON; "": no default
	unless string // "field" or "field:VALUE" that take the default away, with commas between them
}

type fieldKey struct {
	t     reflect.Type
	index int
}

// findDefaults tries Kubernetes' own defaulting functions at each place of each kind. A default that a type has
// everywhere belongs to the type's field, any other to the kind.
func findDefaults(kinds []*schemaKind, types *typeTable) {
	places := map[fieldKey][]place{}
	for _, k := range kinds {
		walk := &walk{k, types, map[reflect.Type]bool{}, places}
		walk.visit(nil, k.goType, "")
	}
	for _, t := range types.types {
		for _, f := range t.fields {
			all := places[fieldKey{t.goType, f.goField.Index[0]}]
			if same(all) {
				f.setDefault(all[0])
				continue
			}
			for _, p := range all {
				if p.value != "" {
					p.kind.defaults = append(p.kind.defaults, strings.TrimRight(p.path+"\t"+p.value+"\t"+p.unless, "\t"))
				}
			}
		}
	}
	for _, k := range kinds {
		sort.Strings(k.defaults)
	}
}

func same(all []place) bool {
	for _, p := range all {
		if p.value != all[0].value || p.unless != all[0].unless {
			return false
		}
	}
	return len(all) > 0
}

func (f *schemaField) setDefault(p place) {
	if p.value == "" {
		return
	}
	for i, attribute := range f.attributes {
		if strings.HasPrefix(attribute, "default=") { // OpenAPI's
			f.attributes = append(f.attributes[:i:i], f.attributes[i+1:]...)
			break
		}
	}
	f.set("default", p.value)
	f.set("unless", p.unless)
}

// walk goes through the structs below a kind, but into none that it is in already.
type walk struct {
	kind   *schemaKind
	types  *typeTable
	above  map[reflect.Type]bool
	places map[fieldKey][]place
}

// visit looks at a struct. A step of its path is the number of a field; pointers, and the only elements of lists, are
// gone through.
func (w *walk) visit(path []int, t reflect.Type, text string) {
	if w.above[t] || leafForms[t] != "" {
		return
	}
	w.above[t] = true
	defer delete(w.above, t)
	object, empty := w.kind.defaulted(path, nil)
	if object == nil {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		below := text
		if name != "" {
			below = strings.TrimPrefix(text+"."+name, ".")
		}
		p := place{kind: w.kind, path: below}
		if f.Type.Kind() != reflect.Struct || leafForms[f.Type] != "" {
			if p.value = jsonOf(empty.Field(i)); p.value != "" {
				p.unless = w.whatTakesAway(path, t, i, p.value)
			}
		}
		w.places[fieldKey{t, i}] = append(w.places[fieldKey{t, i}], p)
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				below += "[]"
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			w.visit(append(path[:len(path):len(path)], i), inner, below)
		}
	}
}

// whatTakesAway fills each of the fields beside one, with each of its values if it has an enum.
func (w *walk) whatTakesAway(path []int, t reflect.Type, field int, value string) string {
	var found []string
	for _, beside := range w.types.types[t].fields {
		j := beside.goField.Index[0]
		if j == field || beside.name == "" {
			continue
		}
		enum := beside.enum()
		for _, word := range enum {
			_, at := w.kind.defaulted(path, func(v reflect.Value) { fillWith(v.Field(j), word, 2) })
			if at.IsValid() && jsonOf(at.Field(field)) == value {
				continue
			}
			if word == "x" {
				found = append(found, beside.name)
			} else {
				found = append(found, beside.name+":"+word)
			}
		}
	}
	return strings.Join(found, ",")
}

// enum gives the values of a field; "x" stands for any.
func (f *schemaField) enum() []string {
	for _, attribute := range f.attributes {
		if words, ok := strings.CutPrefix(attribute, "enum="); ok && !strings.Contains(f.form, "[]") {
			return strings.Split(words, ",")
		}
	}
	return []string{"x"}
}

// jsonOf gives "" for what JSON does not show, and for the time of now.
func jsonOf(v reflect.Value) string {
	if v.IsZero() || leafForms[v.Type()] == "time" || v.Type() == reflect.TypeFor[*metav1.Time]() {
		return ""
	}
	if (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
		return ""
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err)
	}
	return string(text)
}

// defaulted makes an object with nothing but what the path needs, and then what `also` does to the struct there; it
// returns the object with its defaults, and that struct of it.
func (k *schemaKind) defaulted(path []int, also func(reflect.Value)) (object runtime.Object, at reflect.Value) {
	defer func() {
		if recover() != nil {
			object, at = nil, reflect.Value{}
		}
	}()
	object, err := k.scheme.New(k.gvk)
	if err != nil {
		panic(err)
	}
	at = follow(reflect.ValueOf(object).Elem(), path)
	if also != nil {
		also(at)
	}
	k.scheme.Default(object)
	return object, follow(reflect.ValueOf(object).Elem(), path)
}

// follow goes down a path and makes what is not there.
func follow(v reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		v = v.Field(i)
		for v.Kind() != reflect.Struct {
			if v.Kind() == reflect.Pointer {
				if v.IsNil() {
					v.Set(reflect.New(v.Type().Elem()))
				}
				v = v.Elem()
				continue
			}
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			v = v.Index(0)
		}
	}
	return v
}

// fill gives a value something that is not empty, so many levels deep.
func fill(v reflect.Value, depth int) { fillWith(v, "x", depth) }

func fillWith(v reflect.Value, word string, depth int) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillWith(v.Elem(), word, depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillWith(v.Index(0), word, depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth)
		fill(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := 0; depth > 0 && leafForms[v.Type()] == "" && i < v.NumField(); i++ {
			fill(v.Field(i), depth-1)
		}
	}
}
