-- Warnings of volumes that put several files, or a file and a folder, at one path; see pod_warnings.lua.
jit.off(true, true) -- as there

local json = require "sim.json"

local at, text, each = json.at, json.text, json.each

local overlaps = {}

local function quoted(name) return '"' .. name:gsub('[\\"]', "\\%0") .. '"' end

local function paths_of(items, source)
  local paths = {}
  for i, item in each(items) do paths[i] = { path = text(item, "path"), source = source } end
  return paths
end

local function shown(file) return quoted(file.path) .. (file.source and " (" .. file.source .. ")" or "") end

local function is_below(path, other) return (path .. "/"):sub(1, #other + 1) == other .. "/" end

-- Adds the files to those that are there, and what they overlap with to the warnings.
local function place(all, there, files, volume)
  for _, file in ipairs(files) do
    file.path = file.path:gsub("/+$", "")
    for _, other in ipairs(there) do
      local overlap = is_below(other.path, file.path) or is_below(file.path, other.path)
      if file.path ~= "" and other.path ~= "" and overlap then
        local warning = string.format("volume %s: overlapping paths: %s with %s", volume, shown(file), shown(other))
        if not there[warning] then all[#all + 1] = warning end
        there[warning] = true
      end
    end
    there[#there + 1] = file
  end
end

-- The first of a source's types that is there, in the server's order.
local projected = {
  { "configMap", function(map) return paths_of(at(map, "items"), "ConfigMap " .. quoted(text(map, "name"))) end,
    "items" },
  { "secret", function(secret) return paths_of(at(secret, "items"), "Secret " .. quoted(text(secret, "name"))) end,
    "items" },
  { "downwardAPI", function(source) return paths_of(at(source, "items"), "DownwardAPI") end, "items" },
  { "serviceAccountToken", function(token)
    return { { path = text(token, "path"), source = "ServiceAccountToken" } }
  end },
}

local function files_of(source)
  for _, type in ipairs(projected) do
    local one = at(source, type[1])
    if one and (not type[3] or at(one, type[3])) then return type[2](one) end
  end
  return {}
end

local plain = {
  { "configMap", function(map) return "ConfigMap " .. quoted(text(map, "name")) end },
  { "secret", function(secret) return "Secret " .. quoted(text(secret, "secretName")) end },
  { "downwardAPI", function() return "DownwardAPI" end },
}

function overlaps.add(all, volumes)
  for _, volume in each(volumes) do
    local name = quoted(text(volume, "name"))
    for _, type in ipairs(plain) do
      local source = at(volume, type[1])
      local called = source and string.format("%s (%s)", name, type[2](source))
      if source then place(all, {}, paths_of(at(source, "items")), called) end
    end
    local there = {}
    for _, source in each(at(volume, "projected.sources")) do
      if json.count(source) == 0 and not there.none then
        all[#all + 1] = string.format("volume %s (Projected) has no sources provided", name)
        there.none = true
      end
      place(all, there, files_of(source), name .. " (Projected)")
    end
  end
end

return overlaps
