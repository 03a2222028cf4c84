package main

import (
	"context"
	"fmt"
	"os/signal"
	"sync/atomic"
	"syscall"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// counter reads the name of each object, as handlers do.
type counter struct {
	synced  atomic.Bool
	updates int
}

func (c *counter) OnAdd(object any, _ bool) {
	// Objects of an informer have metadata.
	accessor, _ := meta.Accessor(object)
	if c.synced.Load() && accessor.GetName() == "marker" {
		fmt.Println("marker", c.updates)
	}
}

func (c *counter) OnUpdate(_, object any) {
	accessor, _ := meta.Accessor(object)
	if accessor.GetName() != "" {
		c.updates++
	}
}

func (c *counter) OnDelete(any) {}

// newInformer is typed from JSON for the built-in kinds, else dynamic, as programs have them.
func newInformer(ctx context.Context, k *kind, config *rest.Config) (cache.SharedIndexInformer, func(), error) {
	if k.resource.Group == "example.com" {
		made, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		factory := dynamicinformer.NewDynamicSharedInformerFactory(made, 0)
		return factory.ForResource(k.resource).Informer(), func() { factory.Start(ctx.Done()) }, nil
	}
	made, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(made, 0)
	generic, err := factory.ForResource(k.resource)
	if err != nil {
		return nil, nil, err
	}
	return generic.Informer(), func() { factory.StartWithContext(ctx) }, nil
}

func client(k *kind, url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	config := &rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	informer, start, err := newInformer(ctx, k, config)
	if err != nil {
		return err
	}
	c := &counter{}
	registration, err := informer.AddEventHandler(c)
	if err != nil {
		return err
	}
	start()
	if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) {
		return nil
	}
	c.synced.Store(true)
	fmt.Println("synced", len(informer.GetStore().ListKeys()))
	<-ctx.Done()
	return nil
}
