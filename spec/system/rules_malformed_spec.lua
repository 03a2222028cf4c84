-- scripts/rules: a rule that reads a field of another type than it should be cannot look, and so does not pass: it is
-- an error that names the path.
local rules = require "spec.support.rules"
local temp = require "spec.support.temp"

-- A pod spec with one container that has this, and the pod this.
local function pod_spec(container, fields)
  return ('{"containers":[{"name":"a","image":"a:1"%s}]%s}'):format(container, fields or "")
end

local PODS = {
  { "host-namespaces", pod_spec("", ',"hostNetwork":"true"'), "spec.hostNetwork must be a boolean, not a string" },
  { "pss-baseline", pod_spec("", ',"hostNetwork":"true"'), "spec.hostNetwork must be a boolean, not a string" },
  { "host-namespaces", pod_spec("", ',"hostPID":1'), "spec.hostPID must be a boolean, not a number" },
  { "host-path", pod_spec("", ',"volumes":{"a":{"hostPath":{"path":"/"}}}'), "spec.volumes must be a list, not a map" },
  { "pss-baseline", pod_spec("", ',"volumes":{"a":{"hostPath":{}}}'), "spec.volumes must be a list, not a map" },
  { "host-path", pod_spec("", ',"volumes":["a"]'), "spec.volumes[0] must be a map, not a string" },
  { "host-path", pod_spec("", ',"volumes":[{"hostPath":"/"}]'),
    "spec.volumes[0].hostPath must be a map, not a string" },
  { "configmap-missing", pod_spec("", ',"volumes":{"a":{"configMap":{}}}'), "spec.volumes must be a list, not a map" },
  { "pvc-missing", pod_spec("", ',"volumes":"a"'), "spec.volumes must be a list, not a string" },
  { "secret-missing", pod_spec("", ',"imagePullSecrets":"a"'), "spec.imagePullSecrets must be a list, not a string" },
  { "capabilities-added", pod_spec ',"securityContext":{"capabilities":{"add":"SYS_ADMIN"}}',
    "spec.containers[0].securityContext.capabilities.add must be a list, not a string" },
  { "pss-restricted", pod_spec ',"securityContext":{"capabilities":{"add":"SYS_ADMIN"}}',
    "spec.containers[0].securityContext.capabilities.add must be a list, not a string" },
  { "privileged", pod_spec ',"securityContext":{"privileged":"true"}',
    "spec.containers[0].securityContext.privileged must be a boolean, not a string" },
  { "pss-baseline", pod_spec ',"securityContext":{"privileged":"true"}',
    "spec.containers[0].securityContext.privileged must be a boolean, not a string" },
  { "privileged", pod_spec ',"securityContext":[{"privileged":true}]',
    "spec.containers[0].securityContext must be a map, not a list" },
  { "run-as-non-root", pod_spec("", ',"securityContext":{"runAsUser":"0"}'),
    "spec.securityContext.runAsUser must be a number, not a string" },
  { "host-port", pod_spec ',"ports":{"hostPort":80}', "spec.containers[0].ports must be a list, not a map" },
  { "host-port", pod_spec ',"ports":[{"hostPort":"80"}]',
    "spec.containers[0].ports[0].hostPort must be a number, not a string" },
  { "pss-baseline", pod_spec ',"ports":{"hostPort":80}', "spec.containers[0].ports must be a list, not a map" },
  { "secrets-in-env", pod_spec ',"env":{"PASSWORD":"x"}', "spec.containers[0].env must be a list, not a map" },
  { "configmap-missing", pod_spec ',"envFrom":{"configMapRef":{}}',
    "spec.containers[0].envFrom must be a list, not a map" },
  { "limits-below-requests", pod_spec ',"resources":{"limits":"1"}',
    "spec.containers[0].resources.limits must be a map, not a string" },
  { "liveness-probe", pod_spec ',"livenessProbe":"/"', "spec.containers[0].livenessProbe must be a map, not a string" },
}

