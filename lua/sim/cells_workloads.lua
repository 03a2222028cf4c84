-- Cells of jobs, autoscalers, storage, roles, certificates, policies and quotas.
local ages = require "sim.ages"
local json = require "sim.json"
local texts = require "sim.texts"

local at, text, int, each, count = json.at, json.text, json.int, json.each, json.count

local cells = {}

local function has_condition(object, type, of_any_status)
  local condition = texts.find(at(object, "status.conditions"), "type", type)
  return condition and (of_any_status or text(condition, "status") == "True")
end

local function is_deleted(object) return text(object, "metadata.deletionTimestamp") ~= "" end

local function text_or(cell, column) return cell ~= "" and cell or text(column, "otherwise") end

-- --- batch, autoscaling

cells["job status"] = function(job)
  for _, type in ipairs { "Complete", "Failed" } do
    if has_condition(job, type) then return type end
  end
  if is_deleted(job) then return "Terminating" end
  for _, type in ipairs { "Suspended", "FailureTarget", "SuccessCriteriaMet" } do
    if has_condition(job, type) then return type end
  end
  return "Running"
end

cells["job completions"] = function(job)
  local done, wanted = int(job, "status.succeeded", 0), int(job, "spec.completions", -1)
  local beside = int(job, "spec.parallelism", 0)
  if wanted >= 0 then return string.format("%d/%d", done, wanted) end
  return string.format(beside > 1 and "%d/1 of %d" or "%d/1", done, beside)
end

cells["job duration"] = function(job, _, now)
  local from, to = json.seconds(text(job, "status.startTime")), json.seconds(text(job, "status.completionTime"))
  return from and ages.format((to or now) - from) or ""
end

-- The first letter of a type is small in the name of its field.
local function metric_part(metric, type)
  return json.get(metric, (type:gsub("^%u", string.lower)))
end

local function resource_metric(wanted, found)
  local now, target = int(found, "current.averageUtilization", -1), int(wanted, "target.averageUtilization", -1)
  return (now >= 0 and string.format("%d%%", now) or "<unknown>")
    .. (target >= 0 and string.format("/%d%%", target) or "/<auto>")
end

local function metric_text(spec, status)
  local type = text(spec, "type")
  local wanted, found = metric_part(spec, type), metric_part(status, type)
  local is_resource, average = type:find "esource", text(wanted, "target.averageValue")
  local current = text(found, average ~= "" and "current.averageValue" or "current.value")
  local name = is_resource and text(wanted, "name") .. ": " or ""
  if is_resource and average == "" then return name .. resource_metric(wanted, found) end
  local is_average = average ~= "" and type ~= "Pods" and not is_resource
  return string.format("%s%s/%s%s", name, current ~= "" and current or "<unknown>",
    average ~= "" and average or text(wanted, "target.value"), is_average and " (avg)" or "")
end

cells.targets = function(scaler)
  local shown, statuses = {}, at(scaler, "status.currentMetrics")
  for i, spec in each(at(scaler, "spec.metrics")) do
    shown[i] = metric_text(spec, json.element(statuses, i - 1))
  end
  return #shown > 0 and texts.shown(shown, ", ", 2) or "<none>"
end

-- --- storage

cells.phase = function(object) return is_deleted(object) and "Terminating" or text(object, "status.phase") end

local modes = {
  { "ReadWriteOnce", "RWO" }, { "ReadOnlyMany", "ROX" }, { "ReadWriteMany", "RWX" }, { "ReadWriteOncePod", "RWOP" },
}

