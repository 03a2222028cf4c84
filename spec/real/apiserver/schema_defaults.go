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
	kind  *schemaKind
	path  string
	value string // JSON; "": no default
	alone bool   // it is set only while the fields beside it are empty
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
		visit(k, nil, k.goType, "", map[reflect.Type]bool{}, places)
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
					p.kind.defaults = append(p.kind.defaults, p.path+"\t"+p.value)
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
		if p.value != all[0].value || p.alone != all[0].alone {
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
	if p.alone {
		f.set("alone", p.value)
	} else {
		f.set("default", p.value)
	}
}

// A step from a struct to one below: the field's number. Pointers, and the only elements of lists, are gone through.
func visit(k *schemaKind, path []int, t reflect.Type, text string, above map[reflect.Type]bool, to map[fieldKey][]place) {
	if above[t] || leafForms[t] != "" {
		return
	}
	above[t] = true
	defer delete(above, t)
	object, empty := k.defaulted(path, nil)
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
		p := place{kind: k, path: below}
		if now := empty.Field(i); f.Type.Kind() != reflect.Struct || leafForms[f.Type] != "" {
			if p.value = jsonOf(now); p.value != "" {
				_, beside := k.defaulted(path, func(v reflect.Value) { fillBeside(v, i) })
				p.alone = !beside.IsValid() || jsonOf(beside.Field(i)) != p.value
			}
		}
		to[fieldKey{t, i}] = append(to[fieldKey{t, i}], p)
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				below += "[]"
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			visit(k, append(path[:len(path):len(path)], i), inner, below, above, to)
		}
	}
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

// fillBeside fills all fields but one.
func fillBeside(v reflect.Value, but int) {
	for i := range v.NumField() {
		if i != but && v.Type().Field(i).IsExported() {
			fill(v.Field(i), 2)
		}
	}
}

// fill gives a value something that is not empty, so many levels deep.
func fill(v reflect.Value, depth int) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
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
