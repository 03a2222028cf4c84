-- The schema of the chart's values, without Helm (./dev prove deploy has Helm refuse values): it knows each flag that
-- may be a setting, and no object of it takes a key that it does not name.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local PATH = "deploy/helm/kubelua/values.schema.json"

-- What Helm or Kubernetes defines, and may have more of tomorrow.
local OPEN = {
  ["/global"] = true, ["/affinity/nodeAffinity"] = true, ["/affinity/podAffinity"] = true,
  ["/affinity/podAntiAffinity"] = true, ["/resources/claims[]"] = true,
}

local function is_object(schema)
  if type(schema.type) ~= "table" then return schema.type == "object" end
  for _, one in ipairs(schema.type) do
    if one == "object" then return true end
  end
end

-- Paths of the objects that take any key.
local function open_objects(schema, path, found)
  if is_object(schema) and schema.additionalProperties == nil then found[#found + 1] = path end
  for name, one in pairs(schema.properties or {}) do open_objects(one, path .. "/" .. name, found) end
  if schema.items then open_objects(schema.items, path .. "[]", found) end
  return found
end

describe("the schema of the chart's values", function()
  local schema = cjson.decode(temp.read(PATH))

  it("has all settings, as the program has them", function()
    local out, code = temp.run("KUBELUA_BIN='" .. cluster.binary .. "' spec/support/chart-schema 2>&1")
    assert.are.same({ "", 0 }, { out, code })
  end)

  it("is found wrong when the program has another flag, or another kind of one", function()
    local folder = temp.folder {
      program = "#!/bin/sh\n" .. cluster.binary .. " \"$@\" | sed '/^resync\t/ s/duration/size/; /^namespace\t/d'\n"
        .. "printf 'brand-new\\tchoice\\ta|b\\n'\n",
    }
    finally(function() temp.remove(folder) end)
    os.execute("chmod +x " .. folder .. "/program")
    local out, code = temp.run("KUBELUA_BIN=" .. folder .. "/program spec/support/chart-schema 2>&1")
    assert.are.equal(1, code)
    assert.matches(': settings lack "brand-new": {"enum": ["a", "b"]}', out, 1, true)
    assert.matches(': settings lack "resync": {"$ref": "#/definitions/size"}', out, 1, true)
    assert.matches(': settings have "resync": {"$ref": "#/definitions/duration"}', out, 1, true)
    assert.matches(': settings have "namespace": ', out, 1, true)
  end)

  it("has all values of values.yaml, and no others", function()
    local text, count = temp.read "deploy/helm/kubelua/values.yaml", 0
    local top, given = nil, { global = true }
    for line in text:gmatch "[^\n]+" do
      local indent, name = line:match "^( *)([%w-]+):"
      if indent == "" then
        top, count = name, count + 1
        given[name] = true
        assert.is_table(schema.properties[name], name)
      elseif indent == "  " then
        assert.is_table(schema.properties[top].properties[name], top .. "." .. name)
      end
    end
    assert.is_true(count > 20)
    for name in pairs(schema.properties) do assert.is_true(given[name], name) end
  end)

  it("takes no key that it does not know", function()
    local found = open_objects(schema, "", {})
    for name, one in pairs(schema.definitions) do open_objects(one, name, found) end
    for _, path in ipairs(found) do assert.is_true(OPEN[path], path) end
  end)
end)
