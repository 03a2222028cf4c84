-- Reads of the server without a cache: k8s.get, k8s.list, k8s.pages, k8s.watch, and k8s.reads, which declares them.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"

local blocking = task.blocking

local live = {}

local resolve = blocking(raw.live.resource)
local get = blocking(raw.live.get)
local next_page = blocking(raw.live.page)
local next_event = blocking(raw.live.event)

local SELECTION =
  { namespace = "string", selector = "string", field_selector = "string", resource_version = "string" }

local LIST_OPTIONS =
  options.extend(SELECTION, { limit = "number", chunk_size = "number", resource_version_match = "string" })

local WATCH_OPTIONS = options.extend(SELECTION, { timeout = "duration" })

-- k8s.reads { "pods:list", "secrets:get" }: what the script may read live. While it loads only.
function live.reads(declared)
  options.each_text("k8s.reads", declared, raw.live.reads)
end

local guard

-- From now on `fn` is called with the name of each kind before it is read, as the server has it; it may raise.
function live.guard_with(fn)
  guard = fn
end

-- What a kind means to a verb, or nil, err, which name the function `as`, or the verb.
local function resource_of(verb, kind, as)
  local resource, err = resolve(verb, kind, task.cluster(), as)
  if resource and guard then
    guard(raw.live.kind(resource))
  end
  return resource, err
end

live.resource_of = resource_of

-- Checks for a function `where` that it may get objects of the kind. True, or nil, err.
function live.check(where, kind)
  local resource, err = resource_of("k8s.get", kind, where)
  return resource and true or nil, err
end

-- k8s.get(kind, "ns/name"): one object, or nil, err.
function live.get(kind, key, unknown)
  if unknown ~= nil then
    raw.raise "k8s.get: takes a kind and a key, and no options"
  end
  local resource, err = resource_of("k8s.get", kind)
  if not resource then
    return nil, err
  end
  return get(resource, key)
end

local MATCHES = { Exact = true, NotOlderThan = true }

-- Not older than a version, unless another match is asked for (A-1): a limit alone would mean exactly that version.
local function match_of(verb, given)
  local match, version = given.resource_version_match, given.resource_version or ""
  if match and not MATCHES[match] then
    raw.raise(verb .. ': resource_version_match must be "Exact" or "NotOlderThan", not "' .. match .. '"')
  end
  if version == "" or version == "0" then
    return match
  end
  return match or "NotOlderThan"
end

-- A reader of pages, or nil, err.
local function open_pages(verb, kind, given)
  local own = options.check(verb, given, LIST_OPTIONS)
  local match = match_of(verb, own)
  local resource, err = resource_of(verb, kind)
  if not resource then
    return nil, err
  end
  return raw.live.pages(
    resource,
    own.namespace,
    own.selector,
    own.field_selector,
    verb,
    own.resource_version,
    match,
    own.limit,
    own.chunk_size
  )
end

local function append(all, page)
  local count = #all
  for i = 1, #page do
    all[count + i] = page[i]
  end
end

-- k8s.list(kind, options): an array of objects and the list's resource version, or nil, err.
function live.list(kind, given)
  local reader, err = open_pages("k8s.list", kind, given)
  if not reader then
    return nil, err
  end
  local all
  while true do
    local page, version, from_start, last = next_page(reader)
    if not page then
      return nil, version
    end
    if from_start then
      all = page
    else
      append(all, page)
    end
    if last then
      return all, version
    end
  end
end

-- A loop has no place for nil, err: what goes wrong is raised, as an err table.
local function raise_table(err)
  error(err, 0)
end

-- k8s.pages(kind, options): an iterator over arrays of objects, with the list's resource version.
function live.pages(kind, given)
  local reader, err = open_pages("k8s.pages", kind, given)
  if not reader then
    raise_table(err)
  end
  return function()
    local page, version = next_page(reader)
    if not page and version then
      raise_table(version)
    end
    return page, version
  end
end

-- k8s.watch(kind, { resource_version = "5" }): `for ev in watch do`, ev.type and ev.object; watch:close() ends it.
function live.watch(kind, given)
  local own = options.check("k8s.watch", given, WATCH_OPTIONS)
  local resource, err = resource_of("k8s.watch", kind)
  if not resource then
    return raw.live.no_watch(err)
  end
  return raw.live.watch(
    resource,
    own.namespace,
    own.selector,
    own.field_selector,
    own.resource_version,
    own.timeout
  )
end

function raw.live.watch_class.__call(watch)
  local kind, object = next_event(watch)
  if kind then
    return { type = kind, object = object }
  end
end

return live
