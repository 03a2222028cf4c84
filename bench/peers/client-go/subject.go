package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const sentKey = "bench/sent-ns"

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// fields is what a handler reads of an object.
type fields struct{ namespace, name, node, sent string }

// subject is one informer of client-go: each comes from its shared informer factory, which gives it the index by
// namespace. All reads are the cheapest that the library offers for that kind of object.
type subject struct {
	informer    cache.SharedIndexInformer
	start       func(context.Context)
	read        func(object any) fields
	byLabel     func(labels.Selector) (int, error)
	inNamespace func(namespace string) (int, error)
}

func newSubject(mode string, config *rest.Config) (*subject, error) {
	switch mode {
	case "json":
		config.ContentType = "application/json"
		return newTyped(config)
	case "protobuf":
		// What client-go asks for when nobody names a content type; named, so that it stays so.
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		return newTyped(config)
	case "dynamic":
		return newDynamic(config)
	case "metadata":
		return newMetadata(config)
	}
	return nil, fmt.Errorf("--mode is json, protobuf, dynamic or metadata, not %q", mode)
}

func newTyped(config *rest.Config) (*subject, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	typed := factory.Core().V1().Pods()
	lister := typed.Lister()
	return &subject{
		informer: typed.Informer(),
		start:    factory.StartWithContext,
		read: func(object any) fields {
			pod := object.(*corev1.Pod)
			return fields{namespace: pod.Namespace, name: pod.Name, node: pod.Spec.NodeName, sent: pod.Annotations[sentKey]}
		},
		byLabel: func(selector labels.Selector) (int, error) {
			return count(lister.List(selector))
		},
		inNamespace: func(namespace string) (int, error) {
			return count(lister.Pods(namespace).List(labels.Everything()))
		},
	}, nil
}

// newDynamic asks for JSON, as the dynamic client does by default: CBOR is an alpha feature that is off.
func newDynamic(config *rest.Config) (*subject, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	s := newGeneric(factory.ForResource(pods))
	s.start = func(ctx context.Context) { factory.Start(ctx.Done()) }
	s.read = func(object any) fields {
		pod := object.(*unstructured.Unstructured)
		node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		sent, _, _ := unstructured.NestedString(pod.Object, "metadata", "annotations", sentKey)
		return fields{namespace: pod.GetNamespace(), name: pod.GetName(), node: node, sent: sent}
	}
	return s, nil
}

// newMetadata asks for protobuf, as the metadata client always does.
func newMetadata(config *rest.Config) (*subject, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	s := newGeneric(factory.ForResource(pods))
	s.start = func(ctx context.Context) { factory.Start(ctx.Done()) }
	s.read = func(object any) fields {
		pod := object.(*metav1.PartialObjectMetadata)
		return fields{namespace: pod.Namespace, name: pod.Name, sent: pod.Annotations[sentKey]}
	}
	return s, nil
}

func newGeneric(generic informers.GenericInformer) *subject {
	lister := generic.Lister()
	return &subject{
		informer: generic.Informer(),
		byLabel: func(selector labels.Selector) (int, error) {
			return count(lister.List(selector))
		},
		inNamespace: func(namespace string) (int, error) {
			return count(lister.ByNamespace(namespace).List(labels.Everything()))
		},
	}
}

func count[T any](found []T, err error) (int, error) {
	return len(found), err
}
