-- Gives each new namespace with the label `team` what every team needs: a policy that denies foreign traffic, a quota,
-- and a role binding for the team's group. What somebody removes comes back; what somebody adds to it stays.
-- A server lets nobody give more than he has: the account needs the rights of `role`, or the verb `bind` on it.
--   kubelua run -f scripts/namespace_defaults.lua --param pods=50
local k8s = require "k8s"

k8s.reads { "networkpolicies:get", "resourcequotas:get", "rolebindings:get" }
k8s.writes { "networkpolicies:create", "networkpolicies:patch", "resourcequotas:create", "resourcequotas:patch" }
k8s.writes { "rolebindings:create", "rolebindings:patch" }

local settings = k8s.params {
  pods = { type = "integer", default = 100, min = 1, help = "pods that a namespace may have" },
  memory = { type = "string", default = "64Gi", help = "memory that its pods may request" },
  role = { type = "string", default = "edit", help = "ClusterRole of the team's group" },
}

local TEMPLATES = {
  [[
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { namespace: "${namespace}", name: team-only }
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "${team}" } } }] }]
]],
  [[
apiVersion: v1
kind: ResourceQuota
metadata: { namespace: "${namespace}", name: team }
spec: { hard: { pods: "${pods}", requests.memory: "${memory}" } }
]],
  [[
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { namespace: "${namespace}", name: team }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "${role}" }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: "team:${team}" }]
]],
}

local namespaces = k8s.informer "namespaces"
local queue = k8s.queue { name = "namespaces", workers = 4 }
namespaces:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }

-- What was removed in a namespace is made again.
for _, kind in ipairs { "networkpolicies", "resourcequotas", "rolebindings" } do
  k8s.informer(kind):on_delete(function(object) queue:add(object:namespace()) end)
end

queue:run(function(name)
  local namespace = namespaces:lister():get(name)
  local team = namespace and namespace:label "team"
  if not team or namespace.metadata.deletionTimestamp then return end
  local values = { namespace = name, team = team, pods = tostring(settings.pods), memory = settings.memory,
    role = settings.role }
  for _, text in ipairs(TEMPLATES) do
    local object, what = k8s.ensure(k8s.template(text, values))
    if not object then return nil, what end
    if what ~= "unchanged" then print(("%s %s/%s"):format(what, name, object.kind)) end
  end
end)
