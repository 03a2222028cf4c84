-- Faults of a server, as scenarios name them, and the bytes that it sends then. See store/wrong.h.
local wrongs = {}

-- In the order of enum sim_wrong_kind.
wrongs.names = {
  "status", "delay", "close", "reset", "silence", "pause", "cut", "half-line", "invalid-json", "unknown-type",
  "no-metadata", "oversize", "error-event", "end", "line", "no-end-bookmark", "ignore-initial-events",
}

function wrongs.number(what)
  for i, name in ipairs(wrongs.names) do
    if name == what then return i - 1 end
  end
end

-- An object of these members: an event, or an item without kind and apiVersion.
local function object(type, head, members)
  if not type then return string.format("{%s}", members) end
  return string.format('{"type":"%s","object":{%s%s}}\n', type, head, members)
end

local function metadata(name, namespace, rest)
  local place = namespace and string.format('"namespace":"%s",', namespace) or ""
  return string.format('"metadata":{"name":"%s",%s', name, place) .. rest .. "}"
end

-- The text for a watch or a list of objects that begin with `head`, in a namespace, nil of none. `real` is one of
-- them, or "" where there are none.
function wrongs.bytes(number, watch, head, namespace, size, text, real)
  local what = wrongs.names[number + 1]
  if what == "cut" or what == "half-line" or what == "unknown-type" then
    local type = what == "unknown-type" and "RENAMED" or watch and "MODIFIED" or nil
    return real ~= "" and real or object(type, head, metadata("half", namespace, '"resourceVersion":"1"'))
  elseif what == "invalid-json" then
    return watch and '{"type":"MODIFIED","object":{]}\n' or '{"metadata":}'
  elseif what == "no-metadata" then
    return object(watch and "ADDED", head, '"spec":{}')
  elseif what == "oversize" then
    return object(watch and "ADDED", head, metadata("oversize", namespace,
      '"uid":"00000000-0000-4000-8000-000000000000","resourceVersion":"1","annotations":{"pad":"'
      .. string.rep("x", size) .. '"}'))
  end
  return what == "line" and text .. (watch and "\n" or "") or ""
end

return wrongs
