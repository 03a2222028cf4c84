-- Lists, maps and objects that an object may lack, and what of them a script has looked at. One that was looked at
-- anywhere in the file is not reported: a function may rely on what another one has checked.
local absences = {}

-- Workloads have a template with labels, which a selector matches.
local WORKLOAD = {
  ["spec.selector"] = true, ["spec.selector.matchLabels"] = true, ["spec.template.metadata.labels"] = true,
}

-- Fields that the schema lets objects lack, but every server or kubelet writes, or validation demands.
local ALWAYS = {
  nodes = { ["status.allocatable"] = true, ["status.capacity"] = true, ["status.conditions"] = true,
    ["status.addresses"] = true, ["metadata.labels"] = true, ["metadata.annotations"] = true },
  namespaces = { ["metadata.labels"] = true },
  secrets = { data = true },
  persistentvolumeclaims = { ["spec.resources.requests"] = true, ["spec.accessModes"] = true },
  persistentvolumes = { ["spec.capacity"] = true, ["spec.accessModes"] = true },
  ["deployments.apps"] = WORKLOAD, ["statefulsets.apps"] = WORKLOAD, ["daemonsets.apps"] = WORKLOAD,
  ["replicasets.apps"] = WORKLOAD, ["jobs.batch"] = WORKLOAD,
  pods = { ["spec.volumes"] = true, ["spec.tolerations"] = true, ["spec.containers[*].volumeMounts"] = true },
}
local PARTS = { spec = true, metadata = true }

-- Returns { kind, path } if the field `name` of `type` may be absent, where `path` is its own; nil otherwise.
function absences:absence_of(type, name, path)
  if type.is_sure or not self.kinds:may_lack(type.node, name) then return nil end
  if type.root and PARTS[name] then return nil end
  local kind = type.kind and type.kind.name or "objects"
  if ALWAYS[kind] and ALWAYS[kind][path] then return nil end
  return { kind = kind, path = path }
end

local function note(self, absence)
  if absence and absence.path then self.looked_at[absence.kind .. " " .. absence.path] = true end
end

-- Notes that the script has looked whether the field of this type is there, or has set it.
function absences:look_at(type) note(self, type and type.tag == "kube" and type.unchecked or nil) end
function absences:note_set(type, name, path) note(self, self:absence_of(type, name, path)) end

-- One step of a path: the type of what is `below`, and the absence that a path to there has: the first that was not
-- looked at. `is_there`: there is something at its end.
function absences:step_type(type, below, step, before, is_there)
  local path = step.name and (type.path == "" and step.name or type.path .. "." .. step.name) or type.path .. "[*]"
  local absence = step.name and type.tag == "kube" and self:absence_of(type, step.name, path) or nil
  if is_there then note(self, absence) end
  local found = { tag = "kube", node = below, kind = type.kind, path = path, is_sure = type.is_sure }
  return found, before or absence and not self.looked_at[absence.kind .. " " .. absence.path] and absence or nil
end

function absences:report_absence(node, absence)
  if self.looked_at[absence.kind .. " " .. absence.path] then return end
  self:warning(node, "%s may lack %s, which is nil then: check it, or write (... or {})", absence.kind, absence.path)
end

return absences
