package main

import (
	"bytes"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
)

type schemaKind struct {
	gvk        schema.GroupVersionKind
	resource   metav1.APIResource
	subs       []metav1.APIResource
	attributes []string
	defaults   []string // "path=value": those that its types have only in this kind
	scheme     *runtime.Scheme
	goType     reflect.Type
}

var schemes = []*runtime.Scheme{legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme}

func schemeOf(gvk schema.GroupVersionKind) *runtime.Scheme {
	for _, scheme := range schemes {
		if scheme.Recognizes(gvk) {
			return scheme
		}
	}
	return nil
}

// findKinds asks the running server for its resources, in its order, and adds their types.
func findKinds(s *server, types *typeTable) ([]*schemaKind, error) {
	config := s.config.KubeAPIs.ControlPlane.Generic.LoopbackClientConfig
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	stores, err := storesOf(s)
	if err != nil {
		return nil, err
	}
	versions, err := versionsOf(client, stores)
	if err != nil {
		return nil, err
	}
	var lists []*metav1.APIResourceList
	for _, version := range versions {
		list, err := client.ServerResourcesForGroupVersion(version.String())
		if err != nil {
			return nil, err
		}
		lists = append(lists, list)
	}
	if err := restoreGates(); err != nil {
		return nil, err
	}
	var kinds []*schemaKind
	for i, version := range versions {
		kinds = append(kinds, kindsOfVersion(version, lists[i].APIResources, stores, types)...)
	}
	return kinds, nil
}

// restoreGates gives every gate its default again: what is on only makes more kinds, what it does is not wanted.
func restoreGates() error {
	defaults := map[string]bool{}
	for name, gate := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if !gate.LockToDefault && name != "AllAlpha" && name != "AllBeta" {
			defaults[string(name)] = gate.Default
		}
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(defaults)
}

// versionsOf waits until the server's list of groups, which gives the order, has each group and version.
func versionsOf(client *discovery.DiscoveryClient,
	stores map[schema.GroupVersionResource]*genericregistry.Store) ([]schema.GroupVersion, error) {
	wanted := map[schema.GroupVersion]bool{}
	for gvr := range stores {
		wanted[gvr.GroupVersion()] = true
	}
	for {
		groups, err := client.ServerGroups()
		if err != nil {
			return nil, err
		}
		var versions []schema.GroupVersion
		missing := len(wanted)
		for _, group := range groups.Groups {
			for _, version := range group.Versions {
				gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
				versions = append(versions, gv)
				if wanted[gv] {
					missing--
				}
			}
		}
		if missing == 0 {
			return versions, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func kindsOfVersion(version schema.GroupVersion, resources []metav1.APIResource,
	stores map[schema.GroupVersionResource]*genericregistry.Store, types *typeTable) []*schemaKind {
	byName := map[string]*schemaKind{}
	var kinds []*schemaKind
	enabled := controlplane.DefaultAPIResourceConfigSource()
	sort.SliceStable(resources, func(i, j int) bool { return resources[i].Name < resources[j].Name })
	for _, r := range resources {
		if main, _, isSub := strings.Cut(r.Name, "/"); isSub {
			byName[main].subs = append(byName[main].subs, r)
			if gvk := gvkOf(version, r); schemeOf(gvk) != nil {
				types.add(typeOf(gvk))
			}
			continue
		}
		k := &schemaKind{gvk: version.WithKind(r.Kind), resource: r}
		k.scheme = schemeOf(k.gvk)
		k.goType = typeOf(k.gvk)
		types.add(k.goType)
		gvr := version.WithResource(r.Name)
		if enabled.ResourceEnabled(gvr) || k.scheme != legacyscheme.Scheme {
			k.attributes = append(k.attributes, "on")
		}
		byName[r.Name] = k
		kinds = append(kinds, k)
	}
	for _, k := range kinds {
		k.addLabels()
		if store := stores[version.WithResource(k.resource.Name)]; store != nil {
			k.addRules(store)
		}
	}
	return kinds
}

func gvkOf(version schema.GroupVersion, r metav1.APIResource) schema.GroupVersionKind {
	if r.Version != "" {
		version = schema.GroupVersion{Group: r.Group, Version: r.Version}
	}
	return version.WithKind(r.Kind)
}

func typeOf(gvk schema.GroupVersionKind) reflect.Type {
	object, err := schemeOf(gvk).New(gvk)
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(object).Elem()
}

func (k *schemaKind) has(sub string) bool {
	for _, r := range k.subs {
		if r.Name == k.resource.Name+"/"+sub {
			return true
		}
	}
	return false
}

// addLabels tries each path of the kind as a field selector's label.
func (k *schemaKind) addLabels() {
	var found []string
	for _, path := range pathsOf(k.goType, "", 3) {
		if path == "metadata.name" || path == "metadata.namespace" {
			continue
		}
		if _, _, err := k.scheme.ConvertFieldLabel(k.gvk, path, "x"); err == nil {
			found = append(found, path)
		}
	}
	if found != nil {
		k.attributes = append(k.attributes, "fields="+strings.Join(found, ","))
	}
}

func pathsOf(t reflect.Type, prefix string, depth int) []string {
	var paths []string
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth == 0 {
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" || !t.Field(i).IsExported() {
			continue
		}
		if name == "" {
			paths = append(paths, pathsOf(t.Field(i).Type, prefix, depth)...)
			continue
		}
		paths = append(paths, prefix+name)
		paths = append(paths, pathsOf(t.Field(i).Type, prefix+name+".", depth-1)...)
	}
	return paths
}

func (k *schemaKind) write(out *bytes.Buffer) {
	r := k.resource
	fmt.Fprintf(out, "=%s\t%s\t%s\t%s.%s", k.gvk.GroupVersion(), k.gvk.Kind, r.Name, packageOf(k.goType), k.goType.Name())
	words := func(name string, list []string) {
		if len(list) > 0 {
			fmt.Fprintf(out, "\t%s=%s", name, strings.Join(list, ","))
		}
	}
	if r.Namespaced {
		fmt.Fprint(out, "\tnamespaced")
	}
	if r.SingularName != strings.ToLower(r.Kind) {
		words("singular", []string{r.SingularName})
	}
	words("verbs", r.Verbs)
	words("short", r.ShortNames)
	words("categories", r.Categories)
	for _, attribute := range k.attributes {
		fmt.Fprintf(out, "\t%s", attribute)
	}
	fmt.Fprintln(out)
	for _, sub := range k.subs {
		_, name, _ := strings.Cut(sub.Name, "/")
		gvk := gvkOf(k.gvk.GroupVersion(), sub)
		fmt.Fprintf(out, "/%s\t%s\t%s\tverbs=%s\n", name, gvk.GroupVersion(), gvk.Kind, strings.Join(sub.Verbs, ","))
	}
	for _, text := range k.defaults {
		fmt.Fprintf(out, "@%s\n", text)
	}
}
