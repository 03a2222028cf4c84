-- The simulator's OpenAPI says of every type what a kube-apiserver says: fields, their types, what is required, how
-- lists merge. Descriptions are shorter, and defaults those of the kinds.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"

local SAME = { "type", "format", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-patch-merge-key",
  "x-kubernetes-patch-strategy" }

-- The reference of a property, which may stand alone or in an allOf.
local function ref_of(schema)
  return schema["$ref"] or (schema.allOf and schema.allOf[1]["$ref"]) or ""
end

-- Writes what differs between two schemas into `found`.
local function compare(place, mine, real, found)
  local function differs(what, a, b)
    found[#found + 1] = ("%s: %s: %s, not %s"):format(place, what, tostring(a), tostring(b))
  end
  if ref_of(mine) ~= ref_of(real) then differs("$ref", ref_of(mine), ref_of(real)) end
  for _, word in ipairs(SAME) do
    if mine[word] ~= real[word] then differs(word, mine[word], real[word]) end
  end
  for _, word in ipairs { "items", "additionalProperties" } do
    if type(mine[word]) == "table" and type(real[word]) == "table" then
      compare(place .. "." .. word, mine[word], real[word], found)
    elseif (mine[word] == nil) ~= (real[word] == nil) then
      differs(word, mine[word], real[word])
    end
  end
  local function sorted(list)
    local copy = { unpack(list or {}) }
    table.sort(copy)
    return table.concat(copy, " ")
  end
  local own_required, required = sorted(mine.required), sorted(real.required)
  if own_required ~= required then differs("required", own_required, required) end
  for name, property in pairs(real.properties or {}) do
    local own = (mine.properties or {})[name]
    if own then compare(place .. "." .. name, own, property, found) else differs(name, "missing", "there") end
  end
  for name in pairs(mine.properties or {}) do
    if not (real.properties or {})[name] then differs(name, "there", "missing") end
  end
end

describe("OpenAPI of the simulator", function()
  it("is that of a kube-apiserver", function()
    local server, sim = apiserver.start(), cluster.sim {}
    local real, found, types = server:api(), {}, 0
    for place, entry in pairs(sim.api:get("/openapi/v3").paths) do
      local mine = sim.api:get(entry.serverRelativeURL).components.schemas
      local theirs = real:get("/openapi/v3/" .. place).components.schemas
      for name, schema in pairs(mine) do
        types = types + 1
        if theirs[name] then compare(name, schema, theirs[name], found) else found[#found + 1] = name .. ": unknown" end
      end
    end
    server:stop()
    cluster.stop_all()
    assert.are.equal("", table.concat(found, "\n", 1, math.min(#found, 60)), #found .. " differences")
    assert.is_true(types > 500, types)
  end)
end)