local OTHERS = {
  { "wildcard-rights", "ClusterRole", '"rules":"all"', "rules must be a list, not a string" },
  { "pods-exec", "ClusterRole", '"rules":{"verbs":["*"]}', "rules must be a list, not a map" },
  { "wildcard-rights", "ClusterRole", '"rules":[{"resources":"*","verbs":["*"]}]',
    "rules[0].resources must be a list, not a string" },
  { "escalation-verbs", "ClusterRole", '"rules":[{"resources":["*"],"verbs":"*"}]',
    "rules[0].verbs must be a list, not a string" },
  { "anonymous-binding", "ClusterRoleBinding", '"subjects":{"kind":"Group"}', "subjects must be a list, not a map" },
  { "cluster-admin-binding", "ClusterRoleBinding", '"roleRef":"cluster-admin"', "roleRef must be a map, not a string" },
  { "load-balancer-open", "Service", '"spec":"LoadBalancer"', "spec must be a map, not a string" },
  { "node-port", "Service", '"spec":{"type":["NodePort"]}', "spec.type must be a string, not a list" },
  { "service-selects-nothing", "Service", '"status":{}', "spec is missing" },
  { "service-selects-nothing", "Service", '"spec":{"selector":"web"}', "spec.selector must be a map, not a string" },
  { "budget-blocks-drains", "PodDisruptionBudget", '"spec":"x"', "spec must be a map, not a string" },
  { "budget-blocks-drains", "PodDisruptionBudget", '"spec":{"maxUnavailable":[0]}',
    "spec.maxUnavailable must be a string, not a list" },
  { "policy-selects-nothing", "NetworkPolicy", '"spec":{"podSelector":"web"}',
    "spec.podSelector must be a map, not a string" },
  { "no-spread", "Deployment", '"spec":{"replicas":"3"}', "spec.template is missing" },
  { "ingress-backend-missing", "Ingress", '"spec":{"rules":{"host":"a"}}', "spec.rules must be a list, not a map" },
}

local VERSIONS = {
  ClusterRole = "rbac.authorization.k8s.io/v1", ClusterRoleBinding = "rbac.authorization.k8s.io/v1", Service = "v1",
  PodDisruptionBudget = "policy/v1", Deployment = "apps/v1", Ingress = "networking.k8s.io/v1",
  NetworkPolicy = "networking.k8s.io/v1", Pod = "v1",
}

local function object(kind, name, fields)
  return ('{"apiVersion":"%s","kind":"%s","metadata":{"name":"%s"},%s}'):format(VERSIONS[kind], kind, name, fields)
end

describe("a rule that ships and an object whose fields are of other types", function()
  local folder, said

  local function audit(items)
    local path, found = folder .. "/objects.json", {}
    temp.write(path, table.concat(items, "\n"))
    for _, row in ipairs(rules.audit("-f", rules.folder, "--from", path).results) do
      local key = row.rule .. " " .. row.name
      if row.result == "error" or not found[key] then found[key] = { row.result, row.message } end
    end
    return found
  end

  setup(function()
    folder = temp.folder()
    local items = {}
    for i, case in ipairs(PODS) do items[#items + 1] = object("Pod", "pod-" .. i, '"spec":' .. case[2]) end
    for i, case in ipairs(OTHERS) do items[#items + 1] = object(case[2], "other-" .. i, case[3]) end
    said = audit(items)
  end)

  teardown(function() temp.remove(folder) end)

  for i, case in ipairs(PODS) do
    it(("does not pass: %s, as %s"):format(case[1], case[3]), function()
      assert.are.same({ "error", case[3] }, said[case[1] .. " pod-" .. i])
    end)
  end

  for i, case in ipairs(OTHERS) do
    it(("does not pass: %s, as the %s's %s"):format(case[1], case[2], case[4]), function()
      assert.are.same({ "error", case[4] }, said[case[1] .. " other-" .. i])
    end)
  end

  it("reports no field that is absent, null or empty", function()
    local fields = ',"hostNetwork":null,"volumes":null,"securityContext":{},"imagePullSecrets":[]'
    local container = ',"env":null,"ports":[],"securityContext":{"capabilities":{"add":null},"privileged":null}'
    local found = audit {
      object("Pod", "web", '"spec":' .. pod_spec(container, fields)),
      object("ClusterRole", "web", '"rules":null'),
      object("ClusterRoleBinding", "web", '"subjects":[]'),
      object("Service", "web", '"spec":{"selector":null,"ports":null}'),
      object("PodDisruptionBudget", "web", '"spec":{"selector":{}}'),
    }
    for key, result in pairs(found) do
      if result[1] == "error" then error(key .. ": " .. result[2]) end
    end
    assert.is_truthy(next(found))
  end)
end)
