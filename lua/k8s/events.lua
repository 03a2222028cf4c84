-- k8s.event: tells of an object, so that `kubectl describe` and `kubectl events` show it.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"
local is_view = raw.view.is
local field = options.field

local REF = {
  kind = "string",
  namespace = "string",
  name = "string",
  uid = "string",
  apiVersion = "string",
  resourceVersion = "string",
}

local TYPES = { Normal = true, Warning = true }
local REASON_MAX = 128

local function shown(value)
  return value == nil and "nil" or value == raw.null and "null" or "a " .. type(value)
end

-- Reference to the object: a view, a complete object as a table, or { kind, namespace, name, uid }.
local function place_of(about)
  if not is_view(about) and type(about) ~= "table" then
    raw.raise("k8s.event: expected a view or { kind, namespace, name }, not " .. shown(about))
  end
  local place = about
  local metadata = field(about, "metadata")
  if is_view(metadata) or type(metadata) == "table" then
    place = {
      apiVersion = field(about, "apiVersion"),
      kind = field(about, "kind"),
      namespace = field(metadata, "namespace"),
      name = field(metadata, "name"),
      uid = field(metadata, "uid"),
      resourceVersion = field(metadata, "resourceVersion"),
    }
  elseif is_view(about) then
    raw.raise "k8s.event: expected a complete object, not a part of one"
  end
  place = options.check("k8s.event", place, REF)
  if not place.kind or not place.name then
    raw.raise "k8s.event: a reference needs kind and name"
  end
  return place
end

-- A text alone is taken as it is, so that a "%" in it is no mistake.
local function text_of(format, ...)
  if type(format) ~= "string" then
    raw.raise("k8s.event: the message must be a string, not " .. shown(format))
  end
  if select("#", ...) == 0 then
    return format
  end
  local ok, text = pcall(string.format, format, ...)
  if not ok then
    raw.raise("k8s.event: " .. string.gsub(tostring(text), "to '%?'", "to 'format'"))
  end
  return text
end

local function check_words(kind, reason)
  if not TYPES[kind] then
    raw.raise(
      'k8s.event: the type must be "Normal" or "Warning", not '
        .. (type(kind) == "string" and '"' .. kind .. '"' or shown(kind))
    )
  end
  if type(reason) ~= "string" or reason == "" or #reason > REASON_MAX then
    raw.raise("k8s.event: the reason must be one word of at most " .. REASON_MAX .. " bytes, such as PodEvicted")
  end
end

-- k8s.event(object, "Normal"|"Warning", reason, format, ...): never waits, and gives nothing back.
return function(about, kind, reason, format, ...)
  local place = place_of(about)
  check_words(kind, reason)
  raw.event(
    place.apiVersion,
    place.kind,
    place.namespace,
    place.name,
    place.uid,
    place.resourceVersion,
    kind,
    reason,
    text_of(format, ...),
    task.cluster()
  )
end
