package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
)

type schemaField struct {
	name        string // as in JSON; "" for a struct whose fields are those of the object around it
	number      int    // of the protobuf message; 0: none
	form        string
	attributes  []string
	description string
	goField     reflect.StructField
}

type schemaType struct {
	pkg, name   string
	attributes  []string
	description string
	fields      []*schemaField
	goType      reflect.Type
}

type typeTable struct {
	definitions map[string]common.OpenAPIDefinition
	types       map[reflect.Type]*schemaType
}

func newTypeTable() *typeTable {
	ref := func(path string) spec.Ref { return spec.MustCreateRef(path) }
	return &typeTable{generatedopenapi.GetOpenAPIDefinitions(ref), map[reflect.Type]*schemaType{}}
}

// Types with a form of their own in JSON or in protobuf.
var leafForms = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):                                  "time",
	reflect.TypeOf(metav1.MicroTime{}):                             "microtime",
	reflect.TypeOf(metav1.Duration{}):                              "duration",
	reflect.TypeOf(metav1.FieldsV1{}):                              "json",
	reflect.TypeOf(resource.Quantity{}):                            "quantity",
	reflect.TypeOf(intstr.IntOrString{}):                           "intstr",
	reflect.TypeOf(runtime.RawExtension{}):                         "raw",
	reflect.TypeOf(apiextensionsv1.JSON{}):                         "json",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrBool{}):        "schemaorbool",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrArray{}):       "schemaorarray",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrStringArray{}): "schemaorstrings",
}

func packageOf(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/")
}

func (table *typeTable) definition(t reflect.Type) spec.Schema {
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		if definition, ok := table.definitions[named.OpenAPIModelName()]; ok {
			return definition.Schema
		}
	}
	return table.definitions[t.PkgPath()+"."+t.Name()].Schema
}

func extension(schema spec.Schema, name string) string {
	switch value := schema.Extensions["x-kubernetes-"+name].(type) {
	case string:
		return value
	case []any:
		var words []string
		for _, word := range value {
			words = append(words, fmt.Sprint(word))
		}
		return strings.Join(words, ",")
	}
	return ""
}

// add returns the entry of a struct type, after it has added that and all that it refers to.
func (table *typeTable) add(t reflect.Type) *schemaType {
	if known := table.types[t]; known != nil {
		return known
	}
	definition := table.definition(t)
	entry := &schemaType{pkg: packageOf(t), name: t.Name(), description: firstSentence(definition.Description), goType: t}
	table.types[t] = entry
	if extension(definition, "map-type") == "atomic" {
		entry.attributes = append(entry.attributes, "atomic")
	}
	for i := range t.NumField() {
		if f := table.field(entry, definition, t.Field(i)); f != nil {
			entry.fields = append(entry.fields, f)
		}
	}
	return entry
}

func (table *typeTable) field(in *schemaType, definition spec.Schema, f reflect.StructField) *schemaField {
	tag := strings.Split(f.Tag.Get("json"), ",")
	entry := &schemaField{name: tag[0], goField: f}
	if protobuf := strings.Split(f.Tag.Get("protobuf"), ","); len(protobuf) > 1 {
		entry.number, _ = strconv.Atoi(protobuf[1])
	}
	if entry.name == "-" || !f.IsExported() {
		return nil
	}
	options := map[string]bool{}
	for _, option := range tag[1:] {
		options[option] = true
	}
	entry.form = table.form(in.pkg, f.Type)
	schema := definition.Properties[entry.name]
	inline := entry.name == ""
	switch {
	case inline:
	case options["omitzero"]:
	case f.Type.Kind() == reflect.Struct || !options["omitempty"]:
		entry.form += "!" // JSON has it even when it is empty
	}
	entry.description = firstSentence(schema.Description)
	for _, required := range definition.Required {
		if required == entry.name {
			entry.attributes = append(entry.attributes, "required")
		}
	}
	entry.describe(schema)
	entry.set("go", goName(f.Type))
	return entry
}

// goName is the name of a string type that is not plain, as messages of Go's decoder have it: "v1.SecretType".
func goName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() == reflect.String && t.Name() != "string" {
		return t.String()
	}
	return ""
}

func (f *schemaField) set(name, value string) {
	if value != "" {
		f.attributes = append(f.attributes, name+"="+value)
	}
}

// describe adds what only OpenAPI knows.
func (f *schemaField) describe(schema spec.Schema) {
	list := extension(schema, "list-type")
	if keys := extension(schema, "list-map-keys"); list == "map" {
		list += ":" + keys
	} else if keys != "" {
		panic(f.name + ": keys of a list that is no map")
	}
	f.set("list", list)
	f.set("map", extension(schema, "map-type"))
	f.set("patch", extension(schema, "patch-strategy"))
	f.set("key", extension(schema, "patch-merge-key"))
	enum := schema.Enum
	if schema.Items != nil && schema.Items.Schema != nil {
		enum = append(enum, schema.Items.Schema.Enum...)
	}
	var words []string
	for _, word := range enum {
		words = append(words, fmt.Sprint(word))
	}
	f.set("enum", strings.Join(words, ","))
	if text := defaultOf(schema); text != "" {
		f.set("default", text)
	}
}

// defaultOf is a default that is more than the empty value, which the generator names for each required field.
func defaultOf(schema spec.Schema) string {
	if schema.Default == nil || reflect.ValueOf(schema.Default).IsZero() {
		return ""
	}
	text, err := json.Marshal(schema.Default)
	if err != nil {
		panic(err)
	}
	switch string(text) {
	case "0", "{}", `""`, "false":
		return ""
	}
	return string(text)
}

// form is the type of a value, as seen from a package: "*int32", "[]Container", "{}string", "meta/v1.ObjectMeta".
func (table *typeTable) form(pkg string, t reflect.Type) string {
	if leaf := leafForms[t]; leaf != "" {
		if t == reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrBool{}) {
			table.add(reflect.TypeOf(apiextensionsv1.JSONSchemaProps{}))
		}
		return leaf
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + table.form(pkg, t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		// A list with a name is a message of its own in protobuf, with its elements as field 1.
		if _, ok := reflect.New(t).Interface().(interface{ Marshal() ([]byte, error) }); ok {
			return "[=]" + table.form(pkg, t.Elem())
		}
		return "[]" + table.form(pkg, t.Elem())
	case reflect.Map:
		return "{}" + table.form(pkg, t.Elem())
	case reflect.Struct:
		table.add(t)
		if packageOf(t) == pkg {
			return t.Name()
		}
		return packageOf(t) + "." + t.Name()
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return t.Kind().String()
	case reflect.Int: // nowhere in a message that is kept
		return "int64"
	case reflect.Float64:
		return "double"
	}
	panic(fmt.Sprintf("no form for %v", t))
}

func (table *typeTable) byPackage() map[string][]*schemaType {
	packages := map[string][]*schemaType{}
	for _, t := range table.types {
		packages[t.pkg] = append(packages[t.pkg], t)
	}
	for _, types := range packages {
		sort.Slice(types, func(i, j int) bool { return types[i].name < types[j].name })
	}
	return packages
}
