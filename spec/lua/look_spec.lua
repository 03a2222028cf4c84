-- lua/tool/look: columns of objects, and the program that the engine's prompt runs.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local columns = require "tool.look.columns"
local program = require "tool.look.program"

local NOW = 1700000000 -- 2023-11-14T22:13:20Z

local function cells(kind, row, wide) return columns.cells(columns.of(kind, wide, false), row, NOW) end

describe("columns of objects", function()
  it("show pods as kubectl does", function()
    local made, null = "2023-11-14T20:13:20Z", io.stdout -- what is no null of JSON is none of a table's either
    local row = { "web", { true, false }, { "a", "b" }, "Running", {}, null, { 1, 2 }, made }
    assert.are.same({ "web", "1/2", "Running", "3", "120m" }, cells("Pod", row))
    row[5] = { "CrashLoopBackOff" }
    assert.are.equal("CrashLoopBackOff", cells("Pod", row)[3])
    row[6] = made
    assert.are.equal("Terminating", cells("Pod", row)[3])
    assert.are.same({ "web", "0/0", "Unknown", "0", "<unknown>" }, cells("Pod", { "web" }))
  end)

  it("are names and ages of kinds without their own, and values at paths for one's own", function()
    assert.are.same({ "x", "<unknown>" }, cells("Widget", { "x" }))
    local list = assert(columns.parse "A:.metadata.name,B:spec.items[*].n")
    assert.are.same({ "metadata.name", "spec.items[*].n" }, columns.paths(list))
    assert.are.same({ "x", "1,2" }, columns.cells(list, { "x", { 1, 2 } }, NOW))
    assert.are.same({ "<none>", "<none>" }, columns.cells(list, {}, NOW))
    assert.are.same({ nil, 'custom-columns: "A" is not HEADING:PATH' }, { columns.parse "A" })
  end)
end)

describe("the program of kubelua get", function()
  it("is Lua, whatever names have in them", function()
    local text = program.begin {
      kind = 'pods" end', namespace = "a\nb", selector = "app=']]'", names = { '"' }, masks = true,
      conditions = { { "spec.x", "=", "true" }, { "spec.y", "~=", "" }, { "spec.z", "~=", "7" } }, paths = { "a.b" },
    }
    assert.is_function(loadstring(text))
    assert.has_match('query:where("spec.x", "in", { "true", true })', text, 1, true)
    assert.has_match('query:where("spec.y", "~=", k8s.null)', text, 1, true)
    assert.has_match('query:where("spec.z", "~=", "7")\nquery:where("spec.z", "~=", 7)', text, 1, true)
    assert.is_function(loadstring(program.page))
  end)
end)
