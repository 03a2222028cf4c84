-- Fields that handlers and indexes read and their informers do not keep.
local place = require "tool.check.place"

local IDENTITY = {
  apiVersion = true, kind = true, ["metadata.name"] = true, ["metadata.namespace"] = true, ["metadata.uid"] = true,
  ["metadata.resourceVersion"] = true,
}

-- Of paths whose steps are plain names: whether the first one is the second, or leads to it.
local function leads_to(path, to) return (to .. "."):sub(1, #path + 1) == path .. "." end

-- Paths behind a word of "fields a,b prune c".
local function list_behind(text, word) return text:match(word .. " ([^ ]*)") or "" end

-- The option that drops the path; nil for none. Sure of paths of plain names alone. A transform may put it back.
local function dropped_by(informer, path)
  local keeps = informer.keeps
  if not keeps or informer.transforms or path:find("[", 1, true) or keeps:find "['\"]" or IDENTITY[path] then return end
  local fields, prune = list_behind(keeps, "fields"), list_behind(keeps, "prune")
  local kept = fields == ""
  for one in fields:gmatch "[^,]+" do
    one = one:match "^[^%[]*"
    kept = kept or leads_to(one, path) or leads_to(path, one)
  end
  if not kept then return informer.keeps_metadata and "metadata_only" or "fields" end
  for one in prune:gmatch "[^,]+" do
    if not one:find("[", 1, true) and leads_to(one, path) then return "prune" end
  end
end

local function check_conditions(script, diagnostics, handler)
  for _, condition in ipairs(handler.conditions) do
    local path = condition.path
    local why = dropped_by(handler.informer, path)
    if why then
      diagnostics:error(place.at(script, "handler", handler.id, path),
        condition.is_changed and "handler %s: changed: the informer drops %s (%s), so it never changes"
          or "handler %s: where: the informer drops %s (%s), so no object has it", handler.id, path, why)
    end
  end
end

-- A selector that objects without labels pass may be meant for them.
local function check_selector(script, target, diagnostics, handler)
  local why = handler.selector and dropped_by(handler.informer, "metadata.labels")
  if not why or select(2, target.selector(handler.selector)) then return end
  diagnostics:error(place.at(script, "handler", handler.id, "selector"),
    "handler %s: selector: the informer drops metadata.labels (%s), so nothing can match", handler.id, why)
end

return function(script, target, diagnostics)
  for _, handler in ipairs(script.handlers) do
    check_conditions(script, diagnostics, handler)
    check_selector(script, target, diagnostics, handler)
  end
  for _, informer in ipairs(script.informers) do
    for _, index in ipairs(informer.indexes) do
      local why = dropped_by(informer, index.path)
      if why then
        local key = informer.text .. ": " .. index.name
        diagnostics:error(place.at(script, "index", key, index.path),
          "index %s: the informer drops %s (%s), so the index is always empty", index.name, index.path, why)
      end
    end
  end
end
