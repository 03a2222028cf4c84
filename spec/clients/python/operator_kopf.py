"""kopf's tutorial operator: an EphemeralVolumeClaim makes a claim, follows its size, and cleans up after itself.

It is run by `kopf run`, or by this program, which also plays the user: one line for each scenario.
"""
import os
import subprocess
import sys
import time

import kopf
import kubernetes

GROUP, VERSION, PLURAL = "kopf.dev", "v1", "ephemeralvolumeclaims"
NAMESPACE = "default"


@kopf.on.create(PLURAL)
def create(spec, name, namespace, logger, **_):
    size = spec.get("size")
    if not size:
        raise kopf.PermanentError(f"Size must be set. Got {size!r}.")
    data = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}}
    kopf.adopt(data)
    made = kubernetes.client.CoreV1Api().create_namespaced_persistent_volume_claim(namespace=namespace, body=data)
    return {"pvc-name": made.metadata.name}


@kopf.on.field(PLURAL, field="metadata.labels")
def relabel(new, status, namespace, **_):
    if new and "create" in status:
        kubernetes.client.CoreV1Api().patch_namespaced_persistent_volume_claim(
            namespace=namespace, name=status["create"]["pvc-name"], body={"metadata": {"labels": dict(new)}})


@kopf.on.delete(PLURAL)
def delete(name, logger, **_):
    logger.info(f"{name} is gone")


def definition():
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    names = {"kind": "EphemeralVolumeClaim", "plural": PLURAL, "singular": "ephemeralvolumeclaim",
             "shortNames": ["evcs", "evc"]}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{PLURAL}.{GROUP}"},
            "spec": {"scope": "Namespaced", "group": GROUP, "names": names, "versions": [
                {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def await_(what, condition, seconds=30):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except kubernetes.client.ApiException as error:
            if error.status != 404:
                raise
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def gone(call):
    try:
        call()
    except kubernetes.client.ApiException as error:
        return error.status == 404
    return False


def play():
    core, custom = kubernetes.client.CoreV1Api(), kubernetes.client.CustomObjectsApi()
    kubernetes.client.ApiextensionsV1Api().create_custom_resource_definition(definition())
    await_("the definition", lambda: custom.list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL))
    operator = subprocess.Popen([sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", NAMESPACE, __file__])
    try:
        custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": "EphemeralVolumeClaim", "metadata": {"name": "my-claim"},
            "spec": {"size": "1G"}})
        claim = lambda: core.read_namespaced_persistent_volume_claim("my-claim", NAMESPACE)
        await_("a claim", lambda: claim().spec.resources.requests["storage"] == "1G")
        owner = claim().metadata.owner_references[0]
        assert owner.kind == "EphemeralVolumeClaim" and owner.name == "my-claim", owner
        print("ok create", flush=True)
        one = lambda: custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, "my-claim")
        await_("a status", lambda: one().get("status", {}).get("create", {}).get("pvc-name") == "my-claim")
        assert one()["metadata"]["finalizers"], "kopf blocks the deletion until its handler has run"
        custom.patch_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, "my-claim",
                                              {"metadata": {"labels": {"application": "some-app"}}})
        await_("a label", lambda: (claim().metadata.labels or {}).get("application") == "some-app")
        print("ok update", flush=True)
        custom.delete_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, "my-claim")
        await_("the end", lambda: gone(one))
        print("ok delete", flush=True)
    finally:
        operator.terminate()
        operator.wait()


if __name__ == "__main__":
    kubernetes.config.load_kube_config(os.environ["KUBECONFIG"])
    play()
