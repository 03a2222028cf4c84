-- `kubelua check` reads sources: the mistakes of spec/planted, which were written before the code that finds them, and
-- scripts without any.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local cluster = require "spec.support.cluster"
local checks = require "spec.support.checks"
local examples = require "spec.support.examples"
local mistakes = dofile "spec/planted/mistakes.lua"

local NAMES = { "handlers", "operator", "functional", "rules", "terse" }
local KINDS = { "--against", "spec/planted/widgets.yaml" }

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function planted(name) return read("spec/planted/" .. name .. ".lua") end

-- The script with the mistake in it.
local function variant(mistake)
  local number = 0
  return (planted(mistake[1]):gsub("([^\n]*)\n", function(line)
    number = number + 1
    if number ~= mistake[3] then return nil end
    local from, to = line:find(mistake[4], 1, true)
    return assert(from, mistake[4]) and line:sub(1, from - 1) .. mistake[5] .. line:sub(to + 1) .. "\n"
  end))
end

-- Findings by the number of the file: lists of { line, text }.
local function findings_of(out)
  local found = {}
  for file, line, text in out:gmatch "v(%d+)%.lua:(%d+): %l+: ([^\n]*)" do
    local number = tonumber(file)
    found[number] = found[number] or {}
    table.insert(found[number], { line = tonumber(line), text = text })
  end
  return found
end

local function is_found(mistake, findings)
  for _, one in ipairs(findings or {}) do
    if one.line == (mistake.at or mistake[3]) and one.text:find(mistake[6], 1, true) then return true end
  end
  return false
end

