package main

import (
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const maps = 50

func informers(r run) {
	client, err := kubernetes.NewForConfig(protobuf(r.config))
	check(err, "client")
	api := client.CoreV1().ConfigMaps(r.namespace)
	for i := range maps {
		_, err := api.Create(r.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i)}},
			metav1.CreateOptions{})
		check(err, "create")
	}
	var added, updated, deleted atomic.Int64
	factory := kubeinformers.NewSharedInformerFactoryWithOptions(client, time.Hour, kubeinformers.WithNamespace(r.namespace))
	informer := factory.Core().V1().ConfigMaps()
	_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(err, "handler")
	metadataClient, err := metadata.NewForConfig(r.config)
	check(err, "metadata client")
	partial := metadatainformer.NewFilteredSharedInformerFactory(metadataClient, time.Hour, r.namespace, nil)
	metadatas := partial.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	stop := make(chan struct{})
	defer close(stop)
	metadatas.Informer()
	factory.Start(stop)
	partial.Start(stop)
	for kind, ok := range factory.WaitForCacheSync(stop) {
		must(ok, "%v did not sync", kind)
	}
	partial.WaitForCacheSync(stop)
	await("adds", func() bool { return added.Load() == maps })

	for i := range maps {
		name := fmt.Sprintf("m%d", i)
		if i%2 == 0 {
			check(api.Delete(r.ctx, name, metav1.DeleteOptions{}), "delete")
			continue
		}
		_, err := api.Update(r.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name},
			Data: map[string]string{"round": "2"}}, metav1.UpdateOptions{})
		check(err, "update")
	}
	await("updates and deletes", func() bool { return updated.Load() == maps/2 && deleted.Load() == maps/2 })
	cached, err := informer.Lister().ConfigMaps(r.namespace).List(labels.Everything())
	check(err, "lister")
	must(len(cached) == maps/2 && cached[0].Data["round"] == "2", "the cache: %d", len(cached))
	await("metadata", func() bool {
		known, err := metadatas.Lister().List(labels.Everything())
		return err == nil && len(known) == maps/2
	})
}
