-- k8s.sink: events for other systems, as CloudEvents 1.0, stored on disk until they are delivered.
local raw = ...

local blocking = require("k8s.task").blocking
local freeze = require("k8s.frozen").freeze
local header_pairs = require "k8s.header_pairs"
local options = require "k8s.options"
local plan = require "k8s.plan"

local OPTIONS = {
  name = "string",
  to = "string",
  source = "string",
  type = "string",
  spool = "number or quantity",
  batch = "number",
  timeout = "duration",
  headers = "table",
  user = "text or function",
  password = "text or function",
  token = "text or function",
  credentials = "text or function",
  mechanism = "string",
  ca = "text or function",
  cert = "text or function",
  cert_key = "text or function",
}
-- Options that may be functions, and mechanism, in the order of enum sink_text.
local TEXTS = { "user", "password", "token", "credentials", "mechanism", "ca", "cert", "cert_key" }
local PUBLISH = { key = "string", id = "string", timeout = "duration" }

-- Attributes that CloudEvents have, beside extensions; those that are not a script's to set are false.
local OURS = { specversion = false, partitionkey = false }
local NAME_MAX = 20

-- Neither secrets nor what the URL has behind its servers, which may be one, is part of the plan.
local HIDDEN = {
  name = true, to = true, headers = true, user = true, password = true, token = true, credentials = true, ca = true,
  cert = true, cert_key = true,
}

local publish_event = blocking(raw.sink.publish)

local function complain(text, ...)
  raw.raise("sink:publish: " .. string.format(text, ...))
end

local function attribute(name, value)
  if type(name) ~= "string" or not string.find(name, "^[%l%d]+$") or #name > NAME_MAX then
    complain('the attribute "%s" must have at most %d lower-case letters and digits', tostring(name), NAME_MAX)
  elseif OURS[name] == false then
    complain("the attribute %s cannot be set", name)
  end
  local kind = type(value)
  if kind ~= "string" and kind ~= "boolean" and not (kind == "number" and value % 1 == 0) then
    complain("the attribute %s must be a string, an integer or a boolean, not %s", name, kind)
  end
  return value
end

-- The event as it is sent, but for specversion.
local function event_of(sink, event, own)
  if type(event) ~= "table" then
    complain("event must be a table, not %s", type(event))
  end
  local made = {}
  for name, value in pairs(event) do
    made[name] = name == "data" and value or attribute(name, value)
  end
  local id, now = raw.sink.fresh()
  made.id = own.id or made.id or id
  made.time = made.time or now
  made.type = made.type or sink.type or complain "type is missing: neither the event nor the sink has one"
  made.source = made.source or sink.source
  made.partitionkey = own.key
  if made.data ~= nil and made.datacontenttype == nil then
    made.datacontenttype = "application/json"
  end
  for _, name in ipairs { "id", "type", "source" } do
    if type(made[name]) ~= "string" or made[name] == "" then
      complain("%s must be a string that is not empty", name)
    end
  end
  return made
end

local function note(own)
  local shown = { to = string.match(own.to, "^[%a+]+://[^/]*") }
  for name, value in pairs(own) do
    if not HIDDEN[name] then
      shown[name] = value
    end
  end
  plan.add("sink", own.name, plan.text(shown))
end

-- --- texts that functions give while the script runs, as settings that follow a Secret

local function current(params, number, sink, name, given)
  if type(given) ~= "function" then
    return given
  end
  local function lack()
    raw.sink.lack(number, true)
  end
  raw.sink.lack(number, false)
  params.forget_missing(lack)
  local text = given()
  if type(text) == "string" then
    return text
  end
  local where = "k8s.sink: " .. sink .. ": " .. name
  local missing = params.missing()
  if text == nil then
    lack()
    raw.raise(where .. " has no value" .. (missing and ": " .. missing or ""))
  end
  raw.raise(where .. ": the function must return a string, not a " .. type(text))
end

-- The texts as the core gets them: true for a function, which is asked later.
local function texts_of(own)
  local texts, is_asked = {}, false
  for i, name in ipairs(TEXTS) do
    local given = own[name]
    texts[i] = type(given) == "function" or given
    is_asked = is_asked or texts[i] == true
  end
  return texts, is_asked
end

-- The module of settings is forgotten when the script has loaded, and another one later would know none.
local function ask(number, own)
  local params = require "k8s.params"
  raw.sink.ask(number, function()
    local texts = {}
    for i, name in ipairs(TEXTS) do
      texts[i] = current(params, number, own.name, name, own[name])
    end
    raw.sink.take(number, unpack(texts, 1, #TEXTS))
  end)
end

-- k8s.sink { name = "changes", to = settings.to, type = "com.example.change" }: while the script loads only.
return function(given)
  local own = options.check("k8s.sink", given, OPTIONS)
  if not own.name or not own.to then
    raw.raise "k8s.sink: name and to are required"
  end
  local bytes = options.bytes("k8s.sink: spool", own.spool)
  local texts, is_asked = texts_of(own)
  local header = header_pairs("k8s.sink: headers", own.headers)
  for i = 1, #header do
    texts[#TEXTS + i] = header[i]
  end
  local number = raw.sink.new(
    own.name, own.to, bytes, own.batch, own.timeout, unpack(texts, 1, #TEXTS + #header)
  )
  if is_asked then
    ask(number, own)
  end
  note(own)
  local defaults = { type = own.type, source = own.source or "kubelua/" .. own.name }
  -- sink:publish({ type =, subject =, data = }, { key =, id =, timeout = }): true, or nil, err. Waits.
  local function publish(_, event, how)
    local checked = options.check("sink:publish", how, PUBLISH)
    local made = event_of(defaults, event, checked)
    return publish_event(number, checked.timeout, checked.key, made.id, made)
  end
  return freeze("sink", { name = own.name, publish = publish })
end
