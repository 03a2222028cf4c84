// A controller as kubebuilder makes one, on controller-runtime: ConfigMaps labelled "replicate" get a copy, which they
// own, and which is repaired. The program also plays the user, as a test with envtest would: one line for each scenario.
// The server is that of $KUBECONFIG.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	patience  = 30 * time.Second
	finalizer = "example.com/copy"
)

type replicator struct{ client.Client }

func (r *replicator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var source corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &source); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if source.Labels["replicate"] == "" {
		return ctrl.Result{}, nil
	}
	if !source.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(&source, finalizer)
		return ctrl.Result{}, r.Update(ctx, &source)
	}
	if controllerutil.AddFinalizer(&source, finalizer) {
		if err := r.Update(ctx, &source); err != nil {
			return ctrl.Result{}, err
		}
	}
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: source.Name + "-copy", Namespace: source.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, copied, func() error {
		copied.Data = source.Data
		return controllerutil.SetControllerReference(&source, copied, r.Scheme())
	})
	return ctrl.Result{}, err
}

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func await(what string, condition func() bool) {
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			check(fmt.Errorf("not within %v", patience), what)
		}
	}
}

// play is the user of the controller.
func play(ctx context.Context, api client.Client, namespace string) {
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace,
		Labels: map[string]string{"replicate": "yes"}}, Data: map[string]string{"a": "b"}}
	check(api.Create(ctx, source), "create")
	key := client.ObjectKey{Namespace: namespace, Name: "a-copy"}
	var copied corev1.ConfigMap
	has := func(data map[string]string) func() bool {
		return func() bool { return api.Get(ctx, key, &copied) == nil && maps.Equal(copied.Data, data) }
	}
	await("a copy", has(source.Data))
	owner := metav1.GetControllerOf(&copied)
	if owner == nil || owner.UID != source.UID {
		check(fmt.Errorf("%v", owner), "the owner")
	}
	fmt.Println("ok create")

	check(api.Get(ctx, client.ObjectKeyFromObject(source), source), "get")
	changed := source.DeepCopy()
	changed.Data = map[string]string{"a": "c"}
	check(api.Patch(ctx, changed, client.MergeFrom(source)), "patch")
	await("a changed copy", has(changed.Data))
	copied.Data = map[string]string{"a": "spoilt"}
	check(api.Update(ctx, &copied), "spoil")
	await("a repaired copy", has(changed.Data))
	fmt.Println("ok update")

	check(api.Delete(ctx, source), "delete")
	await("the end", func() bool {
		return apierrors.IsNotFound(api.Get(ctx, client.ObjectKeyFromObject(source), source))
	})
	fmt.Println("ok delete")
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	config, err := ctrl.GetConfig()
	check(err, "KUBECONFIG")
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	check(err, "manager")
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.ConfigMap{}).
		Complete(&replicator{manager.GetClient()})
	check(err, "controller")
	go func() { check(manager.Start(ctx), "start") }()
	api, err := client.New(config, client.Options{})
	check(err, "client")
	namespace := fmt.Sprintf("controller-runtime-%d", os.Getpid())
	check(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}), "namespace")
	play(ctx, api, namespace)
}
