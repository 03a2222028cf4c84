-- The prompt of `kubelua repl`: kinds by their names, lines that are run, what they give as text.
local raw = ...

local complete = require "k8s.repl_complete"
local freeze = require("k8s.frozen").freeze
local live = require "k8s.live"
local show = require "k8s.repl_show"
local blocking = require("k8s.task").blocking
local time = require "k8s.time"

local claim, wait_synced = raw.informer.claim, blocking(raw.informer.wait_synced)
local own, methods = raw.repl, require "k8s.informer"
local globals = own.globals()

local SYNC_SECONDS = 30

-- --- kinds

local Kind = {} -- the methods of a kind
local shown = setmetatable({}, { __mode = "k" }) -- a kind to what it holds
local kinds = {} -- by the name as typed, and by the server's

local function informer_of(self, name)
  local held = shown[self]
  if not held then
    raw.raise(name .. ": methods are called with ':'")
  end
  if not held.informer then
    held.informer = claim(held.name, {})
    own.claimed()
  end
  if not held.synced then
    local ok, err = wait_synced(SYNC_SECONDS, held.informer)
    if not ok then
      raw.raise(tostring(err))
    end
    held.synced = true
  end
  return held.informer
end

function Kind:informer()
  return informer_of(self, "informer")
end

function Kind:lister()
  return methods.lister(informer_of(self, "lister"))
end

function Kind:list(selector)
  return Kind.lister(self):list_all(selector)
end

function Kind:get(key)
  return Kind.lister(self):get(key)
end

function Kind:count(selector)
  return Kind.lister(self):count(selector)
end

function Kind:query()
  return methods.query(informer_of(self, "query"))
end

function Kind:status()
  return methods.status(informer_of(self, "status"))
end

local kind_meta = { __metatable = "kind", __call = Kind.list }

-- pods["shop/web"], pods.list
function kind_meta.__index(self, key)
  if Kind[key] then
    return Kind[key]
  end
  local held = shown[self]
  if type(key) ~= "string" or held.namespaced and not string.find(key, "/", 1, true) then
    local one = string.format("%s[\"%s\"]", held.name, held.namespaced and "namespace/name" or "name")
    raw.raise(string.format("%s: there is no method %s; one object is %s", held.name, tostring(key), one))
  end
  return (Kind.get(self, key))
end

function kind_meta.__newindex(self)
  raw.raise(shown[self].name .. " cannot be changed")
end

function kind_meta.__tostring(self)
  return "kind " .. shown[self].name
end

-- The kind of that name; nil and why.
local function kind_named(name)
  if kinds[name] then
    return kinds[name]
  end
  local canonical, namespaced = own.resolve(name)
  if not canonical then
    return nil, namespaced
  end
  local kind = kinds[canonical]
  if not kind then
    kind = setmetatable({}, kind_meta)
    shown[kind] = { name = canonical, namespaced = namespaced }
    kinds[canonical] = kind
  end
  kinds[name] = kind
  return kind
end

-- --- what a line sees

local HELP = [[
pods                     what is in the cache: the first objects of a kind, by any name that kubectl knows
pods "app=web"           a list of views, by a label selector; pods() has all
pods["shop/web"]         one object; then any field: pods["shop/web"].spec.nodeName
pods:query():group("status.phase"):count()      questions to the cache: docs/queries.md
pods:count("app=web")    also :get(key) :list(selector) :lister() :status()
kind "deployments.apps"  for names that are no Lua names
k8s.get("pods", "shop/web"), k8s.list("pods")   ask the server instead of the cache
x = pods()[1]            globals stay; a line that is not complete goes on in the next one
Nothing here changes anything. Tab completes, ^C interrupts, ^D ends.]]

local k8s = freeze("k8s", {
  ago = time.ago,
  get = live.get,
  int64 = raw.int64,
  json = freeze("k8s.json", raw.json),
  list = live.list,
  now = time.now,
  null = raw.null,
  object = freeze("k8s.object", require "k8s.object"),
  pages = live.pages,
  quantity = raw.quantity,
  selects = require "k8s.selects",
  sleep = time.sleep,
  snapshot = raw.snapshot,
})

globals.k8s = k8s
globals.help = setmetatable({}, { __tostring = function() return HELP end, __metatable = "help" })

function globals.kind(name)
  if type(name) ~= "string" then
    raw.raise("kind: the name must be a string, not " .. type(name))
  end
  local kind, why = kind_named(name)
  if not kind then
    raw.raise(why)
  end
  return kind
end

function globals.require(name)
  if name == "k8s" then
    return k8s
  end
  raw.raise("require: a prompt has no modules but k8s")
end

setmetatable(globals, {
  __index = function(_, name)
    return type(name) == "string" and kind_named(name) or nil
  end,
  __metatable = "globals",
})
live.reads { "*:*" }

-- --- for C

local function give(...)
  return ...
end

local function pack(...)
  return select("#", ...), { ... }
end

local repl = {}

function repl.eval(text, width, colours)
  local chunk, problem, incomplete = own.compile(text)
  if not chunk then
    own.answer(incomplete and "incomplete" or "failed", problem)
    return
  end
  local count, values = pack(chunk(give))
  local style = { width = width, colours = colours, kinds = shown, list = Kind.list }
  own.answer("done", show.values(count, values, style))
end

function repl.complete(text)
  local start, names = complete.find(text, { globals = globals, kinds = kinds, shown = shown, methods = Kind })
  own.candidates(start, names)
end

return repl
