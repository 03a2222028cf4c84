-- Sinks and their events: what k8s.sink refuses while a script loads, of each sink rather than the first, and what
-- sink:publish would refuse later.
local sinks = {}

local ATTRIBUTE_MAX = 20
local OURS = { specversion = true, partitionkey = true }
local TEXTS = { "user", "password", "token", "credentials", "mechanism", "ca", "cert", "cert_key" } -- of enum sink_text

local function text_of(node) return node and node.tag == "String" and node[1] or nil end

-- The nodes of the values that a table is written with, by name.
local function values_of(shape)
  local values = {}
  for _, item in ipairs(shape.node) do
    local name = item.tag == "Pair" and text_of(item[1])
    if name and item[2].tag ~= "Nil" then values[name] = item[2] end
  end
  return values
end

-- --- k8s.sink

local function check_name(self, node)
  local name = text_of(node)
  if not name then return end
  self.sink_names = self.sink_names or {}
  if self.sink_names[name] and self.sink_names[name] ~= node then
    self:error(node, 'k8s.sink: the name "%s" is already used', name)
  end
  self.sink_names[name] = self.sink_names[name] or node
end

-- The texts beside a target, as far as they are known: any that is there may be needed, or of no use.
local function texts_of(values)
  local texts = {}
  for i, name in ipairs(TEXTS) do
    local node = values[name]
    texts[i] = node and (text_of(node) or name == "mechanism" and "PLAIN" or "known later") or ""
  end
  return texts
end

local function check_target(self, values)
  local to = text_of(values.to)
  if not to then return end
  local why, about = self.target.sink_error(to, values.headers ~= nil, unpack(texts_of(values)))
  if why then self:error(values[about] or values.to, "k8s.sink: %s", why) end
end

local function check_sizes(self, values)
  for _, name in ipairs { "spool", "batch" } do
    local node = values[name]
    local given = node and (node.tag == "Number" and tonumber(node[1]) or text_of(node))
    local why = given and self.target.sink_size_error(name, given)
    if why then self:error(node, "k8s.sink: %s", why) end
  end
end

-- The sink that a call with these options returns.
function sinks:sink_of(options)
  if options and options.tag == "shape" then
    local values = values_of(options.shape)
    check_name(self, values.name)
    check_target(self, values)
    check_sizes(self, values)
  end
  return { tag = "class", name = "k8s.Sink", shape = options and options.shape }
end

-- --- sink:publish

local function check_attribute(self, item, name, node)
  if not name:find "^[%l%d]+$" or #name > ATTRIBUTE_MAX then
    self:error(item, 'sink:publish: the attribute "%s" must have at most %d lower-case letters and digits%s', name,
      ATTRIBUTE_MAX, self:meant(name, { name:lower() }) or "")
  elseif OURS[name] then
    self:error(item, "sink:publish: the attribute %s cannot be set", name)
  elseif name ~= "data" and (node.tag == "Table" or node.tag == "Function") then
    self:error(item, "sink:publish: the attribute %s must be a string, an integer or a boolean, not a %s", name,
      node.tag:lower())
  elseif name ~= "data" and node.tag == "Number" and tonumber(node[1]) % 1 ~= 0 then
    self:error(item, "sink:publish: the attribute %s must be an integer, not %s", name, node[1])
  end
end

local function lacks_type(shape) return shape and not (shape:get "type" or shape.items or shape.parent) end

function sinks:published_event(node, event, sink)
  if not event or event.tag ~= "shape" then return end
  for _, item in ipairs(event.shape.node) do
    local name = item.tag == "Pair" and text_of(item[1])
    if name then check_attribute(self, item, name, item[2]) end
  end
  if lacks_type(event.shape) and lacks_type(sink.shape) then
    self:error(node, "sink:publish: type is missing: neither the event nor the sink has one")
  end
end

return sinks
