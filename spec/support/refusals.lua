-- Bodies that servers refuse, or take, of many kinds: what the simulator and a real server say to each.
-- A row is { path, kind, creates, object, patches }, the kind as "apps/v1 Deployment". A create is the rest of a body;
-- it has a name unless its metadata says another. `object` is created, likewise, and the patches are sent to it.
-- `words` of a row stand in texts after a "$". "@a64@" is a text of 64 letters, and "#33{...}#" an element of a list
-- 33 times, "%d" in it its number.
local assert = require "luassert"
local same = require "spec.support.same_answers"

local refusals = {}

local function read(text, words)
  text = text:gsub("%$(%u+)", words or {})
  text = text:gsub("@(%w)(%d+)@", function(letter, n) return letter:rep(tonumber(n)) end)
  return (text:gsub("#(%d+)(.-)#", function(n, element)
    local list = {}
    for i = 1, tonumber(n) do list[i] = element:gsub("%%d", i) end
    return table.concat(list, ",")
  end))
end

local function whole(row, text, name)
  local version, word = row[2]:match "^(%S+) (%S+)$"
  local metadata = not text:find('^%s*"metadata"') and ('"metadata":{"name":"%s"}'):format(name) or ""
  local rest = text:find "%S" and metadata ~= "" and "," .. text or text
  return read(('{"apiVersion":"%s","kind":"%s",%s%s}'):format(version, word, metadata, rest), row.words)
end

-- The code; a refusal is the same on both.
local function send(both, method, path, body, type)
  local place = method .. " " .. path .. " " .. (body or "")
  local code, text = both.real:api():curl(method, path, body, type)
  local sim_code, sim_text = both.sim.api:curl(method, path, body, type)
  assert.equal(code, sim_code, place .. "\n" .. text .. "\n" .. sim_text)
  if code >= 300 then assert.same(same.tidy(text), same.tidy(sim_text), place) end
  return code
end

local function count(counts, code)
  local what = code >= 300 and "refused" or "taken"
  counts[what] = counts[what] + 1
end

-- Sends all of them, and returns how many were refused and taken of creates and of patches.
function refusals.compare(both, rows)
  local creates, patches = { refused = 0, taken = 0 }, { refused = 0, taken = 0 }
  for _, row in ipairs(rows) do
    local path = row[1]
    for _, text in ipairs(row[3]) do
      local body = whole(row, text, "bad")
      count(creates, send(both, "POST", path .. "?dryRun=All&fieldValidation=Strict", body))
    end
    if row[4] then assert.equal(201, send(both, "POST", path, whole(row, row[4], "u"))) end
    for _, patch in ipairs(row[5] or {}) do
      local body = read(patch, row.words)
      count(patches, send(both, "PATCH", path .. "/u?dryRun=All", body, "application/merge-patch+json"))
    end
  end
  return creates, patches
end

return refusals