-- `field` of the column names a text without which nothing is shown: the volume of a claim.
cells["access modes"] = function(object, column)
  local given, field, shown = at(object, text(column, "jsonPath"):sub(2)), text(column, "field"), {}
  if field == "" or text(object, field) ~= "" then
    for _, mode in ipairs(modes) do
      if texts.find(given, "", mode[1]) then shown[#shown + 1] = mode[2] end
    end
  end
  return text_or(table.concat(shown, ","), column)
end

cells["claim capacity"] = function(claim)
  local storage = text(claim, "status.capacity.storage")
  if text(claim, "spec.volumeName") == "" then return "" end
  return storage ~= "" and storage or "0"
end

-- "standard (default)"
cells["class name"] = function(object, column)
  local given = json.get(at(object, "metadata.annotations"), text(column, "field"))
  return text(object, "metadata.name") .. (given == "true" and " (default)" or "")
end

cells["claim state"] = function(claim, column)
  local allocated, deleted, shown = json.type(at(claim, "status.allocation")) == "object", is_deleted(claim), {}
  if deleted then shown[1] = "deleted" end
  if allocated then shown[#shown + 1] = "allocated" end
  if not allocated and not deleted then shown[1] = "pending" end
  if allocated and count(at(claim, "status.reservedFor")) > 0 then shown[#shown + 1] = "reserved" end
  return text_or(table.concat(shown, ","), column)
end

-- "requests.cpu: 1/2, pods: 3/10", by name; those that begin with "limits." are the other column's.
cells.quota = function(quota, column)
  local hard, used, names = at(quota, "status.hard"), at(quota, "status.used"), {}
  local limits = text(column, "field") == "limits"
  for name in json.members(hard) do
    if (name:sub(1, 7) == "limits.") == limits then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    local in_use, most = json.get(used, name), json.get(hard, name)
    names[i] = string.format("%s: %s/%s", name, type(in_use) == "string" and in_use or "0",
      type(most) == "string" and most or "0")
  end
  return text_or(table.concat(names, ", "), column)
end

-- --- roles, certificates, policies

-- Names of the subjects of the kind `field`; a service account as "namespace/name".
cells.subjects = function(binding, column)
  local shown = {}
  for _, subject in each(at(binding, "subjects")) do
    local kind, name = text(subject, "kind"), text(subject, "name")
    if kind == "ServiceAccount" then name = text(subject, "namespace") .. "/" .. name end
    if kind == text(column, "field") then shown[#shown + 1] = name end
  end
  return text_or(table.concat(shown, ", "), column)
end

-- "services/default/web"
cells.parent = function(address)
  local parent = at(address, "spec.parentRef")
  local group, namespace = text(parent, "group"), text(parent, "namespace")
  if json.type(parent) ~= "object" then return "<none>" end
  return string.format("%s%s%s%s%s/%s", text(parent, "resource"), group ~= "" and "." or "", group,
    namespace ~= "" and "/" or "", namespace, text(parent, "name"))
end

-- "daemonset.apps/agent"
cells.controller = function(object)
  for _, owner in each(at(object, "metadata.ownerReferences")) do
    if at(owner, "controller") == true then
      local group = text(owner, "apiVersion"):match "^(.-)/"
      return string.format("%s%s%s/%s", text(owner, "kind"):lower(), group and "." or "", group or "",
        text(owner, "name"))
    end
  end
  return "<none>"
end

cells["request condition"] = function(request)
  local decision = has_condition(request, "Denied", true) and "Denied"
    or has_condition(request, "Approved", true) and "Approved" or "Pending"
  return decision .. (has_condition(request, "Failed", true) and ",Failed" or "")
    .. (text(request, "status.certificate") ~= "" and ",Issued" or "")
end

cells["requested duration"] = function(request, column)
  local seconds = int(request, "spec.expirationSeconds", -1)
  return seconds < 0 and text(column, "otherwise") or ages.format(seconds)
end

-- "namespace/name" of a policy's parameters.
cells["policy parameters"] = function(binding, column)
  local name, namespace = text(binding, "spec.paramRef.name"), text(binding, "spec.paramRef.namespace")
  if name == "" then return text(column, "otherwise") end
  return (namespace ~= "" and namespace or "*") .. "/" .. name
end

-- A number of a limited priority level; "<none>" where the map above it is missing.
cells.shares = function(level, column)
  local field, limited = text(column, "field"), at(level, "spec.limited")
  local above = at(limited, field:match "^(.*)%." or "")
  return json.type(above) == "object" and int(limited, field, 0) or "<none>"
end

-- Status of the condition whose type is `field`, and its reason where it is not true.
cells.condition = function(object, column)
  local condition = texts.find(at(object, "status.conditions"), "type", text(column, "field"))
  local status, reason = text(condition, "status"), text(condition, "reason")
  if not condition then return text(column, "otherwise") end
  local explained = at(column, "reason") == true and reason ~= "" and status ~= "True"
  return explained and string.format("%s (%s)", status, reason) or status
end

return cells
