-- `kubelua history`: what the versions of an object changed, when and by whom.
local text_table = require "tool.table"
local units = require "tool.units"

-- One line of JSON for each version. Of a Secret, values become their sizes.
local PROGRAM = [[
local list, err
for namespace in (%q):gmatch "[^,]*" do
  list, err = k8s.history({ kind = %q, namespace = namespace, name = %q }, { objects = %s })
  if not list then error(err.message, 0) end
  if list[1] then break end
end
if not list[1] then
  local all, cached = kind(%q), false
  local first = all:query():limit(1):rows()[1]
  local namespaced = first and first.metadata.namespace ~= nil
  for namespace in (%q):gmatch "[^,]*" do
    local query = all:query():where("metadata.name", "=", %q)
    cached = cached or (namespaced and query:namespace(namespace) or query):count() > 0
  end
  print("none", cached, namespaced)
end
-- `encoded`: the size is that of what base64 says.
local function size(value, encoded)
  if type(value) == "table" then
    for key, one in pairs(value) do value[key] = size(one, encoded) end
    return value
  end
  local text = tostring(value)
  local bytes = encoded and math.floor(#text:gsub("[=%%s]", "") * 3 / 4) or #text
  return value ~= nil and ("<%%d bytes>"):format(bytes) or nil
end
local function is_data(path) return path:find "^data" or path:find "^stringData" or path:find "last%%-applied" end
local function hide_annotations(annotations)
  for key in pairs(type(annotations) == "table" and annotations or {}) do
    if key:find "last%%-applied" then annotations[key] = "<hidden>" end
  end
end
local function hide(object)
  for _, field in ipairs { "data", "stringData" } do
    if object and object[field] then size(object[field], field == "data") end
  end
  hide_annotations(object and object.metadata.annotations)
end
for _, version in ipairs(list) do
  if %s and list.kind == "Secret" then
    hide(version.object)
    for _, change in ipairs(version.changes) do
      if change.path == "metadata.annotations" then
        hide_annotations(change.old)
        hide_annotations(change.new)
      end
      if is_data(change.path) then
        local encoded = change.path:find "^data" ~= nil
        change.old, change.new = size(change.old, encoded), size(change.new, encoded)
      end
    end
  end
  version.changes = k8s.json.array(version.changes)
  print(k8s.json.encode(version))
end
]]

local SHOWN_MAX = 80 -- characters of a value

local function usage(command)
  command.fail(command.USAGE, "expected one object: kubelua history KIND/NAME")
end

-- kind, namespace, name
local function place_of(command)
  local first, second = command.arguments[1], command.arguments[2]
  if not first or command.arguments[3] then usage(command) end
  local kind, rest = first, second
  if not rest then kind, rest = first:match "^([^/]+)/(.+)$" end
  if not rest then usage(command) end
  local own, name = rest:match "^([^/]+)/(.+)$"
  -- One that is not named is "default", unless the kind has none.
  return kind, own or command.flags.namespace or "default,", name or rest
end

local function value_text(value)
  local text = type(value) == "table" and "{...}" or tostring(value)
  if #text > SHOWN_MAX then text = text:sub(1, SHOWN_MAX - 3) .. "..." end
  return text
end

-- "spec.replicas: 3 -> 5", "+ metadata.labels.a: b", "- status.reason: Evicted"
local function change_text(change)
  if change.old == nil then return ("+ %s: %s"):format(change.path, value_text(change.new)) end
  if change.new == nil then return ("- %s: %s"):format(change.path, value_text(change.old)) end
  return ("  %s: %s -> %s"):format(change.path, value_text(change.old), value_text(change.new))
end

local function put_table(command, versions)
  local rows, now = text_table.new("TIME", ">AGE", "EVENT", "VERSION", "BY", "SCRIPT"), os.time()
  for _, version in ipairs(versions) do
    local at = math.floor(version.time)
    rows:add(os.date("!%Y-%m-%dT%H:%M:%SZ", at), units.duration(math.max(now - at, 0)), version.event,
      version.resource_version, version.manager or "-", version.script or "-")
    for _, change in ipairs(version.changes or {}) do rows:note(change_text(change)) end
  end
  command.write(rows:text(command.view))
end

-- Why there is no version: `answer` is "none", whether the object is cached, and whether the kind has namespaces.
local function absence(answer, namespace)
  local cached, namespaced = answer:match "^none\t(%a+)\t(%a+)"
  if cached == "true" then return "no change of it was seen yet: it is as it was listed" end
  if namespaced ~= "true" then return "no versions are known; there is no such object" end
  return ("no versions are known; %s has no such object (-n)"):format(namespace:match "^[^,]+")
end

return function(command)
  local kind, namespace, name = place_of(command)
  local flags = command.flags
  local session, why = command.session(flags["admin-socket"])
  if not session then command.fail(command.USAGE, why) end
  local masks = not flags["show-secrets"]
  local lines
  lines, why = session:eval(PROGRAM:format(namespace, kind, name, tostring(flags.objects), kind, namespace, name,
    tostring(masks)))
  if not lines then
    why = why:gsub("^repl:%d+: ", ""):gsub("^k8s%.history: ", "")
    command.fail(why:find "shutting down" and command.INCOMPLETE or command.USAGE, why)
  end
  if lines:find("none\t", 1, true) == 1 then
    command.fail(command.FINDINGS, ("%s/%s: %s"):format(kind, name, absence(lines, namespace)))
  end
  local versions = {}
  for line in lines:gmatch "[^\n]+" do versions[#versions + 1] = line end
  if flags.output == "table" then
    for i, line in ipairs(versions) do versions[i] = command.parse(line) end
    put_table(command, versions)
  else
    local text = "[" .. table.concat(versions, ",\n") .. "]\n"
    command.write(flags.output == "yaml" and command.yaml(text) or text)
  end
  return command.OK
end
