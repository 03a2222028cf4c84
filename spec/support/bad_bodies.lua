-- Bodies with mistakes for specs of validation: of each kind, what a create refuses. A row is a path, the kind's base
-- as JSON, and the mistakes: JSON that is merged over the base (null removes a key, ["@empty"] is an empty list).
local cjson = require "cjson"

local core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"
local template = [[{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}]]
local workload = [[{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":]] .. template .. "}}"

local rows = {
  { core .. "pods", "v1", "Pod", [[{"spec":{"containers":[{"name":"c","image":"i"}]}}]], {
    -- of wrong types
    [[{"spec":{"nodeName":1}}]], [[{"spec":{"containers":"x"}}]], [[{"spec":{"containers":[1]}}]], [[{"spec":1}]],
    [[{"spec":{"hostNetwork":"yes"}}]], [[{"spec":{"terminationGracePeriodSeconds":"1"}}]],
    [[{"spec":{"priority":3000000000}}]], [[{"spec":{"priority":1.5}}]], [[{"spec":{"nodeSelector":{"a":1}}}]],
    [[{"spec":{"nodeSelector":["@empty"]}}]], [[{"metadata":{"labels":{"a":1}}}]], [[{"metadata":{"finalizers":[1]}}]],
    [[{"metadata":{"creationTimestamp":"yesterday"}}]], [[{"metadata":{"creationTimestamp":7}}]],
    [[{"metadata":{"ownerReferences":[{"apiVersion":1}]}}]], [[{"metadata":7}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":"x"}]}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","env":{"a":"b"}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"much"}}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":true}}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{"httpGet":{"port":true}}}]}}]],
    [[{"spec":{"volumes":[{"name":"v","emptyDir":1}]}}]],
    -- of unknown fields
    [[{"spec":{"foo":1},"bar":2}]], [[{"spec":{"Containers":1}}]], [[{"metadata":{"foo":1}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"x":1}],"y":{"z":1}}]}}]],
  } },
  { core .. "configmaps", "v1", "ConfigMap", "{}", {
    [[{"data":{"a":1}}]], [[{"data":["@empty"]}]], [[{"binaryData":{"a":"%%"}}]], [[{"immutable":"x"}]], [[{"foo":1}]],
  } },
  { core .. "secrets", "v1", "Secret", "{}", { [[{"data":{"a":"no base64"}}]], [[{"data":{"a":1}}]],
    [[{"stringData":{"a":1}}]] } },
  { core .. "services", "v1", "Service", [[{"spec":{"clusterIP":"None","ports":[{"port":80}]}}]], {
    [[{"spec":{"ports":[{"port":"x"}]}}]], [[{"spec":{"ports":[{"port":80,"targetPort":true}]}}]],
    [[{"spec":{"selector":"x"}}]] } },
  { apps .. "deployments", "apps/v1", "Deployment", workload, {
    [[{"spec":{"replicas":"x"}}]], [[{"spec":{"replicas":2.5}}]], [[{"spec":{"selector":1}}]],
    [[{"spec":{"template":{"spec":{"foo":1}}}}]], [[{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}]],
    [[{"spec":{"template":{"spec":{"nodeName":1}}}}]] } },
  { apps .. "replicasets", "apps/v1", "ReplicaSet", workload, { [[{"spec":{"replicas":["@empty"]}}]],
    [[{"spec":["@empty"]}]] } },
}

local function merge(into, from)
  for key, value in pairs(from) do
    local both = type(value) == "table" and type(into[key]) == "table" and #value == 0 and next(value) ~= nil
    if value == cjson.null then
      into[key] = nil
    elseif both then
      merge(into[key], value)
    else
      into[key] = value
    end
  end
  return into
end

local bad_bodies = {}

-- All of them, each with its path, kind, mistake and body, which is JSON.
function bad_bodies.all()
  local list = {}
  for _, row in ipairs(rows) do
    for _, mistake in ipairs(row[5]) do
      local body = cjson.decode(row[4])
      body.apiVersion, body.kind, body.metadata = row[2], row[3], { name = "bad" }
      local text = cjson.encode(merge(body, cjson.decode(mistake))):gsub('%["@empty"%]', "[]")
      list[#list + 1] = { path = row[1], kind = row[3], mistake = mistake, body = text }
    end
  end
  return list
end

return bad_bodies
