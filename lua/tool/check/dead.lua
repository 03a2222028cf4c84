-- Registered things that can never happen: selectors and namespaces that match nothing, queues that nobody serves or
-- fills.
local namespaces = require "tool.check.namespaces"
local place = require "tool.check.place"

-- --- selectors

local function check_scope(script, target, diagnostics, informer)
  local resource = informer.namespace_selector ~= "" and target.resolve(informer.kind)
  if resource and not resource.namespaced then
    diagnostics:error(place.at(script, "informer", informer.text),
      "informer of %s: they are not namespaced, so namespaces.selector cannot choose any", informer.kind)
  end
end

local function check_informer(script, target, diagnostics, informer)
  check_scope(script, target, diagnostics, informer)
  local label = informer.selector and target.selector(informer.selector)
  if not label then return end
  diagnostics:error(place.at(script, "informer", informer.text),
    'informer of %s: selector "%s" can never match: contradictory requirements for %s', informer.kind,
    informer.selector, label)
end

local function check_selector(script, target, diagnostics, handler)
  local own, informers = handler.selector, handler.informer.selector or ""
  if not own then return end
  local at = place.at(script, "handler", handler.id, "selector")
  local label = target.selector(own)
  if label then
    diagnostics:error(at, 'handler %s: selector "%s" can never match: contradictory requirements for %s', handler.id,
      own, label)
  elseif informers ~= "" and own ~= "" and not target.selector(informers)
    and target.selector(informers .. "," .. own) then
    diagnostics:error(at, 'handler %s: selector "%s" can never match: its informer only has "%s"', handler.id, own,
      informers)
  end
end

-- --- namespaces

local function admits_any(names, watched)
  for _, ns in ipairs(watched) do
    if namespaces.admit(names, ns) then return true end
  end
  return false
end

local function check_namespaces(script, target, diagnostics, handler)
  local informer, names = handler.informer, handler.namespaces
  local at = place.at(script, "handler", handler.id, "namespaces")
  local resource = target.resolve(informer.kind)
  if resource and not resource.namespaced then
    if not namespaces.admit(names, "") then
      diagnostics:error(at, "handler %s: namespaces: %s are not namespaced, so nothing can match", handler.id,
        informer.kind)
    end
  elseif #informer.namespaces == 0 then
    if namespaces.admit_none(names) then
      diagnostics:error(at, "handler %s: namespaces: every included namespace is also excluded", handler.id)
    end
  elseif not admits_any(names, informer.namespaces) then
    diagnostics:error(at, "handler %s: namespaces: none of them is watched by its informer (%s)", handler.id,
      table.concat(informer.namespaces, ", "))
  end
end

-- --- queues

-- A script that works by hand calls done; one that adds, at run time too, names a verb that does.
local WORKS, ADDS = { "done" }, { "add", "add_after", "add_rate_limited", "enqueuer", "controller" }

-- Returns whether any of the script's files has ":verb" or ".verb" that no letter follows.
local function mentions(script, verbs)
  for _, source in ipairs(script.sources) do
    for _, verb in ipairs(verbs) do
      if source.text:find("[:.]" .. verb .. "%f[^%w_]") then return true end
    end
  end
  return false
end

local function check_queue(script, diagnostics, queue)
  local at = place.at(script, "queue", queue.name)
  if not queue.has_workers and not mentions(script, WORKS) then
    diagnostics:warning(at, "queue %s has no worker: neither queue:run nor queue:done is called", queue.name)
  end
  if not mentions(script, ADDS) then diagnostics:warning(at, "nothing adds keys to the queue %s", queue.name) end
end

return function(script, target, diagnostics)
  for _, informer in ipairs(script.informers) do check_informer(script, target, diagnostics, informer) end
  for _, handler in ipairs(script.handlers) do
    check_selector(script, target, diagnostics, handler)
    check_namespaces(script, target, diagnostics, handler)
  end
  for _, queue in ipairs(script.queues) do check_queue(script, diagnostics, queue) end
end
