-- `kubelua types`: classes of kinds for editors, of the schema bundle, a server's OpenAPI v3, or files.
local add_bundle = require "tool.types.bundle"
local schemas = require "tool.types.schemas"
local writer = require "tool.types.writer"

local OK, USAGE = 0, 2

-- --- which kinds

local function matches(name, kind)
  local lower, group = name:lower(), kind.group ~= "" and "." .. kind.group or ""
  for _, own in ipairs { kind.kind, kind.plural or "" } do
    if lower == own:lower() or lower == own:lower() .. group then return true end
  end
  return false
end

-- A name that kubectl accepts, of a kind that is not in a file.
local function resolves(target, name, kind)
  local resource = target.resolve(name)
  local plural = kind.plural or target.plural(kind.kind) -- an OpenAPI document has none
  return resource and resource.group == kind.group and resource.plural == plural or false
end

-- Returns a function that says whether a kind is wanted, and one that returns a name that no kind has, with the nearest
-- of those that kinds have, if one is near.
local function selection(target, names)
  local seen, known = {}, {}
  local function is_wanted(kind)
    if #names == 0 then return true end
    known[#known + 1] = kind.plural or target.plural(kind.kind)
    known[#known + 1] = kind.kind
    local wanted = false
    for _, name in ipairs(names) do
      if matches(name, kind) or resolves(target, name, kind) then seen[name], wanted = true, true end
    end
    return wanted
  end
  return is_wanted, function()
    for _, name in ipairs(names) do
      if not seen[name] then return name, target.nearest(name, known) end
    end
  end
end

-- --- where they are from

local function from_cluster(target, _, out, is_wanted)
  local index, why = target.fetch "/openapi/v3"
  if not index then return why end
  local paths = type(index) == "table" and index.paths
  if type(paths) ~= "table" then return "GET /openapi/v3: the response has no paths" end
  for _, path in ipairs(getmetatable(paths).names or {}) do
    if path:find "^api/" or path:find "^apis/[^/]+/" then
      local entry = paths[path]
      local url = type(entry) == "table" and entry.serverRelativeURL
      local document, failure = target.fetch(type(url) == "string" and url or "/openapi/v3/" .. path)
      if not document then return failure end
      schemas.add_document(out, document, is_wanted)
    end
  end
end

-- The value of a file of JSON that is an OpenAPI document; nil for others.
local function document_of(target, facts)
  local file = not facts.is_folder and io.open(facts.from, "rb")
  if not file then return nil end
  local text = file:read "*a"
  file:close()
  if not text:find '^%s*{' or not text:find('"openapi"', 1, true) then return nil end
  local document = target.parse(text)
  return document and document.openapi and document or nil
end

local function from_files(target, facts, out, is_wanted)
  local document = document_of(target, facts)
  if document then return schemas.add_document(out, document, is_wanted) end
  local definitions, why = facts.definitions()
  if not definitions then return why end
  if #definitions == 0 then return facts.from .. ": no CustomResourceDefinitions and no OpenAPI v3 document" end
  for _, definition in ipairs(definitions) do schemas.add_definition(out, definition, is_wanted) end
end

local function from_bundle(target, _, out, is_wanted) return add_bundle(target, out, is_wanted) end

-- Returns the exit code.
return function(target, facts)
  local out = writer.new()
  local is_wanted, missing = selection(target, facts.kinds)
  local read = facts.is_cluster and from_cluster or facts.from and from_files or from_bundle
  local why = read(target, facts, out, is_wanted)
  local name, nearest = missing()
  if not why and name then
    why = string.format('no kind "%s"%s', name, facts.from and " in " .. facts.from or "")
      .. (nearest and string.format(', did you mean "%s"?', nearest) or "")
  end
  if why then
    io.stderr:write("kubelua types: ", why, "\n")
    return USAGE
  end
  local written = io.stdout:write(out:text(facts.from and " --from " .. facts.from or "")) and io.stdout:flush()
  return written and OK or USAGE
end
