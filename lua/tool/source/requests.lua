-- Reads and writes of the API server: declared for their kind, with bodies whose fields exist.
local kinds = require "tool.source.kinds"
local declared_paths = require "tool.check.paths"

local requests = {}

-- --- declarations

local VERBS = {
  get = { "get" }, list = { "list" }, pages = { "list" }, watch = { "watch" },
}
local WRITES = {
  create = { "create" }, update = { "update" }, patch = { "patch" }, apply = { "apply", "patch" },
  delete = { "delete" }, scale = { "patch", sub = "scale" }, evict = { "create", sub = "eviction" },
  restart = { "patch" }, ensure = { "patch" },
}
local RESTARTED = { ["deployments.apps"] = true, ["statefulsets.apps"] = true, ["daemonsets.apps"] = true }

-- "*", and "*.example.com" for the group and those below it, are all kinds with their subresources.
local function is_for(self, one, kind, subresource)
  local is_part = (one.subresource or "") ~= ""
  local group = one.group and "." .. one.group
  local is_pattern = one.kind == "*" or group and ("." .. kind.group):sub(-#group) == group
  if is_pattern and not is_part then return true end
  return (is_pattern or self.kinds:of(one.kind) == kind) and (one.subresource or "") == (subresource or "")
end

local function is_declared(self, declared, kind, subresource, verbs)
  for _, one in ipairs(declared) do
    if is_for(self, one, kind, subresource) then
      for _, verb in ipairs(verbs) do
        if one.verb == "*" or one.verb == verb then return true end
      end
    end
  end
  return false
end

local function check_declared(self, node, name, kind, subresource, verbs, declared, by)
  if not declared or is_declared(self, declared, kind, subresource, verbs) then return end
  local text = kind.name .. (subresource and "/" .. subresource or "") .. ":" .. verbs[1]
  self:error(node, 'k8s.%s is not declared: add %s { "%s" }', name, by, text)
end

-- Of functions whose calls are not looked for without a parser (tool.check.declared): declared for some kind.
local ANY_KIND = {
  ensure = { { "get", reads = true }, { "create" }, { "patch" } }, scale = { { "patch", sub = "/scale" } },
  evict = { { "create", sub = "/eviction" } }, restart = { { "patch" } },
}

local function check_declared_for_any(self, node, name)
  for _, need in ipairs(ANY_KIND[name] or {}) do
    local declared, by = need.reads and self.reads or self.writes, need.reads and "k8s.reads" or "k8s.writes"
    local has = not declared
    for _, one in ipairs(declared or {}) do has = has or one.verb == need[1] or one.verb == "*" end
    if not has then
      self:error(node, 'k8s.%s is not declared for any kind: add %s { "KIND%s:%s" }', name, by, need.sub or "", need[1])
    end
  end
end

-- The kind of what is written: a view, a copy, or a table that names it.
function requests:kind_of_reference(type)
  if not type then return nil end
  if type.tag == "kube" then return type.kind end
  if type.tag ~= "shape" then return nil end
  local kind, version = type.shape:get "kind", type.shape:get "apiVersion"
  if not kind or not kind.value then return nil end
  if version then return version.value and self.kinds:of(version.value .. "/" .. kind.value) or nil end
  return self.kinds:of(kind.value)
end

-- The subresource in options; false where nobody knows.
local function subresource_in(options)
  if not options or options.tag == "nil" then return nil end
  if options.tag ~= "shape" then return false end
  local type = options.shape:get "subresource"
  if not type then return nil end
  return type.value or false
end

local OPTIONS_AT = { create = 2, update = 2, patch = 3, apply = 3, delete = 2 }
local BODY_AT = { create = 1, update = 1, patch = 2, apply = 2, ensure = 1 }

-- --- calls

local STATUS = 'status is not changed without { subresource = "status" }'

local function has_status(self, kind)
  return kind.subresources.status and kind.root.form == "object" and self.kinds:field(kind.root, "status") ~= nil
end

local function check_status(self, name, kind, body, subresource)
  if subresource ~= nil or name ~= "patch" and name ~= "apply" or not has_status(self, kind) then return end
  local status = self.entries_of(body).status
  if status then self:error(status, STATUS) end
end

-- The variable that an expression is; nil of others.
function requests:variable(node) return node and node.tag == "Id" and self:find(node[1]) or nil end

-- Notes that the values of variables are elsewhere, too: whoever has them may write their status.
function requests:let_go(list)
  for _, node in ipairs(list or {}) do
    local value = node.tag == "Pair" and node[2] or node
    local var = self:variable(value)
    if var then self.is_elsewhere[var.node] = true end
    if value.tag == "Table" then self:let_go(value) end
  end
end

-- k8s.update of a variable whose status was set, where nothing else may be for that.
local function check_updated(self, node, kind, object)
  local var = self:variable(object)
  if not var or not self.sets_status[var.node] or not has_status(self, kind) then return end
  if not self.is_elsewhere[var.node] and not self.given_before[var.node] then self:error(node, STATUS) end
end

-- Notes in each reading what gets a variable; only an update without a status leaves that as it is.
local function note_updated(self, name, list, found)
  if name ~= "update" or subresource_in(found[OPTIONS_AT.update]) ~= nil then self:let_go(list) end
end

-- "merge", "json", "strategic"; false where nobody knows.
local function form_of_patch(options)
  local type = options and options.tag == "shape" and options.shape:get "type"
  if type then return type.value or false end
  return (not options or options.tag == "shape" or options.tag == "nil") and "merge"
end

local function check_body(self, name, kind, found, subresource)
  local body = found[BODY_AT[name] or 0]
  if not body or body.tag ~= "shape" or subresource == "scale" or subresource == "eviction" then return end
  local node, form = body.shape.node, name == "patch" and form_of_patch(found[OPTIONS_AT.patch])
  if subresource == false or form == false and name == "patch" then return end
  if form == "json" then return self:check_json_patch(node, kind) end
  check_status(self, name, kind, node, subresource)
  self:check_table(node, kind.root, kind, name == "patch")
end

-- A server refuses a subresource that the kind does not have, or the call raises.
local function check_parts(self, node, name, kind, subresource)
  if not kind.is_known then return end
  local part = WRITES[name].sub or subresource
  if name == "restart" and kind.is_own and not RESTARTED[kind.name] then
    self:error(node, "k8s.restart: %s have no pods to restart", kind.name)
  elseif part and not kind.subresources[part] then
    local names = {}
    for one in pairs(kind.subresources) do names[#names + 1] = one end
    table.sort(names)
    self:error(node, "k8s.%s: %s have no subresource %s%s", name, kind.name, part, self:meant(part, names) or "")
  end
end

-- Of an object whose kind nobody knows: a patch has nil where null is meant, or operations.
local function check_of_any(self, node, name, found)
  check_declared_for_any(self, node, name)
  local body = name == "patch" and found[2]
  if not body or body.tag ~= "shape" then return end
  if form_of_patch(found[3]) == "json" then
    self:check_json_patch(body.shape.node, nil)
  else
    self:check_table(body.shape.node, kinds.ANY, nil, true)
  end
end

-- The path of k8s.raw, where it is written there.
local function check_raw(self, node, options)
  local path = options and options.tag == "shape" and options.shape:get "path"
  if not path or not path.value or not self.paths then return end
  for _, declared in ipairs(self.paths) do
    if declared_paths.allow(declared, path.value) then return end
  end
  self:error(node, 'k8s.raw is not declared: add k8s.reads { "%s" }', path.value)
end

-- An informer of a running script that follows namespaces by their labels reads those, too.
local function check_namespaces(self, node, options)
  local spaces = options and options.tag == "shape" and options.shape:get "namespaces"
  if not spaces or spaces.tag ~= "shape" or not spaces.shape:get "selector" then return end
  check_declared(self, node, "informer with a selector of namespaces", self.kinds:of "namespaces", nil, VERBS.watch,
    self.reads, "k8s.reads")
end

-- k8s.finalizers.add and remove are patches.
local function check_finalizers(self, node, fn, found)
  local kind = fn.waits and self:kind_of_reference(found[1])
  if kind then
    check_declared(self, node, "finalizers." .. fn.name, kind, nil, WRITES.patch, self.writes, "k8s.writes")
  end
end

local function check_write(self, node, name, list, found)
  local kind = self:kind_of_reference(found[1])
  local verbs, subresource = WRITES[name], subresource_in(found[OPTIONS_AT[name] or 0])
  if not kind then return check_of_any(self, node, name, found) end
  if subresource ~= false then
    check_declared(self, node, name, kind, verbs.sub or subresource, verbs, self.writes, "k8s.writes")
  end
  if name == "ensure" then
    check_declared(self, node, name, kind, nil, VERBS.get, self.reads, "k8s.reads")
    check_declared(self, node, name, kind, nil, WRITES.create, self.writes, "k8s.writes")
  end
  check_parts(self, node, name, kind, subresource or nil)
  if name == "update" and subresource == nil then check_updated(self, node, kind, list[1]) end
  check_body(self, name, kind, found, subresource)
end

-- Checks a call of k8s.get, k8s.patch and so on.
function requests:check_request(node, fn, list, found)
  note_updated(self, fn.name, list, found)
  if self.reports and fn.class.name == "k8s.finalizers" then return check_finalizers(self, node, fn, found) end
  local is_of_cluster = fn.class.name == "k8s.Cluster" and fn.is_method
  if not is_of_cluster and (fn.class.name ~= "k8s" or fn.is_method) then return end
  if not self.reports then return end
  local name, contexts = fn.name, self.fn.contexts
  local is_late = name == "informer" and contexts.run and not contexts.load
  if is_late then check_namespaces(self, node, found[2]) end
  if VERBS[name] or is_late then
    local kind = list[1] and list[1].tag == "String" and self.kinds:of(list[1][1])
    local verbs = VERBS[name] or VERBS.watch
    if kind then check_declared(self, node, name, kind, nil, verbs, self.reads, "k8s.reads") end
  elseif name == "raw" then
    check_raw(self, node, found[1])
  elseif name == "logs" then
    check_declared(self, node, name, self.kinds:of "pods", "log", { "get" }, self.reads, "k8s.reads")
  elseif WRITES[name] then
    check_write(self, node, name, list, found)
  end
end

-- --- results

local CALLS = { Call = true, Invoke = true }

-- Results of functions of rules and of webhooks.
function requests:check_return(node)
  local info, first = self.fn, node[1]
  if info.is_check and not CALLS[first.tag] then
    self:error(node, "the check of a rule must not return a value: report by its second argument")
  elseif info.fixes and first.tag == "Table" and self.reports then
    self:check_table(first, info.fixes.node, info.fixes.kind, true)
  elseif info.response and first.tag == "Table" then
    self:check_options({ tag = "shape", shape = self.shapes[first] }, info.response, "the response")
  end
end

return requests
