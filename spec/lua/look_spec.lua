-- lua/tool/look: columns of objects, and the program that the engine's prompt runs.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local columns = require "tool.look.columns"
local program = require "tool.look.program"
local sort = require "tool.look.sort"

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

describe("columns of labels", function()
  it("are headed by the last part of their keys, and stand last", function()
    local list = assert(columns.of_labels({ "app,app.kubernetes.io/name", "tier" }, true))
    assert.are.same({ "metadata.labels['app']", "metadata.labels['app.kubernetes.io/name']", "metadata.labels['tier']",
      "metadata.labels" }, columns.paths(list))
    local headings = {}
    for i, column in ipairs(columns.of("Widget", true, true, list)) do headings[i] = column[1] end
    assert.are.equal("NAMESPACE NAME AGE APP NAME TIER LABELS", table.concat(headings, " "))
    assert.are.same({ "a", "", "", "app=a,b=" }, columns.cells(list, { "a", nil, nil, { b = "", app = "a" } }, NOW))
    assert.are.same({ "", "", "", "<none>" }, columns.cells(list, {}, NOW))
    assert.are.same({}, columns.of_labels({}, false))
    for _, key in ipairs { "app=web", "it's" } do
      assert.are.same({ nil, ('-L/--label-columns: "%s" is not the key of a label'):format(key) },
        { columns.of_labels({ "app", key }, false) })
    end
  end)
end)

local null = io.stdout

-- The names of rows in the order of a path; rows: { name, value }, as the engine sends them.
local function ordered(path, rows)
  local by = assert(sort.parse(path))
  local i = 0
  local command = { parse = function(line) return line end }
  local lines, why, is_absent = sort.lines(command, by, function()
    i = i + 1
    return rows[i] and { "more", "ns", rows[i][1], rows[i][2] == nil and null or rows[i][2] }
  end, false)
  local names = {}
  for line in lines or function() end do names[#names + 1] = line[3] end
  return lines and table.concat(names, " ") or why, is_absent
end

describe("the order of kubelua get", function()
  it("is that of numbers, quantities and texts, without a value first, then by name", function()
    assert.are.equal("d a c b", (ordered(".spec.n", { { "a", 1 }, { "b", 10 }, { "c", 9 }, { "d" } })))
    assert.are.equal("b c a e d", (ordered("spec.n",
      { { "a", "1" }, { "b", "100m" }, { "c", "0.5" }, { "d", "1Gi" }, { "e", "1e3" } })))
    assert.are.equal("c a b", (ordered("{.spec.n}", { { "a", "b10" }, { "b", "b9" }, { "c", "B" } })))
    assert.are.equal("a b c", (ordered("{spec.n}", { { "c", "x" }, { "b", "x" }, { "a", "x" } })))
    local big = setmetatable({}, { json = "9007199254740993000" })
    assert.are.equal("b a", (ordered(".n", { { "a", big }, { "b", 5 } })))
  end)

  it("is found of texts for which no order is one of all", function()
    local rows = {}
    for i = 1, 60 do rows[i] = { "n" .. i, ({ "9", "10", "1a" })[i % 3 + 1] } end
    assert.are.equal(60, select(2, ordered(".n", rows):gsub("n%d+", "")))
  end)

  it("is none of other values", function()
    local map = setmetatable({ a = 1 }, { names = { "a" } })
    local head = '--sort-by: "{.spec.n}" is '
    assert.are.equal(head .. "an object, which has no order", (ordered("spec.n", { { "a", map }, { "b", map } })))
    assert.are.equal(head .. "an array, which has no order", (ordered("spec.n", { { "a", {} }, { "b", {} } })))
    assert.are.equal(head .. "a boolean, which has no order", (ordered("spec.n", { { "a", true }, { "b", true } })))
    assert.has_match("is a %a+ in one object and a %a+ in another$", (ordered("spec.n", { { "a", 1 }, { "b", "1" } })))
    assert.are.same({ "--sort-by: couldn't find any field with path \"{.spec.n}\" in the list of objects", true },
      { ordered("spec.n", { { "a" } }) })
    assert.are.equal("", (ordered("spec.n", {})))
  end)

  it("has the engine send the fields at the beginning of the path, or the object", function()
    local function path_of(text) return assert(sort.parse(text)).path end
    assert.are.equal("metadata.name", path_of "{.metadata.name}")
    assert.are.equal("metadata.labels['app.io/name']", path_of "{.metadata.labels.app\\.io/name}")
    assert.are.equal("spec.containers", path_of "spec.containers[0].image")
    assert.are.equal("", path_of "{..image}")
    assert.are.equal("", path_of "{.*}")
    for _, text in ipairs { "{.a}{.b}", "{.a", "{}", "a{" } do
      assert.has_match("^%-%-sort%-by: unexpected path string, expected a 'name1.name2'", select(2, sort.parse(text)))
    end
    assert.has_match("^%-%-sort%-by: jsonpath \"{.a%[x%]}\": invalid array index", select(2, sort.parse ".a[x]"))
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
