-- The rules of scripts/rules and their examples, for specs.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local rules = { folder = "scripts/rules", examples = "scripts/rules/examples" }

-- Kinds that stand in examples.
local KINDS = [[pods services configmaps secrets serviceaccounts namespaces persistentvolumeclaims deployments.apps
  statefulsets.apps daemonsets.apps replicasets.apps jobs.batch cronjobs.batch ingresses.networking.k8s.io
  networkpolicies.networking.k8s.io poddisruptionbudgets.policy horizontalpodautoscalers.autoscaling
  roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
  clusterrolebindings.rbac.authorization.k8s.io validatingadmissionpolicies.admissionregistration.k8s.io]]

-- A rule that reports each object as it is, so that kubelua itself reads YAML for specs.
local TELL = [[
local k8s = require "k8s"
local kinds = {}
for kind in ("%s"):gmatch "%%S+" do kinds[#kinds + 1] = kind end
k8s.rule { id = "tell", kinds = kinds, check = function(obj, r) r:warn(obj:json()) end }
]]

local function lines(command)
  local list, pipe = {}, io.popen(command)
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- The ids of the rules that have examples, sorted.
function rules.ids() return lines("ls " .. rules.examples) end

-- The report of `kubelua audit ARGS -o json`, and the exit code.
function rules.audit(...)
  local args = { "audit", ... }
  args[#args + 1], args[#args + 2] = "-o", "json"
  local p = cluster.kubelua(args)
  local code = p:wait()
  if p.streams.err.text ~= "" then error(p.streams.err.text) end
  return cjson.decode(p.streams.out.text), code
end

-- The objects of files, each as a table, by file.
function rules.objects(files)
  local folder, by_file = temp.folder(), {}
  temp.write(folder .. "/tell.lua", TELL:format(KINDS:gsub("%s+", " ")))
  local args = { "-f", folder .. "/tell.lua" }
  for _, file in ipairs(files) do
    by_file[file] = {}
    args[#args + 1], args[#args + 2] = "--from", file
  end
  for _, row in ipairs(rules.audit(unpack(args)).results) do
    table.insert(by_file[row.file], cjson.decode(row.message))
  end
  temp.remove(folder)
  return by_file
end

-- Gives the objects namespaces of their own, and those without one names of their own, so that many examples can be
-- looked at at once. The namespace default is as it was: there is a rule about it.
function rules.set_apart(objects, mark)
  local function apart(name) return name and name ~= "default" and name .. "-" .. mark or name end
  for _, object in ipairs(objects) do
    local metadata = object.metadata
    if metadata.namespace then
      metadata.namespace = apart(metadata.namespace)
    else
      metadata.name = apart(metadata.name)
    end
    for _, subject in ipairs(object.subjects or {}) do subject.namespace = apart(subject.namespace) end
    local role = object.roleRef
    if role and role.kind == "ClusterRole" and role.name ~= "cluster-admin" then role.name = apart(role.name) end
  end
end

-- "Pod/web spec.containers[0].image" for each line "# finds ..." of an example, sorted.
function rules.expected(file)
  local list = {}
  for line in temp.read(file):gmatch "# finds ([^\n]*)" do list[#list + 1] = line end
  table.sort(list)
  return list
end

return rules
