// Rules that only the storages of the server know: how objects of a kind are named, created, changed and deleted.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"regexp"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
)

// storesOf makes the server's storages once more: only the storages know these rules.
func storesOf(s *server) (map[schema.GroupVersionResource]*genericregistry.Store, error) {
	config := s.config.KubeAPIs
	client, err := kubernetes.NewForConfig(config.ControlPlane.Generic.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	providers, err := config.StorageProviders(client)
	if err != nil {
		return nil, err
	}
	crd := customresourcedefinition.NewStrategy(apiextensionsapiserver.Scheme)
	service := apiservice.NewStrategy(aggregatorscheme.Scheme)
	stores := map[schema.GroupVersionResource]*genericregistry.Store{
		{Group: apiextensions.GroupName, Version: "v1", Resource: "customresourcedefinitions"}: {
			CreateStrategy: crd, UpdateStrategy: crd,
			NewFunc: func() runtime.Object { return &apiextensions.CustomResourceDefinition{} }},
		{Group: apiregistration.GroupName, Version: "v1", Resource: "apiservices"}: {
			CreateStrategy: service, UpdateStrategy: service,
			NewFunc: func() runtime.Object { return &apiregistration.APIService{} }},
	}
	generic := config.ControlPlane.Generic
	for _, provider := range providers {
		info, err := provider.NewRESTStorage(generic.MergedResourceConfig, generic.RESTOptionsGetter)
		if err != nil {
			return nil, err
		}
		for version, resources := range info.VersionedResourcesStorageMap {
			for name, storage := range resources {
				group := info.PrioritizedVersions[0].Group
				if store := storeIn(storage); store != nil {
					stores[schema.GroupVersionResource{Group: group, Version: version, Resource: name}] = store
				}
			}
		}
	}
	return stores, nil
}

// storeIn finds the store that a resource's storage is, embeds or wraps.
func storeIn(storage any) *genericregistry.Store {
	if store, ok := storage.(*genericregistry.Store); ok {
		return store
	}
	v := reflect.Indirect(reflect.ValueOf(storage))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, name := range []string{"Store", "store", "StandardStorage"} {
		if field := v.FieldByName(name); field.IsValid() && !field.IsNil() {
			if field.Kind() == reflect.Pointer && field.Type() == reflect.TypeFor[*genericregistry.Store]() {
				return (*genericregistry.Store)(field.UnsafePointer())
			}
			if field.CanInterface() {
				return storeIn(field.Interface())
			}
		}
	}
	return nil
}

// addRules adds how the kind's objects are created and changed.
func (k *schemaKind) addRules(store *genericregistry.Store) {
	flag := func(name string, is bool) {
		if is {
			k.attributes = append(k.attributes, name)
		}
	}
	flag("returns-deleted", store.ReturnDeletedObject)
	if store.UpdateStrategy != nil {
		flag("created-by-update", store.UpdateStrategy.AllowCreateOnUpdate())
		flag("needs-version", !store.UpdateStrategy.AllowUnconditionalUpdate())
	}
	graceful, ok := store.DeleteStrategy.(rest.RESTGracefulDeleteStrategy)
	flag("graceful", ok && graceful != nil && k.resource.Name == "pods")
	if store.CreateStrategy == nil {
		return
	}
	object := k.internal(store)
	if !k.prepare(store, object) {
		return
	}
	accessor, err := meta.Accessor(object)
	flag("generation", err == nil && accessor.GetGeneration() == 1)
	k.addStatus(store, object)
	k.addNames(store)
}

func (k *schemaKind) context() context.Context {
	ctx := request.WithUser(request.NewContext(), &user.DefaultInfo{Name: "admin"})
	if k.resource.Namespaced {
		ctx = request.WithNamespace(ctx, "default")
	}
	return request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: k.gvk.Group, APIVersion: k.gvk.Version,
		Resource: k.resource.Name})
}

