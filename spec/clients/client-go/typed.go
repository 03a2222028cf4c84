package main

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// protobuf is how controllers of Kubernetes' own kinds configure their clients.
func protobuf(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.ContentType = "application/vnd.kubernetes.protobuf"
	copied.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return copied
}

func typed(r run) {
	client, err := kubernetes.NewForConfig(protobuf(r.config))
	check(err, "client")
	_, err = client.CoreV1().Namespaces().Create(r.ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}, metav1.CreateOptions{})
	check(err, "create namespace")
	maps := client.CoreV1().ConfigMaps(r.namespace)
	created, err := maps.Create(r.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "map-"},
		Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {0, 255}}}, metav1.CreateOptions{})
	check(err, "create")
	must(strings.HasPrefix(created.Name, "map-") && created.UID != "" && created.BinaryData["c"][1] == 255,
		"created: %v", created)

	stale := created.DeepCopy()
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := maps.Get(r.ctx, created.Name, metav1.GetOptions{})
		check(err, "get")
		current.Data["a"] = "c"
		_, err = maps.Update(r.ctx, current, metav1.UpdateOptions{})
		return err
	})
	check(err, "update")
	stale.Data["a"] = "d"
	_, err = maps.Update(r.ctx, stale, metav1.UpdateOptions{})
	must(apierrors.IsConflict(err), "an update of an old version: %v", err)
	_, err = maps.Create(r.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: created.Name}}, metav1.CreateOptions{})
	must(apierrors.IsAlreadyExists(err), "a second one: %v", err)
	_, err = maps.Create(r.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Not Valid"}}, metav1.CreateOptions{})
	must(apierrors.IsInvalid(err), "an invalid name: %v", err)

	patched, err := maps.Patch(r.ctx, created.Name, types.MergePatchType, []byte(`{"data":{"a":null,"e":"f"}}`),
		metav1.PatchOptions{})
	check(err, "patch")
	must(len(patched.Data) == 1 && patched.Data["e"] == "f", "patched: %v", patched.Data)
	applied, err := maps.Apply(r.ctx, corev1ac.ConfigMap("applied", r.namespace).WithData(map[string]string{"a": "1"}),
		metav1.ApplyOptions{FieldManager: "one"})
	check(err, "apply")
	must(applied.Data["a"] == "1", "applied: %v", applied)
	_, err = maps.Apply(r.ctx, corev1ac.ConfigMap("applied", r.namespace).WithData(map[string]string{"a": "2"}),
		metav1.ApplyOptions{FieldManager: "two"})
	must(apierrors.IsConflict(err), "an apply of another manager: %v", err)

	list, err := maps.List(r.ctx, metav1.ListOptions{Limit: 1})
	check(err, "list")
	must(len(list.Items) == 1 && list.Continue != "", "a page: %d, %q", len(list.Items), list.Continue)
	err = maps.Delete(r.ctx, created.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
	must(apierrors.IsConflict(err), "a delete of another uid: %v", err)
	check(maps.DeleteCollection(r.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), "delete all")
	_, err = maps.Get(r.ctx, created.Name, metav1.GetOptions{})
	must(apierrors.IsNotFound(err), "a deleted one: %v", err)
}
