package main

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var foos = schema.GroupVersionResource{Group: "samplecontroller.example.com", Version: "v1alpha1", Resource: "foos"}

// define has the server serve the Foo of sample-controller.
func define(r run) {
	client, err := apiextensions.NewForConfig(r.config)
	check(err, "client of definitions")
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	count := apiextensionsv1.JSONSchemaProps{Type: "integer"}
	one, ten := 1.0, 10.0
	bounded := apiextensionsv1.JSONSchemaProps{Type: "integer", Minimum: &one, Maximum: &ten}
	_, err = client.ApiextensionsV1().CustomResourceDefinitions().Create(r.ctx, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "foos." + foos.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: foos.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Singular: "foo", Kind: "Foo"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: foos.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"deploymentName": text, "replicas": bounded}},
						"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"availableReplicas": count}},
					}}},
			}},
		},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		check(err, "define")
	}
	await("the definition", func() bool {
		crd, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(r.ctx, "foos."+foos.Group, metav1.GetOptions{})
		check(err, "get the definition")
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	})
}

func foo(name string, replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": foos.Group + "/" + foos.Version, "kind": "Foo", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"deploymentName": name, "replicas": replicas},
	}}
}

func dynamicClient(r run) {
	define(r)
	client, err := dynamic.NewForConfig(r.config)
	check(err, "dynamic client")
	api := client.Resource(foos).Namespace(r.namespace)
	watch, err := api.Watch(r.ctx, metav1.ListOptions{})
	check(err, "watch")
	defer watch.Stop()
	created, err := api.Create(r.ctx, foo("one", 3), metav1.CreateOptions{})
	check(err, "create a Foo")
	event := <-watch.ResultChan()
	must(event.Type == "ADDED" && event.Object.(*unstructured.Unstructured).GetUID() == created.GetUID(), "event: %v", event)
	_, err = api.Create(r.ctx, foo("two", 11), metav1.CreateOptions{})
	must(apierrors.IsInvalid(err), "a Foo beyond its schema: %v", err)

	check(unstructured.SetNestedField(created.Object, int64(2), "status", "availableReplicas"), "set the status")
	check(unstructured.SetNestedField(created.Object, int64(9), "spec", "replicas"), "set the spec")
	updated, err := api.UpdateStatus(r.ctx, created, metav1.UpdateOptions{})
	check(err, "update the status")
	replicas, _, _ := unstructured.NestedInt64(updated.Object, "spec", "replicas")
	available, _, _ := unstructured.NestedInt64(updated.Object, "status", "availableReplicas")
	must(replicas == 3 && available == 2 && updated.GetGeneration() == 1, "after a status: %v", updated)
	check(api.Delete(r.ctx, "one", metav1.DeleteOptions{}), "delete the Foo")
}
