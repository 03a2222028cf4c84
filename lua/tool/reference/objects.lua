-- Names of objects and namespaces that a running engine has cached, for completion. The engine is asked for what
-- begins as the word does, and for so many at most that nobody waits.
local values = require "tool.view.values"

local items, text = values.items, values.text
local objects = {}

local MAX, WAIT_MS = 500, 2000

-- Of more names than MAX the first and the last are printed: what all have in common, to which a shell completes the
-- word, is what these two have in common.
local NAMES = [[
local typed, namespace = %q, %s
local function put(direction)
  local query, n = kind(%q):query():where("metadata.name", "matches", typed .. "*"), 0
  if namespace then query:namespace(namespace) end
  for object in query:order("metadata.name", direction):limit(%d):each() do
    print(object:get "metadata.name")
    n = n + 1
  end
  return n
end
if put "asc" == %d then put "desc" end
]]

-- Namespaces of the objects of a kind, or of each cache. A cache whose kind the server does not know has none, and must
-- not take away those of others.
local NAMESPACES = [[
local typed, max = %q, %d
local function put(name)
  local query = kind(name):query():where("metadata.namespace", "matches", typed .. "*"):group "metadata.namespace"
  local rows = query:order("key"):rows()
  for i, row in ipairs(rows) do
    if i <= max or i > #rows - max then print(row.key) end
  end
end
for _, name in ipairs { %s } do pcall(put, name) end
]]

local function lines_of(command, given, chunk)
  command.host.give_up_after(WAIT_MS)
  local session = command.host.session(given["admin-socket"] or os.getenv "KUBELUA_ADMIN_SOCKET")
  local lines, list = session and session:eval(chunk) or "", {}
  for line in lines:gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

-- The names of a kind's objects that begin with the text; `namespace`: nil for all.
function objects.names(command, given, kind, typed, namespace)
  local quoted = namespace and ("%q"):format(namespace) or "nil"
  return lines_of(command, given, NAMES:format(typed, quoted, kind, MAX, MAX))
end

-- The namespaces of the objects of these caches that begin with the text.
function objects.namespaces(command, given, kinds, typed)
  local quoted = {}
  for i, kind in ipairs(kinds) do quoted[i] = ("%q"):format(kind) end
  return lines_of(command, given, NAMESPACES:format(typed, MAX, table.concat(quoted, ", ")))
end

-- The namespaces of the server that begin with the text; of many the first and the last.
function objects.server_namespaces(command, given, typed)
  local reply = command.host.cluster_get("/api/v1/namespaces", given)
  local ok, list = pcall(command.host.parse, reply or "{}")
  local names, chosen = {}, {}
  for _, item in ipairs(ok and items(items(list).items) or {}) do
    local name = text(items(items(item).metadata).name)
    if name ~= "" and name:sub(1, #typed) == typed then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do
    if i <= MAX or i > #names - MAX then chosen[#chosen + 1] = name end
  end
  return chosen
end

-- Names for a word that is NAME, NAMESPACE/NAME or, as the first one, KIND/NAME; and what stands before it.
function objects.of_word(command, given, arguments, typed)
  local head, name = typed:match "^([^/]+)/(.*)$"
  local kind = (arguments[1] or head or ""):match "^[^/]*"
  if arguments[1] and not arguments[1]:find("/", 1, true) then
    return objects.names(command, given, kind, name or typed, head or given.namespace), head
  end
  if head ~= kind then return {} end
  return objects.names(command, given, kind, name, given.namespace), head
end

return objects
