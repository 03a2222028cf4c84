-- Paths into objects, selectors, kinds and durations that are written as texts.
local types = require "tool.source.types"

local paths = {}

-- --- texts that are put together

-- The text that an expression makes, with "0" or "x" for values in brackets; nil where nobody knows.
local function text_of(self, node)
  if node.tag == "String" then return node[1] end
  if node.tag == "Id" then
    local var = self:find(node[1])
    return var and var.type.tag == "string" and var.type.value or nil
  end
  if node.tag == "Paren" then return text_of(self, node[1]) end
  if node.tag == "Op" and node[1] == "concat" then
    local left = text_of(self, node[2])
    if not left then return nil end
    local right = text_of(self, node[3])
    if right then return left .. right end
    local value = left:find "%[$" and "0" or left:find "%['$" and "x"
    if not value then return nil end
    if node[3].tag ~= "Op" or node[3][1] ~= "concat" then return left .. value end
    local rest = text_of(self, node[3][3]) -- a .. b .. c is a .. (b .. c)
    return rest and left .. value .. rest
  end
end

-- --- paths

local function describe(type) return type.kind and type.kind.name or "objects" end

-- The rest of a path behind a step, as it is written.
local function rest_from(text, name) return text:match("%." .. name:gsub("%p", "%%%0") .. "(.*)$") or "" end

local function quoted(text, before, name)
  local key = name .. rest_from(text, name)
  return before .. "['" .. key .. "']"
end

-- Returns the node of a step, or nil when there is none.
local function step_into(self, node, step)
  if step.kind == "field" then return self.kinds:field(node, step.name) end
  return node.of or node.form == "any" and node or nil
end

-- What an unknown step means: the label before it is not quoted, or its name is wrong.
local function report_step(self, at, type, text, steps, i, node, parent)
  local name = steps[i].name
  if parent and parent.form == "map" and steps[i - 1].kind == "field" and steps[i].kind == "field" then
    local before = text:match("^(.-)%." .. steps[i - 1].name:gsub("%p", "%%%0")) or ""
    self:error(at, "path %s: a key with dots needs quotes: %s", text, quoted(text, before, steps[i - 1].name))
  elseif name and node.form == "object" then
    local _, names = self.kinds:fields(node)
    self:error(at, "path %s: %s have no field %s%s", text, describe(type), name, self:meant(name, names) or "")
  elseif name and node.form == "list" then
    self:error(at, "path %s: %s follows a list: write [*] or [0] before it", text, name)
  elseif name then
    self:error(at, "path %s: nothing has the field %s", text, name)
  end
end

local LOOKS = { list = true, map = true, object = true }

-- Checks a path into an object, and returns the type of what is there. `is_there`: objects are chosen that have it.
function paths:check_path(at, type, text, is_there)
  local steps, why = self.target.path_steps(text)
  if not steps then
    self:error(at, "%s", why)
    return types.ANY
  end
  local node, parent, multiple, absence, here = type.node, nil, false, nil, type
  for i, step in ipairs(steps) do
    local below = step_into(self, node, step)
    if not below then
      if not (step.name and self.added[step.name]) then report_step(self, at, type, text, steps, i, node, parent) end
      return types.ANY
    end
    multiple = multiple or step.kind == "all" or step.kind == "match"
    here, absence = self:step_type(here, below, step, absence, is_there)
    node, parent = below, node
  end
  absence = LOOKS[node.form] and not multiple and absence or nil
  local found = types.inside(type, node, type.path == "" and text or type.path .. "." .. text, absence)
  return multiple and { tag = "array", of = found } or found
end

-- The same for an expression; `type` is what the path goes into.
function paths:path_argument(node, type, is_there)
  local text = node and text_of(self, node)
  if not text or not type or type.tag ~= "kube" then return types.ANY end
  return self:check_path(node, type, text, is_there)
end

function paths:selector_argument(node)
  if node.tag ~= "String" then return end
  local why = self.target.selector_error(node[1])
  if why then self:error(node, "%s", why) end
end

-- --- kinds

-- Reports a kind that does not exist, as for those that were registered; without a server others may.
function paths:kind_argument(node)
  if not node or node.tag ~= "String" then return nil end
  local resource, why, is_unsure = self.target.resolve(node[1])
  if resource then return self.kinds:of(node[1]) end
  if not is_unsure then
    self:error(node, "%s", why)
  elseif not node[1]:find "[./]" then
    self:warning(node, "%s; to be sure, check against a server or a dump (--against)", why)
  end
end

-- --- durations

local UNITS = { ms = true, s = true, m = true, h = true, d = true }

local function is_duration(text)
  if tonumber(text) then return true end
  local at = 1
  while at <= #text do
    local unit, after = text:match("^%d+%.?%d*(%a+)()", at)
    if not UNITS[unit] then return false end
    at = after
  end
  return #text > 0
end

function paths:duration_argument(node, name)
  if node.tag ~= "String" or is_duration(node[1]) then return end
  self:error(node, '%s: "%s" is not a duration, such as "500ms", "90s", "1h30m" or "7d"', name, node[1])
end

return paths
