package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// sample is sample-controller: each Foo has a Deployment, and knows how many replicas of it are available.
type sample struct {
	ctx        context.Context
	kube       kubernetes.Interface
	foos       dynamic.NamespaceableResourceInterface
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]
	deployment cache.SharedIndexInformer
	foo        cache.SharedIndexInformer
	recorder   record.EventRecorder
}

func (s *sample) enqueue(object any) {
	key, err := cache.ObjectToName(object)
	check(err, "key")
	s.queue.Add(key)
}

// owned enqueues the Foo of a Deployment.
func (s *sample) owned(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	accessor := object.(metav1.Object)
	if owner := metav1.GetControllerOf(accessor); owner != nil && owner.Kind == "Foo" {
		s.queue.Add(cache.NewObjectName(accessor.GetNamespace(), owner.Name))
	}
}

func wanted(foo *unstructured.Unstructured) *appsv1.Deployment {
	replicas, _, _ := unstructured.NestedInt64(foo.Object, "spec", "replicas")
	count, labels := int32(replicas), map[string]string{"app": "nginx", "controller": foo.GetName()}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: foo.GetName(), Namespace: foo.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, foo.GroupVersionKind())}},
		Spec: appsv1.DeploymentSpec{
			Replicas: &count,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}

func (s *sample) sync(key cache.ObjectName) error {
	found, exists, err := s.foo.GetIndexer().GetByKey(key.String())
	if err != nil || !exists {
		return err
	}
	foo := found.(*unstructured.Unstructured).DeepCopy()
	deployments, want := s.kube.AppsV1().Deployments(key.Namespace), wanted(foo)
	have, err := deployments.Get(s.ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		have, err = deployments.Create(s.ctx, want, metav1.CreateOptions{FieldManager: "sample"})
	}
	if err == nil && *have.Spec.Replicas != *want.Spec.Replicas {
		have, err = deployments.Update(s.ctx, want, metav1.UpdateOptions{FieldManager: "sample"})
	}
	if err != nil {
		return err
	}
	available, _, _ := unstructured.NestedInt64(foo.Object, "status", "availableReplicas")
	if available == int64(have.Status.AvailableReplicas) {
		return nil
	}
	check(unstructured.SetNestedField(foo.Object, int64(have.Status.AvailableReplicas), "status", "availableReplicas"), "set")
	if _, err = s.foos.Namespace(key.Namespace).UpdateStatus(s.ctx, foo, metav1.UpdateOptions{}); err == nil {
		s.recorder.Event(foo, corev1.EventTypeNormal, "Synced", "Foo synced successfully")
	}
	return err
}

func (s *sample) work() {
	for {
		key, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		if err := s.sync(key); err != nil {
			s.queue.AddRateLimited(key)
		} else {
			s.queue.Forget(key)
		}
		s.queue.Done(key)
	}
}

func newSample(r run) (*sample, func()) {
	kube, err := kubernetes.NewForConfig(protobuf(r.config))
	check(err, "client")
	client, err := dynamic.NewForConfig(r.config)
	check(err, "dynamic client")
	factory := kubeinformers.NewSharedInformerFactoryWithOptions(kube, time.Hour, kubeinformers.WithNamespace(r.namespace))
	dynamics := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, time.Hour, r.namespace, nil)
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	s := &sample{
		ctx: r.ctx, kube: kube, foos: client.Resource(foos),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](5*time.Millisecond, time.Second)),
		deployment: factory.Apps().V1().Deployments().Informer(), foo: dynamics.ForResource(foos).Informer(),
		recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "sample"}),
	}
	each := func(f func(any)) cache.ResourceEventHandlerFuncs {
		return cache.ResourceEventHandlerFuncs{AddFunc: f, UpdateFunc: func(_, now any) { f(now) }, DeleteFunc: f}
	}
	_, err = s.foo.AddEventHandler(each(s.enqueue))
	check(err, "handler")
	_, err = s.deployment.AddEventHandler(each(s.owned))
	check(err, "handler")
	stop := make(chan struct{})
	factory.Start(stop)
	dynamics.Start(stop)
	must(cache.WaitForCacheSync(stop, s.deployment.HasSynced, s.foo.HasSynced), "the caches did not sync")
	return s, func() { close(stop); s.queue.ShutDown(); broadcaster.Shutdown() }
}

func controller(r run) {
	define(r)
	s, stop := newSample(r)
	defer stop()
	go s.work()
	api, deployments := s.foos.Namespace(r.namespace), s.kube.AppsV1().Deployments(r.namespace)
	for i := range 10 {
		_, err := api.Create(r.ctx, foo(fmt.Sprintf("foo-%d", i), 1), metav1.CreateOptions{})
		check(err, "create a Foo")
	}
	await("deployments", func() bool {
		list, err := deployments.List(r.ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 10
	})
	scaled, err := api.Get(r.ctx, "foo-3", metav1.GetOptions{})
	check(err, "get a Foo")
	check(unstructured.SetNestedField(scaled.Object, int64(4), "spec", "replicas"), "set")
	_, err = api.Update(r.ctx, scaled, metav1.UpdateOptions{})
	check(err, "update a Foo")
	await("a scaled deployment", func() bool {
		deployment, err := deployments.Get(r.ctx, "foo-3", metav1.GetOptions{})
		return err == nil && *deployment.Spec.Replicas == 4 && deployment.Generation == 2
	})
	deployment, err := deployments.Get(r.ctx, "foo-3", metav1.GetOptions{})
	check(err, "get")
	deployment.Status.AvailableReplicas, deployment.Status.ReadyReplicas, deployment.Status.Replicas = 4, 4, 4
	_, err = deployments.UpdateStatus(r.ctx, deployment, metav1.UpdateOptions{})
	check(err, "the status of a deployment")
	await("the status of a Foo", func() bool {
		foo, err := api.Get(r.ctx, "foo-3", metav1.GetOptions{})
		available, _, _ := unstructured.NestedInt64(foo.Object, "status", "availableReplicas")
		return err == nil && available == 4
	})
	await("an Event", func() bool {
		events, err := s.kube.CoreV1().Events(r.namespace).List(r.ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.name=foo-3,reason=Synced"})
		return err == nil && len(events.Items) > 0
	})
}
