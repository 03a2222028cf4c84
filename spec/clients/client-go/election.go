package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// campaign takes part in an election until its context ends; the identity is sent when it leads.
func campaign(ctx context.Context, client kubernetes.Interface, namespace, identity string, leads chan<- string) {
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "election", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		ReleaseOnCancel: true,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- identity },
			OnStoppedLeading: func() {},
		},
	})
}

func election(r run) {
	client, err := kubernetes.NewForConfig(r.config)
	check(err, "client")
	leads := make(chan string, 2)
	first, stopFirst := context.WithCancel(r.ctx)
	second, stopSecond := context.WithCancel(r.ctx)
	defer stopSecond()
	go campaign(first, client, r.namespace, "first", leads)
	must(<-leads == "first", "the only candidate leads")
	go campaign(second, client, r.namespace, "second", leads)
	stopFirst()
	select {
	case leader := <-leads:
		must(leader == "second", "%s leads", leader)
	case <-time.After(patience):
		must(false, "nobody leads after the first one is gone")
	}
}
