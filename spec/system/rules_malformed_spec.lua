-- scripts/rules: a rule that reads a field of another type than it should be cannot look, and so does not pass: it is
-- an error that names the path.
local rules = require "spec.support.rules"
local temp = require "spec.support.temp"

-- A pod spec with one container that has this, and the pod this.
local function pod_spec(container, fields)
  return ('{"containers":[{"name":"a","image":"a:1"%s}]%s}'):format(container, fields or "")
end

local PODS = {
  { "host-namespaces", pod_spec("", ',"hostNetwork":"true"'), "spec.hostNetwork is a text, not true or false" },
  { "pss-baseline", pod_spec("", ',"hostNetwork":"true"'), "spec.hostNetwork is a text, not true or false" },
  { "host-namespaces", pod_spec("", ',"hostPID":1'), "spec.hostPID is a number, not true or false" },
  { "host-path", pod_spec("", ',"volumes":{"a":{"hostPath":{"path":"/"}}}'), "spec.volumes is a map, not a list" },
  { "pss-baseline", pod_spec("", ',"volumes":{"a":{"hostPath":{}}}'), "spec.volumes is a map, not a list" },
  { "host-path", pod_spec("", ',"volumes":["a"]'), "spec.volumes[0] is a text, not a map" },
  { "host-path", pod_spec("", ',"volumes":[{"hostPath":"/"}]'), "spec.volumes[0].hostPath is a text, not a map" },
  { "configmap-missing", pod_spec("", ',"volumes":{"a":{"configMap":{}}}'), "spec.volumes is a map, not a list" },
  { "pvc-missing", pod_spec("", ',"volumes":"a"'), "spec.volumes is a text, not a list" },
  { "secret-missing", pod_spec("", ',"imagePullSecrets":"a"'), "spec.imagePullSecrets is a text, not a list" },
  { "capabilities-added", pod_spec ',"securityContext":{"capabilities":{"add":"SYS_ADMIN"}}',
    "spec.containers[0].securityContext.capabilities.add is a text, not a list" },
  { "pss-restricted", pod_spec ',"securityContext":{"capabilities":{"add":"SYS_ADMIN"}}',
    "spec.containers[0].securityContext.capabilities.add is a text, not a list" },
  { "privileged", pod_spec ',"securityContext":{"privileged":"true"}',
    "spec.containers[0].securityContext.privileged is a text, not true or false" },
  { "pss-baseline", pod_spec ',"securityContext":{"privileged":"true"}',
    "spec.containers[0].securityContext.privileged is a text, not true or false" },
  { "privileged", pod_spec ',"securityContext":[{"privileged":true}]',
    "spec.containers[0].securityContext is a list, not a map" },
  { "run-as-non-root", pod_spec("", ',"securityContext":{"runAsUser":"0"}'),
    "spec.securityContext.runAsUser is a text, not a number" },
  { "host-port", pod_spec ',"ports":{"hostPort":80}', "spec.containers[0].ports is a map, not a list" },
  { "host-port", pod_spec ',"ports":[{"hostPort":"80"}]',
    "spec.containers[0].ports[0].hostPort is a text, not a number" },
  { "pss-baseline", pod_spec ',"ports":{"hostPort":80}', "spec.containers[0].ports is a map, not a list" },
  { "secrets-in-env", pod_spec ',"env":{"PASSWORD":"x"}', "spec.containers[0].env is a map, not a list" },
  { "configmap-missing", pod_spec ',"envFrom":{"configMapRef":{}}', "spec.containers[0].envFrom is a map, not a list" },
  { "limits-below-requests", pod_spec ',"resources":{"limits":"1"}',
    "spec.containers[0].resources.limits is a text, not a map" },
  { "liveness-probe", pod_spec ',"livenessProbe":"/"', "spec.containers[0].livenessProbe is a text, not a map" },
}

local OTHERS = {
  { "wildcard-rights", "ClusterRole", '"rules":"all"', "rules is a text, not a list" },
  { "pods-exec", "ClusterRole", '"rules":{"verbs":["*"]}', "rules is a map, not a list" },
  { "wildcard-rights", "ClusterRole", '"rules":[{"resources":"*","verbs":["*"]}]',
    "rules[0].resources is a text, not a list" },
  { "escalation-verbs", "ClusterRole", '"rules":[{"resources":["*"],"verbs":"*"}]',
    "rules[0].verbs is a text, not a list" },
  { "anonymous-binding", "ClusterRoleBinding", '"subjects":{"kind":"Group"}', "subjects is a map, not a list" },
  { "cluster-admin-binding", "ClusterRoleBinding", '"roleRef":"cluster-admin"', "roleRef is a text, not a map" },
  { "load-balancer-open", "Service", '"spec":"LoadBalancer"', "spec is a text, not a map" },
  { "node-port", "Service", '"spec":{"type":["NodePort"]}', "spec.type is a list, not a text" },
  { "service-selects-nothing", "Service", '"status":{}', "spec is not there" },
  { "service-selects-nothing", "Service", '"spec":{"selector":"web"}', "spec.selector is a text, not a map" },
  { "budget-blocks-drains", "PodDisruptionBudget", '"spec":"x"', "spec is a text, not a map" },
  { "budget-blocks-drains", "PodDisruptionBudget", '"spec":{"maxUnavailable":[0]}',
    "spec.maxUnavailable is a list, not a text" },
  { "policy-selects-nothing", "NetworkPolicy", '"spec":{"podSelector":"web"}',
    "spec.podSelector is a text, not a map" },
  { "no-spread", "Deployment", '"spec":{"replicas":"3"}', "spec.template is not there" },
  { "ingress-backend-missing", "Ingress", '"spec":{"rules":{"host":"a"}}', "spec.rules is a map, not a list" },
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
      assert.are.same({ "error", case[3] .. ", so nothing can be said of it" }, said[case[1] .. " pod-" .. i])
    end)
  end

  for i, case in ipairs(OTHERS) do
    it(("does not pass: %s, as the %s's %s"):format(case[1], case[2], case[4]), function()
      assert.are.same({ "error", case[4] .. ", so nothing can be said of it" }, said[case[1] .. " other-" .. i])
    end)
  end

  it("says so of no field that is absent, null or empty", function()
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
