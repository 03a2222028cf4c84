-- Differences of two plans. An entry of a plan is a class, a key that names the thing, and a detail that describes
-- everything else of it; a detail that begins with "?" is never the same as another.

-- Costs of a change, where the entries do not show them.
local function note_of(change)
  local class, before, after = change.class, change.before, change.after
  if class == "transform" then
    return before and after and after.detail:sub(1, 1) == "?"
      and "its informer is relisted because the transforms cannot be compared" or "its informer is relisted"
  elseif class == "handler" and before and after then
    return 'receives the whole cache again, unless k8s.on_reload sets replay = "none"'
  elseif class == "queue" and before and after and change.key:find ": run$" then
    return "continues with the waiting keys"
  elseif class == "informer" and not before then
    return "starts a list and watch, unless another script has the same informer"
  end
end

local function is_same(change)
  local before, after = change.before, change.after
  return before and after and before.detail == after.detail and after.detail:sub(1, 1) ~= "?"
end

-- The differences, class by class in the order of `classes`, then by key, and how many entries are the same. A class
-- that is not among those is a newer engine's, and left out.
return function(before, after, classes)
  local rank, by_name, all, changes = {}, {}, {}, {}
  for i, class in ipairs(classes) do rank[class] = i end
  local function put(plan, side)
    for _, entry in ipairs(plan) do
      local name = entry.class .. "\0" .. entry.key
      local change = by_name[name] or { class = entry.class, key = entry.key }
      if rank[entry.class] and not by_name[name] then all[#all + 1] = change end
      by_name[name], change[side] = change, entry
    end
  end
  put(before, "before")
  put(after, "after")
  table.sort(all, function(a, b)
    if a.class ~= b.class then return rank[a.class] < rank[b.class] end
    return a.key < b.key
  end)
  for _, change in ipairs(all) do
    if not is_same(change) then
      change.note = note_of(change)
      change.change = not change.before and "added" or not change.after and "removed" or "changed"
      changes[#changes + 1] = change
    end
  end
  return changes, #all - #changes
end
