-- Reads and writes of the API server: declared for their kind, with bodies whose fields exist.
local kinds = require "tool.source.kinds"
local declared_paths = require "tool.check.paths"
local types = require "tool.source.types"

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

-- --- bodies

local NUMBERS = { integer = true, number = true }

local function check_leaf(self, item, type, node, path)
  local form = node.form
  if type.tag == "string" then
    if NUMBERS[form] or form == "boolean" or form == "list" or form == "object" then
      self:error(item, "%s must be %s, not a string", path, form == "integer" and "an integer" or "a " .. form)
    elseif form == "quantity" then
      local why = self.target.quantity_error(type.value)
      if why then self:error(item, "%s: %s", path, why) end
    elseif type.value then
      self:check_enum(item, { node = node, path = path }, type.value)
    end
  elseif type.tag == "number" and (form == "string" or form == "boolean") then
    self:error(item, "%s must be a %s, not a number", path, form)
  end
end

local check_table

local function check_entry(self, item, node, kind, path, is_patch)
  local value = item.tag == "Pair" and item[2] or item
  if value.tag == "Nil" then
    if is_patch then self:error(item, "%s = nil changes nothing: k8s.null removes a field", path) end
  elseif value.tag == "Table" then
    check_table(self, value, node, kind, path, is_patch)
  else
    local literal = value.tag == "String" and { tag = "string", value = value[1] }
      or value.tag == "Number" and types.NUMBER
    if literal then check_leaf(self, item, literal, node, path) end
  end
end

-- Checks a table that is written for a node.
function check_table(self, written, node, kind, path, is_patch)
  for _, item in ipairs(written) do
    local key = item.tag == "Pair" and item[1].tag == "String" and item[1][1]
    local at = key and (path == "" and key or path .. "." .. key) or path .. "[*]"
    local below = kinds.ANY
    if key then
      below = self.kinds:field(node, key)
    elseif item.tag ~= "Pair" then
      below = node.of or kinds.ANY
    end
    if below then
      check_entry(self, item, below, kind, at, is_patch)
    elseif node.form == "object" and not key:find "^%$" then
      self:unknown_field(item, { node = node, kind = kind }, at, key)
    end
  end
end

-- A table with apiVersion, kind and metadata, wherever it is; a reference to an object has no metadata.
function requests:check_manifest(node)
  if not self.reports then return end
  local named = {}
  for _, item in ipairs(node) do
    if item.tag == "Pair" and item[1].tag == "String" then named[item[1][1]] = item[2] end
  end
  local version, kind = named.apiVersion, named.kind
  if not named.metadata or not version or version.tag ~= "String" or not kind or kind.tag ~= "String" then return end
  local found = self.kinds:of(version[1] .. "/" .. kind[1])
  if found then check_table(self, node, found.root, found, "", false) end
end

local function check_status(self, node, name, kind, body, subresource)
  if subresource ~= nil or not kind.subresources.status or kind.root.form ~= "object" then return end
  if name ~= "patch" and name ~= "apply" or not self.kinds:field(kind.root, "status") then return end
  for _, item in ipairs(body) do
    if item.tag == "Pair" and item[1].tag == "String" and item[1][1] == "status" then
      self:error(item, 'status is not changed without { subresource = "status" }')
    end
  end
end

local function is_other_body(name, found, subresource)
  if subresource == "scale" or subresource == "eviction" or subresource == false then return true end
  local options = found[OPTIONS_AT[name] or 0]
  local type = name == "patch" and options and options.tag == "shape" and options.shape:get "type"
  return type and type.value ~= "merge" and type.value ~= "strategic"
end

local function check_body(self, name, kind, found, subresource)
  local body = found[BODY_AT[name] or 0]
  if not body or body.tag ~= "shape" or is_other_body(name, found, subresource) then return end
  local node = body.shape.node
  check_status(self, node, name, kind, node, subresource)
  check_table(self, node, kind.root, kind, "", name == "patch")
end

-- A patch has nil where null is meant, whatever its kind.
local function check_nil(self, name, found)
  local body = name == "patch" and found[2]
  if body and body.tag == "shape" then check_table(self, body.shape.node, kinds.ANY, nil, "", true) end
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

-- Checks a call of k8s.get, k8s.patch and so on.
function requests:check_request(node, fn, list, found)
  if self.reports and fn.class.name == "k8s.finalizers" then return check_finalizers(self, node, fn, found) end
  local is_of_cluster = fn.class.name == "k8s.Cluster" and fn.is_method
  if not is_of_cluster and (fn.class.name ~= "k8s" or fn.is_method) or not self.reports then return end
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
    local kind = self:kind_of_reference(found[1])
    local verbs, subresource = WRITES[name], subresource_in(found[OPTIONS_AT[name] or 0])
    if not kind then return check_nil(self, name, found) end
    if subresource ~= false then
      check_declared(self, node, name, kind, verbs.sub or subresource, verbs, self.writes, "k8s.writes")
    end
    check_body(self, name, kind, found, subresource)
  end
end

-- --- results

local CALLS = { Call = true, Invoke = true }

-- What functions of rules return.
function requests:check_return(node)
  local info, first = self.fn, node[1]
  if info.is_check and not CALLS[first.tag] then
    self:error(node, "the check of a rule must not return a value: report by its second argument")
  elseif info.fixes and first.tag == "Table" and self.reports then
    check_table(self, first, info.fixes.node, info.fixes.kind, "", true)
  end
end

return requests
