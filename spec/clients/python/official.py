"""The official Python client, as its documentation uses it: typed and dynamic, watches, patches, errors.

Prints one line for each scenario; the first failure ends it. The server is that of $KUBECONFIG.
"""
import os
import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

NAMESPACE = f"python-{os.getpid()}"


def refused(code, call):
    try:
        call()
    except ApiException as error:
        assert error.status == code, error
        return
    raise AssertionError(f"not refused with {code}")


def typed(core):
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="one"), data={"a": "b"})
    created = core.create_namespaced_config_map(NAMESPACE, body)
    assert created.metadata.uid
    refused(409, lambda: core.create_namespaced_config_map(NAMESPACE, body))
    patched = core.patch_namespaced_config_map("one", NAMESPACE, {"data": {"c": "d"}})
    assert patched.data == {"a": "b", "c": "d"}, patched.data
    created.data = {"e": "f"}
    refused(409, lambda: core.replace_namespaced_config_map("one", NAMESPACE, created))
    refused(422, lambda: core.create_namespaced_config_map(
        NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="Not Valid"))))
    core.delete_namespaced_config_map("one", NAMESPACE)
    refused(404, lambda: core.read_namespaced_config_map("one", NAMESPACE))


def workloads(apps, core):
    labels = {"app": "web"}
    container = client.V1Container(name="web", image="nginx", ports=[client.V1ContainerPort(container_port=80)])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels),
                                        spec=client.V1PodSpec(containers=[container]))
    apps.create_namespaced_deployment(NAMESPACE, client.V1Deployment(
        metadata=client.V1ObjectMeta(name="web"),
        spec=client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)))
    deployment = apps.read_namespaced_deployment("web", NAMESPACE)
    assert deployment.spec.replicas == 1 and deployment.spec.template.spec.restart_policy == "Always"
    core.create_namespaced_pod(NAMESPACE, client.V1Pod(metadata=client.V1ObjectMeta(name="web", labels=labels),
                                                       spec=client.V1PodSpec(containers=[container])))
    pods = core.list_namespaced_pod(NAMESPACE, label_selector="app=web", field_selector="status.phase=Pending")
    assert [pod.metadata.name for pod in pods.items] == ["web"]


def watches(core):
    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    seen, stream = [], watch.Watch()

    def write():
        for i in range(3):
            core.create_namespaced_config_map(
                NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"watched-{i}")))
        core.delete_namespaced_config_map("watched-1", NAMESPACE)

    writer = threading.Timer(0.1, write)
    writer.start()
    for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version,
                               timeout_seconds=30):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 4:
            stream.stop()
    writer.join()
    assert seen == [("ADDED", "watched-0"), ("ADDED", "watched-1"), ("ADDED", "watched-2"),
                    ("DELETED", "watched-1")], seen


def dynamics(api):
    found = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
    found.server_side_apply(namespace=NAMESPACE, body=manifest, field_manager="one")
    manifest["data"]["a"] = "2"
    refused(409, lambda: found.server_side_apply(namespace=NAMESPACE, body=manifest, field_manager="two"))
    applied = found.server_side_apply(namespace=NAMESPACE, body=manifest, field_manager="two",
                                      force_conflicts=True)
    assert applied.data.a == "2"
    assert found.get(name="applied", namespace=NAMESPACE).metadata.name == "applied"


def main():
    config.load_kube_config()
    core, apps = client.CoreV1Api(), client.AppsV1Api()
    for name, play in {"typed": lambda: typed(core), "workloads": lambda: workloads(apps, core),
                       "watches": lambda: watches(core), "dynamic": lambda: dynamics(client.ApiClient())}.items():
        play()
        print("ok", name)


if __name__ == "__main__":
    main()
