-- Columns of objects in tables, as kubectl has them: paths whose values the engine sends, and what they become.
local units = require "tool.units"

local text

-- "map[a:1 b:2]", as Go prints it.
local function map_text(map)
  local items = {}
  for key, value in pairs(map) do items[#items + 1] = key .. ":" .. text(value) end
  table.sort(items)
  return "map[" .. table.concat(items, " ") .. "]"
end

function text(value, otherwise)
  if value == nil or type(value) == "userdata" then return otherwise or "<none>" end -- null
  if type(value) ~= "table" then return tostring(value) end
  if type(next(value)) == "string" then return map_text(value) end
  local items = {}
  for i, item in ipairs(value) do items[i] = text(item) end
  return #items > 0 and table.concat(items, ",") or otherwise or "<none>"
end

local function number(value) return type(value) == "number" and value or 0 end

local function count(value, what)
  local n = 0
  for _, item in ipairs(type(value) == "table" and value or {}) do n = n + (item == what and 1 or 0) end
  return n
end

local function of(heading, path, otherwise)
  return { heading, path, show = function(value) return text(value, otherwise) end }
end

local function age(created, _, _, now)
  local at = units.time(created)
  return at ~= 0 and units.age(now - at) or "<unknown>"
end

local AGE = { "AGE", "metadata.creationTimestamp", show = age }

local function ready(heading, ready_path, path)
  return { heading, ready_path, path, show = function(have, want) return number(have) .. "/" .. number(want) end }
end

-- The first reason why a container waits, else the phase.
local function pod_status(phase, waits, deleted)
  if type(deleted) == "string" then return "Terminating" end
  if type(waits) == "table" and waits[1] then return text(waits[1]) end
  return text(phase, "Unknown")
end

local function labels(map)
  local items = {}
  for key, value in pairs(type(map) == "table" and map or {}) do items[#items + 1] = key .. "=" .. text(value) end
  table.sort(items)
  return #items > 0 and table.concat(items, ",") or "<none>"
end

local function node_status(types, statuses, unschedulable)
  local status = "Unknown"
  for i, type_ in ipairs(type(types) == "table" and types or {}) do
    if type_ == "Ready" then status = type(statuses) == "table" and statuses[i] == "True" and "Ready" or "NotReady" end
  end
  return status .. (unschedulable == true and ",SchedulingDisabled" or "")
end

local function roles(map)
  local list = {}
  for key, value in pairs(type(map) == "table" and map or {}) do
    local role = key:match "^node%-role%.kubernetes%.io/(.+)$"
    list[#list + 1] = role or key == "kubernetes.io/role" and text(value) or nil
  end
  table.sort(list)
  return #list > 0 and table.concat(list, ",") or "<none>"
end

local function sum(value)
  local total = 0
  for _, item in ipairs(type(value) == "table" and value or {}) do total = total + number(item) end
  return total
end

local IMAGES = of("IMAGES", "spec.template.spec.containers[*].image")
local REPLICAS = {
  ready("READY", "status.readyReplicas", "spec.replicas"),
  of("UP-TO-DATE", "status.updatedReplicas", "0"), of("AVAILABLE", "status.availableReplicas", "0"), AGE,
}

-- By kind: columns behind NAMESPACE and NAME, and those of -o wide behind them.
local KINDS = {
  Pod = {
    {
      { "READY", "status.containerStatuses[*].ready", "spec.containers[*].name", show = function(have, all)
        return count(have, true) .. "/" .. (type(all) == "table" and #all or 0)
      end },
      { "STATUS", "status.phase", "status.containerStatuses[*].state.waiting.reason", "metadata.deletionTimestamp",
        show = pod_status },
      { "RESTARTS", "status.containerStatuses[*].restartCount", show = sum }, AGE,
    },
    { of("IP", "status.podIP"), of("NODE", "spec.nodeName") },
  },
  Deployment = { REPLICAS, { IMAGES } },
  StatefulSet = { { REPLICAS[1], AGE }, { IMAGES } },
  ReplicaSet = { { REPLICAS[1], AGE }, { IMAGES } },
  DaemonSet = {
    { ready("READY", "status.numberReady", "status.desiredNumberScheduled"), AGE }, { IMAGES },
  },
  Job = { { ready("COMPLETIONS", "status.succeeded", "spec.completions"), AGE }, { IMAGES } },
  Service = {
    { of("TYPE", "spec.type"), of("CLUSTER-IP", "spec.clusterIP"), of("PORT(S)", "spec.ports[*].port"), AGE },
    { { "SELECTOR", "spec.selector", show = labels } },
  },
  Node = {
    {
      { "STATUS", "status.conditions[*].type", "status.conditions[*].status", "spec.unschedulable",
        show = node_status },
      { "ROLES", "metadata.labels", show = roles }, AGE, of("VERSION", "status.nodeInfo.kubeletVersion"),
    },
    { of("OS-IMAGE", "status.nodeInfo.osImage") },
  },
  Namespace = { { of("STATUS", "status.phase"), AGE } },
  Secret = { { of("TYPE", "type"), AGE } },
}

local GENERIC = { { AGE } }

local columns = { text = text }

local WITHOUT_NAMESPACE = { Node = true, Namespace = true }

-- Of a cache without objects: the kind, if its columns are known, and whether it has namespaces.
function columns.kind_of(resource)
  for kind in pairs(KINDS) do
    if kind:lower() .. "s" == resource:match "^[^.]*" then return kind, not WITHOUT_NAMESPACE[kind] end
  end
  return "", false
end

-- Whether the columns of the kind are known here.
function columns.knows(kind) return KINDS[kind] ~= nil end

-- The columns of a kind; `namespaced`: with NAMESPACE; `more`: the last ones.
function columns.of(kind, wide, namespaced, more)
  local list = {}
  if namespaced then list[1] = of("NAMESPACE", "metadata.namespace") end
  list[#list + 1] = of("NAME", "metadata.name")
  local parts = KINDS[kind] or GENERIC
  for _, column in ipairs(parts[1]) do list[#list + 1] = column end
  for _, column in ipairs(wide and parts[2] or {}) do list[#list + 1] = column end
  for _, column in ipairs(more or {}) do list[#list + 1] = column end
  return list
end

-- A column for each label of the texts "LABEL,LABEL", headed by what stands behind the last slash of its key, and
-- LABELS with all of them last; nil and why.
function columns.of_labels(texts, all)
  local list = {}
  for key in table.concat(texts, ","):gmatch "[^,]+" do
    if not key:find "^[%w/._-]+$" then
      return nil, ('-L/--label-columns: "%s" is not the key of a label'):format(key)
    end
    list[#list + 1] = of(key:match "[^/]*$":upper(), ("metadata.labels['%s']"):format(key), "")
  end
  if all then list[#list + 1] = { "LABELS", "metadata.labels", show = labels } end
  return list
end

-- "NAME:.metadata.name,NODE:.spec.nodeName" as columns; nil and why.
function columns.parse(spec)
  local list = {}
  for part in (spec .. ","):gmatch "([^,]*)," do
    local heading, path = part:match "^([^:]+):%.?([^:]+)$"
    if not heading then return nil, ('custom-columns: "%s" is not HEADING:PATH'):format(part) end
    list[#list + 1] = of(heading, path)
  end
  return list
end

-- All paths, in their order.
function columns.paths(list)
  local paths = {}
  for _, column in ipairs(list) do
    for i = 2, #column do paths[#paths + 1] = column[i] end
  end
  return paths
end

-- The cells of a row of values of these paths.
function columns.cells(list, row, now)
  local cells, at = {}, 0
  for i, column in ipairs(list) do
    local n = #column - 1
    local a, b, c = row[at + 1], row[at + 2], row[at + 3]
    if n == 1 then b, c = nil, nil end
    if n == 2 then c = nil end
    cells[i] = tostring(column.show(a, b, c, now))
    at = at + n
  end
  return cells
end

return columns
