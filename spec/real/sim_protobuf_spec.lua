-- The simulator's protobuf is that of Kubernetes: what a kube-apiserver writes it reads, what it writes a
-- kube-apiserver reads, and both are the object that the same server gives as JSON.
local cjson = require "cjson"
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local PROTOBUF = "application/vnd.kubernetes.protobuf"

local pod = [[{
  "metadata": {"name": "a", "labels": {"a": "b"}, "annotations": {"x/y": "ü\u2028"}, "finalizers": ["a.b/c"]},
  "spec": {
    "nodeSelector": {"a": "b"}, "terminationGracePeriodSeconds": 0, "activeDeadlineSeconds": 2147483647,
    "serviceAccountName": "x",
    "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": -1, "effect": "NoExecute"}],
    "securityContext": {"runAsNonRoot": false, "fsGroup": 0, "supplementalGroups": [1, 2147483647],
      "sysctls": [{"name": "kernel.x", "value": "1"}]},
    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1,
      "podAffinityTerm": {"topologyKey": "t", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In",
      "values": ["b", ""]}]}}}]}},
    "volumes": [{"name": "e", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "s", "secret": {"secretName": "s",
      "items": [{"key": "k", "path": "p", "mode": 256}], "optional": true}}, {"name": "p", "projected": {"sources": [
      {"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}, {"downwardAPI": {"items": [{"path": "l",
      "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}}],
    "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "protocol": "UDP"}],
      "env": [{"name": "A"}, {"name": "B", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu",
      "divisor": "1m"}}}], "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "1"}},
      "livenessProbe": {"httpGet": {"port": "web", "path": "/", "httpHeaders": [{"name": "a", "value": ""}]}},
      "readinessProbe": {"tcpSocket": {"port": 81}}, "startupProbe": {"exec": {"command": ["a", ""]}},
      "securityContext": {"capabilities": {"drop": ["ALL"]}, "privileged": false}, "stdin": true,
      "volumeMounts": [{"name": "e", "mountPath": "/e", "readOnly": true}]}]}}]]

local objects = {
  { "/api/v1/namespaces/default/pods", "v1", "Pod", pod },
  { "/api/v1/namespaces/default/configmaps", "v1", "ConfigMap",
    [[{"metadata": {"name": "a"}, "data": {"a": "", "b": "x"}, "binaryData": {"c": "AAH/"}, "immutable": false}]] },
  { "/api/v1/namespaces/default/secrets", "v1", "Secret",
    [[{"metadata": {"name": "a"}, "type": "x/y", "data": {"a": "", "b": "AAH/"}}]] },
  { "/api/v1/namespaces/default/services", "v1", "Service", [[{"metadata": {"name": "a"}, "spec": {"clusterIP": "None",
    "selector": {"a": "b"}, "ports": [{"name": "a", "port": 80, "targetPort": "web"}, {"name": "b", "port": 81}]}}]] },
  { "/api/v1/nodes", "v1", "Node", [[{"metadata": {"name": "a"}, "spec": {"unschedulable": true, "taints": [{"key": "k",
    "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}]}}]] },
  { "/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment", [[{"metadata": {"name": "a"}, "spec": {
    "replicas": 0, "paused": true, "selector": {"matchLabels": {"a": "b"}}, "strategy": {"rollingUpdate": {
    "maxSurge": 1, "maxUnavailable": "10%"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{
    "name": "c", "image": "i"}]}}}}]] },
  { "/apis/coordination.k8s.io/v1/namespaces/default/leases", "coordination.k8s.io/v1", "Lease", [[{"metadata": {
    "name": "a"}, "spec": {"holderIdentity": "", "leaseDurationSeconds": 15, "renewTime":
    "2026-01-02T03:04:05.000678Z"}}]] },
  { "/apis/rbac.authorization.k8s.io/v1/clusterroles", "rbac.authorization.k8s.io/v1", "ClusterRole", [[{"metadata": {
    "name": "a:b"}, "rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}, {"verbs": ["*"], "apiGroups": [""],
    "resources": ["pods/log"], "resourceNames": ["x"]}]}]] },
  { "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition",
    [[{"metadata": {"name": "as.b.c"}, "spec": {"group": "b.c", "scope": "Cluster", "names": {"plural": "as",
    "kind": "A"}, "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale": {
    "specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}, "schema": {"openAPIV3Schema": {"type": "object",
    "properties": {"spec": {"type": "object", "additionalProperties": {"type": "string", "enum": ["a", ""]}}, "n": {
    "type": "number", "minimum": 0, "maximum": 1.5, "default": 0.25, "nullable": true}, "l": {"items": {
    "type": "object", "x-kubernetes-preserve-unknown-fields": true}, "type": "array", "maxItems": 3}}}}}]}}]] },
}

describe("protobuf of the simulator", function()
  local real, sim, base
  setup(function()
    real = apiserver.start()
    sim = cluster.sim {}
    base = temp.folder()
  end)
  teardown(function()
    cluster.stop_all()
    if real then real:stop() end
    if base then temp.remove(base) end
  end)

  -- Sends a file; gives the code and the file with the answer.
  local function send(server, path, file, content_type, accept)
    local answer = base .. "/answer"
    local tls = server == real and ("--cacert %s --cert %s --key %s"):format(real.ca, real.cert, real.key) or ""
    local code = temp.run(("curl -sS %s -o %s -w '%%{http_code}' -H 'Content-Type: %s' -H 'Accept: %s' --data-binary "
      .. "@%s '%s%s?dryRun=All'"):format(tls, answer, content_type, accept, file, server.url or server.server, path))
    return code, temp.read(answer)
  end

  -- Removes the server's own fields, which differ from call to call.
  local function essence(text)
    local object = cjson.decode(text)
    local metadata = object.metadata or {}
    for _, field in ipairs { "uid", "creationTimestamp", "resourceVersion", "managedFields", "generation" } do
      metadata[field] = nil
    end
    object.status = nil
    return object
  end

  for _, one in ipairs(objects) do
    local path, api_version, kind, body = unpack(one)
    it("reads and writes what a kube-apiserver does: " .. kind, function()
      local file = base .. "/body"
      temp.write(file, ('{"apiVersion": "%s", "kind": "%s", %s'):format(api_version, kind, body:sub(2)))
      local code, json = send(real, path, file, "application/json", "application/json")
      assert.are.equal("201", code, json)
      local expected = essence(json)
      local _, bytes = send(real, path, file, "application/json", PROTOBUF)
      assert.are.equal("k8s\0", bytes:sub(1, 4))

      temp.write(file, bytes)
      code, json = send(sim, path, file, PROTOBUF, "application/json")
      assert.are.equal("201", code, json)
      assert.are.same(expected, essence(json))

      code, bytes = send(sim, path, file, PROTOBUF, PROTOBUF)
      assert.are.equal("201", code)
      assert.are.equal("k8s\0", bytes:sub(1, 4))
      temp.write(file, bytes)
      code, json = send(real, path, file, PROTOBUF, "application/json")
      assert.are.equal("201", code, json)
      assert.are.same(expected, essence(json))
    end)
  end
end)
