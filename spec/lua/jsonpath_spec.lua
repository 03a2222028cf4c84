-- lua/tool/look/jsonpath: kubectl's templates. What kubectl itself prints is compared in spec/system/get_spec.lua.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local cjson = require "cjson"
local eval = require "tool.look.jsonpath_eval"
local jsonpath = require "tool.look.jsonpath"

-- A map as the program parses it; keys in the order of the list.
local function map(...)
  local value, names = {}, {}
  for i = 1, select("#", ...), 2 do
    local name, member = select(i, ...)
    names[#names + 1], value[name] = name, member
  end
  return setmetatable(value, { names = names })
end

local function pod(name, phase, ...)
  return map("metadata", map("name", name, "labels", map("app.io/name", name, "b", "x")),
    "status", map("phase", phase), "ports", { ... })
end

local PODS = { pod("a", "Running", 1, 2, 3), pod("b", "Failed", 8080), pod("c", "Running") }

local function quote(text) return (cjson.encode(text):gsub("\\/", "/")) end

-- What a template prints for the objects, or what is wrong.
local function run(template, objects, single)
  local nodes, why = jsonpath.parse(template)
  if not nodes then return why end
  local out, i = {}, 0
  local ok, problem = eval.run(nodes, function()
    i = i + 1
    return (objects or PODS)[i]
  end, single, quote, function(text) out[#out + 1] = text end)
  return ok and table.concat(out) or "! " .. problem
end

local function of(template, object) return run(template, { object }, true) end

describe("a template of JSONPath", function()
  it("has fields, elements, slices and unions", function()
    for template, expected in pairs {
      ["{.items[*].metadata.name}"] = "a b c", ["{.items[0].metadata.name}"] = "a",
      ["{.items[-1].metadata.name}"] = "c",
      ["{.items[0:2].metadata.name}"] = "a b", ["{.items[::2].metadata.name}"] = "a c",
      ["{.items[1:].metadata.name}"] = "b c", ["{.items[0,2].metadata.name}"] = "a c",
      ["{$.items[0].metadata['name','labels']}"] = 'a {"app.io/name":"a","b":"x"}',
      ["{.items[0].metadata.labels.app\\.io/name}"] = "a", ["{.items[0].metadata.labels['app.io/name']}"] = "a",
      ["{.kind}: {.items[0].ports}"] = "List: [1,2,3]", ["{.items[0].nothing.at.all}"] = "",
      ["{.items[*].ports[0:0]}"] = "", ["{..phase}"] = "Running Failed Running", ["{.items[0].status.*}"] = "Running",
      ["text"] = "text", ["{.items[0].metadata.name}{'\\t'}{\"q\\\"\"}{true}{1.50}"] = 'a\tq"true1.5',
    } do
      assert.are.equal(expected, run(template), template)
    end
  end)

  it("has ranges, also of each other, and filters", function()
    for template, expected in pairs {
      ['{range .items[*]}{.metadata.name}={.status.phase}{"\\n"}{end}'] = "a=Running\nb=Failed\nc=Running\n",
      ["<{range .items[*]}{.metadata.name}:{range .ports[*]} {@}{end};{end}>"] = "<a: 1 2 3;b: 8080;c:;>",
      ['{.items[?(@.status.phase=="Running")].metadata.name}'] = "a c",
      ["{.items[?(@.status.phase!='Running')].metadata.name}"] = "b",
      ['{.items[?(@.metadata.name>"a")].metadata.name}'] = "b c", ["{.items[0].ports[?(@<=2)]}"] = "1 2",
      ["{.items[0].ports[?(@>=2)]}"] = "2 3", ["{.items[0].ports[?(2>@)]}"] = "1",
      ["{.items[?(@.status)].metadata.name}"] = "a b c", ["{.items[?(@.x)].metadata.name}"] = "",
      ['{range .items[?(@.metadata.name=="b")]}{.ports[0]}{end}'] = "8080", ["{range .nothing[*]}x{end}y"] = "y",
    } do
      assert.are.equal(expected, run(template), template)
    end
  end)

  it("prints values as kubectl does", function()
    local big = setmetatable({}, { json = "9223372036854775807" })
    local object = map("n", 1e15, "f", 0.5, "t", true, "null", io.stdout, "big", big, "m", map("z", big, "a", { "x" }))
    for template, expected in pairs {
      ["{.n} {.f} {.t} {.null}"] = "1000000000000000 0.5 true null", ["{.big}"] = "9223372036854775807",
      ["{.m}"] = '{"a":["x"],"z":9223372036854775807}', ["{.m.a[0]}"] = "x",
    } do
      assert.are.equal(expected, of(template, object), template)
    end
  end)

  it("gives the same object by object and of the whole list", function()
    for _, template in ipairs { "{.items[*].ports[0:0]}", "{.items[*]..phase}", "{.items[*].status.phase}",
      "{range .items[*].status}{.phase},{end}" } do
      assert.are.equal(run(template), (run(template .. "{.nothing}")), template)
    end
  end)

  it("says what is wrong with it", function()
    for template, expected in pairs {
      ["{.a"] = "unclosed action", ["{.a[}"] = "unterminated array", ["{.a[x]}"] = 'invalid array index "x"',
      ["{end}"] = "not in range, nothing to end", ["{range .a}"] = "{range} without {end}",
      ["{foo}"] = 'unrecognized identifier "foo"', ["{.a[?(@.b]}"] = "unterminated filter",
      ["{'a}"] = "unterminated quoted string", ["{.a[?(@.b)}"] = "a filter must end with )]",
      ["{....a}"] = "invalid multiple recursive descent", ["{%}"] = 'unrecognized character "%" in an action',
      ["{1.2.3}"] = 'cannot parse number "1.2.3"', ["{'\\q'}"] = 'unknown escape "\\q"',
    } do
      assert.are.equal(('jsonpath "%s": %s'):format(template, expected), run(template))
    end
  end)

  it("says what it cannot be used on", function()
    for template, expected in pairs {
      ["{.items[9]}"] = "! array index out of bounds: index 9, length 3", ["{.kind[0]}"] = "! a string is not an array",
      ["{.items[2:1]}"] = "! starting index 2 is greater than ending index 1",
      ["{.items[::0]}"] = "! the step must be > 0",
      ["{.kind[?(@.a)]}"] = "! a string is not an array and cannot be filtered",
      ["{.items[?(@.status.phase>1)]}"] = "! a number cannot be compared with a string",
      ["{.items[?(@.metadata==1)]}"] = "! an object cannot be compared",
      ["{.items[?(@.ports[0]>1)]}"] = "! array index out of bounds: index 0, length 0",
      ["{.items[?(@.metadata.name=1)]}"] = '! unrecognized filter operator "="',
    } do
      assert.are.equal(expected, run(template), template)
    end
  end)
end)