// prepare does what a create does first; false: that needs more than an empty object.
func (k *schemaKind) prepare(store *genericregistry.Store, object runtime.Object) (done bool) {
	defer func() { done = recover() == nil }()
	store.CreateStrategy.PrepareForCreate(k.context(), object)
	return true
}

var timeOfNow = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)

// addStatus adds the status after a create, where "now" stands for a time, and whether a create may bring one.
func (k *schemaKind) addStatus(store *genericregistry.Store, prepared runtime.Object) {
	if !k.has("status") {
		return
	}
	first := k.statusOf(prepared)
	if first != "" && first != "{}" {
		k.attributes = append(k.attributes, "first="+first)
	}
	object := k.internal(store)
	fill(reflect.ValueOf(object).Elem().FieldByName("Status"), 3)
	brought := k.statusOf(object)
	if k.prepare(store, object) && mostlyKept(brought, k.statusOf(object)) {
		k.attributes = append(k.attributes, "first-status")
	}
}

// mostlyKept tells whether most members of an object are in another, too: a server drops what is switched off.
func mostlyKept(before, after string) bool {
	var was, is map[string]json.RawMessage
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(after), &is) != nil {
		return false
	}
	kept := 0
	for key, value := range was {
		if bytes.Equal(value, is[key]) {
			kept++
		}
	}
	return 2*kept > len(was)
}

func (k *schemaKind) statusOf(object runtime.Object) string {
	external, err := k.scheme.ConvertToVersion(object, k.gvk.GroupVersion())
	if err != nil {
		return ""
	}
	k.scheme.Default(external)
	text, err := json.Marshal(external)
	if err != nil {
		panic(err)
	}
	var parts struct{ Status json.RawMessage }
	if err := json.Unmarshal(text, &parts); err != nil {
		panic(err)
	}
	return timeOfNow.ReplaceAllString(string(parts.Status), `"now"`)
}

// addNames adds the rule for names, unless it is that of most kinds, a subdomain.
func (k *schemaKind) addNames(store *genericregistry.Store) {
	switch {
	case k.accepts(store, "a:B"), k.wantsSegment(store):
		k.attributes = append(k.attributes, "name=path")
	case k.accepts(store, "a.b"):
	case k.accepts(store, "2001:db8::1"):
		k.attributes = append(k.attributes, "name=any")
	case k.accepts(store, "1a"):
		k.attributes = append(k.attributes, "name=label")
	case k.accepts(store, "a"):
		k.attributes = append(k.attributes, "name=dns1035")
	}
}

// internal gives an empty object with its defaults, in the form that the server's own code uses.
func (k *schemaKind) internal(store *genericregistry.Store) runtime.Object {
	external, err := k.scheme.New(k.gvk)
	if err != nil {
		panic(err)
	}
	k.scheme.Default(external)
	object := store.New()
	if err := k.scheme.Convert(external, object, nil); err != nil {
		panic(err)
	}
	return object
}

// wantsSegment tells whether a name need only be a segment of a path, and one that the rest of the object decides.
func (k *schemaKind) wantsSegment(store *genericregistry.Store) (wants bool) {
	defer func() {
		if recover() != nil {
			wants = false
		}
	}()
	problems := k.nameProblems(store, "a%b")
	return len(problems) == 1 && problems[0].Detail == "may not contain '%'"
}

func (k *schemaKind) accepts(store *genericregistry.Store, name string) (accepted bool) {
	defer func() {
		if recover() != nil {
			accepted = name == "a.b"
		}
	}()
	return len(k.nameProblems(store, name)) == 0
}

func (k *schemaKind) nameProblems(store *genericregistry.Store, name string) (problems field.ErrorList) {
	object := k.internal(store)
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	accessor.SetName(name)
	if k.resource.Namespaced {
		accessor.SetNamespace("default")
	}
	for _, problem := range store.CreateStrategy.Validate(k.context(), object) {
		if problem.Field == "metadata.name" {
			problems = append(problems, problem)
		}
	}
	return problems
}
