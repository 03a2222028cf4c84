-- The prompt of `kubelua repl`: what a line sees, lines that are run, what they give as text.
local raw = ...

local complete = require "k8s.repl_complete"
local freeze = require("k8s.frozen").freeze
local history = require "k8s.history"
local kinds = require "k8s.repl_kinds"
local live = require "k8s.live"
local nearest = require "k8s.nearest"
local show = require "k8s.repl_show"
local time = require "k8s.time"

local own = raw.repl
local globals = own.globals()

-- --- what a line sees

local HELP = [[
pods                     list objects of a kind from the cache; any kubectl name works
pods "app=web"           array of objects by label selector; pods() returns all
pods["shop/web"]         one object; then any field: pods["shop/web"].spec.nodeName
pods:query():group("status.phase"):count()      query the cache, see docs/queries.md
pods:count("app=web")    also :get(key) :list(selector) :lister() :status()
kind "deployments.apps"  for kinds whose name is not a Lua identifier
k8s.get("pods", "shop/web"), k8s.list("pods")   read from the API server instead of the cache
x = pods()[1]            globals persist; an incomplete line continues on the next one
Read-only. Tab completes, Ctrl-C interrupts, Ctrl-D exits.]]

-- Over an engine.
local HELP_CACHES = [[
caches                   list the caches of the engine
]]

-- Names of kinds may only get a meaning while a read waits for the server's.
live.guard_with(kinds.check_hidden)

local verbs = {
  ago = time.ago,
  get = live.get,
  history = function(obj, given)
    local kind, namespace, name = history.place_of(obj) -- once: a table may say something else the next time
    kinds.check_hidden_name("k8s.history", kind)
    return history.of({ kind = kind, namespace = namespace, name = name }, given)
  end,
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
}

-- Names of the API of scripts, and misspelt names, are nil as there; an error names what a prompt has instead.
local KINDS = ': kinds are globals: pods, or kind "deployments.apps"'
local INSTEAD = { informer = KINDS, factory = KINDS, rule = ": use kubelua audit for rules" }
local WRITES = { apply = true, create = true, delete = true, event = true, patch = true, update = true }

local function absent(_, name)
  if type(name) == "string" then
    local near = not INSTEAD[name] and not WRITES[name] and nearest.find(name, verbs)
    local hint = "the REPL is read-only and has no k8s." .. name
    if INSTEAD[name] then
      hint = hint .. INSTEAD[name]
    else
      hint = hint .. (near and ", did you mean k8s." .. near .. "?" or "; type help for a list")
    end
    raw.note_missing(name, hint)
  end
  return nil
end

local k8s = freeze("k8s", setmetatable(verbs, { __index = absent }))

globals.k8s = k8s
globals.help = show.text(function() return own.caches and HELP_CACHES .. HELP or HELP end)
if own.caches then
  globals.caches = show.text(kinds.describe_caches)
end

function globals.kind(name)
  if type(name) ~= "string" then
    raw.raise("kind: the name must be a string, not " .. type(name))
  end
  local kind, why = kinds.named(name)
  if not kind then
    raw.raise(why)
  end
  return kind
end

function globals.require(name)
  if name == "k8s" then
    return k8s
  end
  raw.raise("require: only k8s is available in the REPL")
end

-- A name that means nothing is nil, as in Lua, but for a line of nothing else (why_nothing); a kind that there is, and
-- no cache of it, is worth a word.
local function global(_, name)
  if type(name) ~= "string" then
    return nil
  end
  local kind, why, is_kind = kinds.named(name)
  if is_kind then
    raw.raise(why)
  end
  return kind
end

setmetatable(globals, {
  __index = global,
  __metatable = "globals",
})
live.reads { "*:*" }

-- --- for C

-- Of a line that is a mere name and gave nil: why, when it is neither a global nor a kind.
local function why_nothing(text, count, values)
  local name = count == 1 and values[1] == nil and string.match(text, "^%s*([%a_][%w_]*)%s*$")
  if not name or name == "nil" then
    return nil
  end
  local _, why, is_kind = kinds.named(name)
  return is_kind == false and "repl:1: not a global or kind: " .. why
end

local function give(...)
  return ...
end

local function pack(...)
  return select("#", ...), { ... }
end

local repl = {}

-- Words that end other prompts.
local function is_exit(text)
  local word = string.match(text, "^%s*(%a+)%s*%(?%s*%)?%s*$")
  return (word == "exit" or word == "quit") and rawget(globals, word) == nil
end

function repl.eval(text, width, colours, hides_secrets)
  kinds.hide_secrets(hides_secrets)
  if is_exit(text) then
    own.result("failed", "repl:1: press Ctrl-D to exit")
    return
  end
  local chunk, problem, incomplete = own.compile(text)
  if not chunk then
    own.result(incomplete and "incomplete" or "failed", problem)
    return
  end
  local count, values = pack(chunk(give))
  local why = why_nothing(text, count, values)
  if why then
    own.result("failed", why)
    return
  end
  local style = { width = width, colours = colours, kinds = kinds.shown, lister = kinds.methods.lister }
  own.result("done", show.values(count, values, style))
end

function repl.complete(text)
  own.candidates(complete.find(text, {
    globals = globals,
    kinds = kinds.known,
    shown = kinds.shown,
    methods = kinds.methods,
    names = kinds.names,
  }))
end

return repl