-- The stubs, as check reads them.
local function stubs()
  local texts = {}
  for path in io.popen "ls types/*.lua":lines() do texts[#texts + 1] = read(path) end
  return require "tool.source.stubs"(texts)
end

describe("kubelua check reads sources", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  local function check(...) return place:run("-f", place.path, ...) end

  it("and finds at least nine tenths of the planted mistakes, and four fifths of each kind", function()
    for i, mistake in ipairs(mistakes) do place:write(("v%03d.lua"):format(i), variant(mistake)) end
    local _, out = check(unpack(KINDS))
    local found, by_kind, total = findings_of(out), {}, 0
    for i, mistake in ipairs(mistakes) do
      local kind = by_kind[mistake[2]] or { found = 0, all = 0 }
      by_kind[mistake[2]] = kind
      kind.all = kind.all + 1
      if is_found(mistake, found[i]) then kind.found, total = kind.found + 1, total + 1 end
    end
    assert.is_true(total >= 0.9 * #mistakes, ("%d of %d"):format(total, #mistakes))
    for name, kind in pairs(by_kind) do
      assert.is_true(kind.all >= 3 and kind.found >= 0.8 * kind.all,
        ("%s: %d of %d"):format(name, kind.found, kind.all))
    end
  end)

  it("and finds nothing in the same scripts without mistakes", function()
    for _, name in ipairs(NAMES) do place:write(name .. ".lua", planted(name)) end
    local code, out = check(unpack(KINDS))
    assert.are.same({ 0, "" }, { code, out })
  end)

  it("and finds nothing in scripts that ship", function()
    for _, folder in ipairs { "scripts", "scripts/recipes", "scripts/rules", "scripts/demo", "project/scripts" } do
      local code, out = place:run("-f", folder)
      assert.are.same({ 0, "" }, { code, (out:gsub("[^\n]*: warning: [^\n]*lease[^\n]*\n", "")) }, folder)
    end
    local _, out, summary = place:run("-f", "scripts", "-R")
    assert.are.equal("", out)
    assert.has_match(", 0 errors, 0 warnings", summary, 1, true)
  end)

  it("and finds nothing in the pages but the path that one of them misspells", function()
    for _, page in ipairs { "queries", "client-go", "shell-operator", "kopf" } do
      for _, one in ipairs(examples.of("docs/" .. page .. ".md")) do
        place:write(("%s-%d.lua"):format(page, one.line), one.text)
      end
    end
    for _, page in ipairs { "lua-api", "queues" } do
      for _, block in ipairs(examples.blocks("docs/" .. page .. ".md")) do
        if block.language == "lua" then
          place:write(("%s-%d.lua"):format(page, block.line), examples.reference(block))
        end
      end
    end
    local _, out = check("--param", "token=t")
    out = out:gsub("[^\n]*queue given has no worker[^\n]*\n", "")
    local misspelt = "^queries%-%d+%.lua:7: error: path spec.nodename: pods have no field nodename, [^\n]*\n$"
    assert.truthy(out:match(misspelt), out)
  end)

  it("and lets a script ask whether something exists", function()
    place:write("a.lua", [[
local k8s = require "k8s"
local unpack = unpack or table.unpack
local pods = k8s.informer "pods"
k8s.main(function()
  if k8s.not_yet then k8s.not_yet() end
  print(unpack { 1 }, jit and "jit", (k8s.informer and pods:lister():get "a/b" or {}).spec)
end)
]])
    local code, out = check()
    assert.are.same({ 0, "" }, { code, out })
  end)

  it("with definitions that have no schema, or no spec", function()
    local text = '{ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": %s }'
    for i, spec in ipairs { "5", "{}", '{ "names": 1, "versions": [ 5 ] }', [[{ "group": "example.com",
      "names": { "kind": "Widget", "plural": "widgets" },
      "versions": [ 5, { "name": "v1", "served": true, "schema": { "openAPIV3Schema": { "type": "object",
        "properties": { "spec": 5, "status": { "type": "object", "properties": [ 1 ] } } } } } ] }]] } do
      place:write(i .. ".json", text:format(spec))
    end
    place:write("a.lua", 'require("k8s").informer("widgets.example.com"):on_add(function(w) print(w.spec.x) end)\n')
    for i = 1, 4 do
      local code, out, err = check("--against", place.path .. "/" .. i .. ".json")
      assert.is_true(code < 2 and not err:find("lua/tool", 1, true), out .. err)
    end
  end)

  it("but not what is nested too deeply, which it says", function()
    place:write("a.lua", "local x = 1\nlocal v = x" .. (" + x"):rep(20000) .. "\nreturn v\n")
    local code, out = check()
    assert.are.equal("a.lua:1: warning: expressions are nested too deeply: the source was not read\n", out)
    assert.are.equal(0, code)
  end)

  it("unless there is no parser, which it says", function()
    place:write("a.lua", 'require("k8s").main(function() return undefined end)\n')
    local p = cluster.kubelua { "check", "-f", place.path, env = { LUA_PATH = "/nonexistent/?.lua" } }
    assert.are.equal(3, p:wait())
    assert.are.equal("", p.streams.out.text)
    assert.truthy(p.streams.err.text:find("sources were not read", 1, true))
    place:write("b.lua", "no Lua\n")
    p = cluster.kubelua { "check", "-f", place.path, env = { LUA_PATH = "/nonexistent/?.lua" } }
    assert.are.equal(1, p:wait()) -- an error is more than what was not read
  end)

  it("and loads nothing from the folder where it is called", function()
    local trap = 'io.open("trapped", "w"):close() return {}'
    assert(os.execute("mkdir " .. place.path .. "/luacheck"))
    for _, name in ipairs { "parser", "decoder" } do place:write("luacheck/" .. name .. ".lua", trap) end
    place:write("a.lua", 'require("k8s").main(function() return undefined end)\n')
    local binary = os.getenv "KUBELUA_BIN"
    local program = binary and binary:find "^/" and binary
      or os.getenv "PWD" .. "/" .. (binary or "build/release/kubelua")
    for _, path in ipairs { "/usr/share/lua/5.1/?.lua;./?.lua", "./?.lua;/nonexistent/?.lua" } do
      os.execute(("cd %s && LUA_PATH='%s' %s check -f a.lua >out 2>&1"):format(place.path, path, program))
      assert.truthy(#read(place.path .. "/out") > 0)
      assert.is_nil(io.open(place.path .. "/trapped"))
    end
  end)

  -- Arguments that the engine takes.
  local ARGUMENTS = {
    get = '"pods", "a/b"', list = '"pods"', pages = '"pods"', watch = '"pods", { resource_version = "1" }', sleep = "1",
    create = "pod", update = "pod", patch = "pod, {}", apply = "pod, {}", delete = "pod", ensure = "pod", evict = "pod",
    logs = '"a/b"', raw = '{ path = "/version" }', restart = "pod", kinds = "nil", scale = "pod, 1",
    reads = '{ "pods:get" }',
    writes = '{ "pods:patch" }', controller = '{ of = "pods", reconcile = print }', leader = "{}",
    state = '"s"', factory = "nil", main = "print", on_leader = "print", command = '"a", print',
    on_reload = "{}", queue = '{ name = "q" }', webhook = '{ path = "/a", public = true, fn = print }',
    sink = '{ name = "s", to = "file:///tmp/s" }',
  }

  it("and knows which functions wait, and which only loading has, as the engine does", function()
    local api = stubs()
    local waiting, loading = {}, {}
    local function call(name)
      return ("  print(%q, pcall(k8s.%s, %s))"):format(name, name, ARGUMENTS[name] or "print")
    end
    for name, fn in pairs(api.classes.k8s.functions) do
      -- retry_on_conflict waits between calls of a function that fails.
      if fn.waits and name ~= "retry_on_conflict" then waiting[#waiting + 1] = call(name) end
      if fn.loads then loading[#loading + 1] = call(name) end
    end
    assert.is_true(#waiting >= 14 and #loading >= 12)
    local sim = cluster.sim {}
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script('local k8s = require "k8s"\n'
      .. 'k8s.reads { "*:*" } k8s.writes { "*:*" }\n'
      .. 'local pod = { apiVersion = "v1", kind = "Pod", metadata = { name = "a", namespace = "b" } }\n'
      .. table.concat(waiting, "\n") .. "\nk8s.main(function()\n" .. table.concat(loading, "\n") .. "\nend)\n") }
    assert.are.equal(0, p:wait(), p:report())
    local count = 0
    for line in p:out():gmatch "[^\n]+" do
      count = count + 1
      assert.truthy(line:find("may not be called in the load phase", 1, true)
        or line:find("may only be called while the script is loading", 1, true), line)
    end
    assert.are.equal(#waiting + #loading, count)
  end)

  it("and demands that namespaces are declared which an informer of a running script selects", function()
    local text = [[
local k8s = require "k8s"
k8s.reads { "pods:watch"%s }
k8s.informer("services", { namespaces = { selector = "a=b" } })
k8s.command("go", function() k8s.informer("pods", { namespaces = { selector = "a=b" } }):stop() end)
local function later() k8s.informer("pods", { namespaces = { "a" } }):stop() end
k8s.main(later)
k8s.each_kind({ group = "", verb = "watch" }, function(kind)
  k8s.informer(kind, { namespaces = { selector = "a=b" } })
end)
]]
    local finding = "a.lua:%d: error: k8s.informer with a selector of namespaces is not declared: "
      .. 'add k8s.reads { "namespaces:watch" }\n'
    place:write("a.lua", text:format "")
    local _, out = check()
    assert.are.equal(finding:format(4) .. finding:format(8), out)
    place:write("a.lua", text:format ', "namespaces:watch"')
    local code, none = check()
    assert.are.same({ 0, "" }, { code, none })
  end)

  it("and demands that changes of finalizers are declared as patches", function()
    local text = [[
local k8s = require "k8s"
k8s.writes { "pods:%s" }
k8s.informer("pods"):on_add(function(pod)
  print(k8s.finalizers.has(pod, "example.org/a"))
  print(k8s.finalizers.add(pod, "example.org/a"))
  print(k8s.finalizers.remove(pod, "example.org/a"))
end)
]]
    place:write("a.lua", text:format "delete")
    local _, out = check()
    local finding = 'a.lua:%d: error: k8s.finalizers.%s is not declared: add k8s.writes { "pods:patch" }\n'
    assert.are.equal(finding:format(5, "add") .. finding:format(6, "remove"), out)
    place:write("a.lua", text:format "patch")
    local code, none = check()
    assert.are.same({ 0, "" }, { code, none })
  end)

  it("and names what a value may be, and the option that is meant", function()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.reads { "pods:list" }
k8s.command("go", function()
  print(k8s.conditions.set(nil, { type = "A", status = true, reason = "B" }))
  print(k8s.list("pods", { lable_selector = "a" }))
  print(k8s.list("pods", { fild_selector = "a=b" }))
end)
]])
    local _, out = check()
    assert.has_match('a.lua:4: error: status must be one of "True", "False", "Unknown", not boolean\n', out, 1, true)
    assert.has_match('a.lua:5: error: unknown option lable_selector of options, did you mean "selector"?', out, 1, true)
    assert.has_match('a.lua:6: error: unknown option fild_selector of options, did you mean "field_selector"?', out, 1,
      true)
  end)

  it("and knows the globals that the engine has", function()
    local globals = require "tool.source.globals"
    local list = [[
local function names(of)
  local found = {}
  for name in pairs(of) do found[#found + 1] = name end
  table.sort(found)
  return table.concat(found, " ")
end
require("k8s").main(function()
  print(names(_G))
  for _, library in ipairs { "coroutine", "math", "os", "string", "table" } do print(names(_G[library])) end
end)
]]
    local function names(of)
      local found = {}
      for name in pairs(of) do found[#found + 1] = name end
      table.sort(found)
      return table.concat(found, " ")
    end
    local expected = names(globals.NAMES) .. "\n"
    for _, library in ipairs { "coroutine", "math", "os", "string", "table" } do
      expected = expected .. names(globals.LIBRARIES[library]) .. "\n"
    end
    local sim = cluster.sim {}
    local p = cluster.kubelua { "exec", "-s", sim.server, cluster.script(list) }
    assert.are.equal(0, p:wait())
    assert.are.equal(expected, p:out())
  end)
end)
