-- lua/tool/plan/: which file stands for which script, what two plans differ in, and what a reload would refuse.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local detail = require "tool.plan.detail"
local diff = require "tool.plan.diff"
local match = require "tool.plan.match"
local refusal = require "tool.plan.refusal"
local view = require "tool.plan.view"

local A, B, C = "function 00112233445566aa", "function ffeeddccbbaa9988", "function 0123456789abcdef"
local CLASSES = {
  "informer", "transform", "handler", "queue", "timer", "command", "state", "metric", "webhook", "main",
}

local function place_of(hash) return hash == B:match "%x+$" and "x.lua:7" or nil end

-- Entries of "class", "key", "detail" in turn.
local function plan(...)
  local words, entries = { ... }, {}
  for i = 1, #words, 3 do
    entries[#entries + 1] = { class = words[i], key = words[i + 1], detail = words[i + 2] }
  end
  return entries
end

local function quote(text) return '"' .. text .. '"' end

describe("details of plans", function()
  local function differ(before, after, expected, has_place)
    local text, placed = detail.compare(before, after, place_of)
    assert.equal(expected, text)
    assert.equal(has_place or false, placed)
  end

  it("name functions by their places", function()
    differ("pods in shop {OnAdd=" .. A .. ", OnUpdate=" .. A .. "}",
      "pods in shop {OnAdd=" .. B .. ", OnUpdate=" .. A .. "}", "OnAdd changed (x.lua:7)", true)
    differ(A, B, "function changed (x.lua:7)", true)
    differ("{" .. A .. ", leader=true}", "{" .. B .. "}", "function changed (x.lua:7), leader=true removed", true)
    differ("pods {OnAdd=" .. A .. "}", "pods {OnAdd=" .. C .. ", OnDelete=" .. B .. "}",
      "OnAdd changed, OnDelete added (x.lua:7)", true)
    differ("pods {OnAdd=" .. A .. ", OnDelete=" .. B .. "}", "pods {OnAdd=" .. A .. "}", "OnDelete removed")
    differ('"spec.nodeName"', B, '"spec.nodeName" -> function')
  end)

  it("print other values as they are", function()
    differ("pods {OnAdd=" .. A .. ', selector="app=web"}', "pods {OnAdd=" .. A .. ', selector="app=api"}',
      'selector "app=web" -> "app=api"')
    differ("{}", '{resync="10m"}', 'resync="10m" added')
    differ('{labels={"a", "b"}, version=1}', '{labels={"a"}, version=2}', 'labels {"a", "b"} -> {"a"}, version 1 -> 2')
    differ("pods in shop {OnAdd=" .. A .. "}", "nodes {OnAdd=" .. A .. "}", "pods in shop -> nodes")
    differ("{a={x=" .. A .. "}}", "{a={x=" .. B .. "}}", "a changed")
  end)

  it("may contain any text", function()
    differ('{help="a, b={c\\"} ' .. A .. '", n=1}', '{help="a, b={c\\"} ' .. A .. '", n=2}', "n 1 -> 2")
    differ('{help="x}", n=1}', '{help="' .. A .. ',", n=1}', 'help "x}" -> "' .. A .. ',"')
    differ('{help="never ends', '{help="nor this', '{help="never ends -> {help="nor this')
    differ("{a={{{}", "{}", "a={{{ removed")
  end)

  it("report why they cannot be compared", function()
    local why = "`mark` is a userdata, which cannot be compared"
    differ(A, "?" .. why, why)
    differ("?" .. why, B, "changed")
  end)

  it("are printed without hashes", function()
    assert.equal('pods {OnAdd=function, filter=function, selector="' .. C .. '"}',
      detail.print("pods {OnAdd=" .. A .. ", filter=" .. B .. ', selector="' .. C .. '"}'))
    assert.equal("", detail.print "{}")
    assert.equal("", detail.print "")
    assert.equal("why", detail.print "?why")
    assert.equal("{note=functions 1}", detail.print "{note=functions 1}")
  end)

  it("have fields", function()
    local text = "{migrate=" .. A .. ", version=12}"
    assert.equal("12", detail.field(text, "version"))
    assert.equal(A, detail.field(text, "migrate"))
    assert.is_nil(detail.field(text, "kind"))
    assert.is_nil(detail.field("", "kind"))
    assert.is_nil(detail.field("{x={version=3}}", "version"))
  end)
end)

describe("differences of plans", function()
  it("come class by class", function()
    local before = plan("timer", "every 30s", "{}", "handler", "pods/1", "x", "queue", "old", "")
    local after = plan("handler", "pods/1", "x", "handler", "b", "y", "timer", "every 30s", "{leader=true}",
      "newer", "not known", "{}")
    local said = {}
    local changes, same = diff(before, after, CLASSES)
    for i, change in ipairs(changes) do said[i] = ("%s %s %s"):format(change.change, change.class, change.key) end
    assert.same({ "added handler b", "removed queue old", "changed timer every 30s" }, said)
    assert.equal(1, same)
    assert.same({}, (diff(before, before, CLASSES)))
  end)

  it("report what a change costs", function()
    local function note(class, key, before, after)
      local changes = diff(before and plan(class, key, before) or {}, after and plan(class, key, after) or {}, CLASSES)
      return changes[1].note
    end
    local uncertain = "its informer is relisted because the transforms cannot be compared"
    assert.equal("its informer is relisted", note("transform", "k", "function a", "function b"))
    assert.equal("its informer is relisted", note("transform", "k", "function a", nil))
    assert.equal(uncertain, note("transform", "k", "function a", "?`x` is a userdata"))
    assert.equal(uncertain, note("transform", "k", "?why", "?why")) -- it equals nothing
    assert.equal("starts a list and watch, unless another script has the same informer",
      note("informer", "k", nil, "{}"))
    assert.is_nil(note("informer", "k", "{}", "{resync=3}"))
    assert.equal('receives the whole cache again, unless k8s.on_reload sets replay = "none"',
      note("handler", "k", "a", "b"))
    assert.is_nil(note("handler", "k", nil, "b"))
    assert.equal("continues with the waiting keys", note("queue", "work: run", "a", "b"))
    assert.is_nil(note("queue", "work", "a", "b"))
  end)
end)

describe("files and scripts that run", function()
  local function script(path, sources)
    return { name = path:match "^(.*)%.lua$", path = path, sources = sources, plan = {}, generation = 3 }
  end

  local function file(path, sources, in_folder)
    return { name = path:match "^(.*)%.lua$", path = path, sources = sources, plan = {}, in_folder = in_folder }
  end

  local function rows(running, files)
    match.pair(running, files)
    local said, list = {}, match.rows(running, files, CLASSES)
    for i, row in ipairs(list) do said[i] = row.result .. " " .. row.name end
    return said, list
  end

  it("go together by the complete name before the last part", function()
    assert.same({ "unchanged x/a", "unchanged y/a" },
      (rows({ script("x/a.lua", "1"), script("y/a.lua", "2") }, { file("z/a.lua", "1"), file("y/a.lua", "2") })))
  end)

  it("do not go together by a last part that several have", function()
    assert.same({ "added z/a" }, (rows({ script("x/a.lua", "1"), script("y/a.lua", "1") }, { file("z/a.lua", "1") })))
    assert.same({ "added x/a", "added y/a" },
      (rows({ script("z/a.lua", "1") }, { file("x/a.lua", "1"), file("y/a.lua", "1") })))
  end)

  it("go only if the directory is named so", function()
    local function running()
      return { script("etc/a.lua", "1"), script("etc/b.lua", "1"), script("other/c.lua", "1") }
    end
    assert.same({ "reloaded etc/a" }, (rows(running(), { file("a.lua", "2") })))
    -- etc/b lies beside a, and other/c does not.
    assert.same({ "unchanged etc/a", "removed etc/b" }, (rows(running(), { file("new/a.lua", "1", true) })))
  end)

  it("go together by as many last parts as they have, so that two of one file name are told apart", function()
    local running = { script("live/a.lua", "1"), script("live/x/a.lua", "2"), script("live/y/a.lua", "3") }
    local files = { file("next/a.lua", "1"), file("next/x/a.lua", "2"), file("next/y/a.lua", "4") }
    assert.same({ "unchanged live/a", "unchanged live/x/a", "reloaded live/y/a" }, (rows(running, files)))
  end)

  it("go together by their places below the directory, when a last part is that of several", function()
    local one = file("next/a.lua", "1", true)
    one.root = "next/"
    assert.same({ "unchanged live/a", "removed live/x/a" },
      (rows({ script("live/a.lua", "1"), script("live/x/a.lua", "2") }, { one })))
  end)

  it("go with the directories below one that is searched with them, wherever that is", function()
    local function below(path, sources)
      local one = file(path, sources, true)
      one.root = path:match "^[^/]*/"
      return one
    end
    local function running()
      return { script("live/a.lua", "1"), script("live/x/b.lua", "2"), script("live/y/z/c.lua", "3"),
        script("other/d.lua", "4") }
    end
    assert.same({ "unchanged live/a", "removed live/x/b", "removed live/y/z/c" },
      (rows(running(), { below("live/a.lua", "1") })))
    assert.same({ "unchanged live/x/b", "removed live/a", "removed live/y/z/c" },
      (rows(running(), { below("next/x/b.lua", "2") })))
    local here = file("a.lua", "1", true)
    here.root = ""
    assert.same({ "unchanged a", "removed b/c" },
      (rows({ script("a.lua", "1"), script("b/c.lua", "2"), script("/etc/d.lua", "3"), script("../e.lua", "4") },
        { here })))
  end)

  it("are reported with their differences and counts", function()
    local running, files = { script("a.lua", "1") }, { file("a.lua", "2"), file("b.lua") }
    running[1].plan = plan("command", "old\27[2J", "{}", "main", "k8s.main", "x", "state", "seen", "{}")
    files[1].plan = plan("main", "k8s.main", "x", "informer", "nodes", "{}", "state", "seen", "{version=2}")
    files[1].plan[2].file, files[1].plan[2].line = "a.lua", 4
    files[2].error, files[2].plan = "b.lua:1: no", nil
    local _, list = rows(running, files)
    local text = view.text(list)
    assert.is_nil(text:find("\27", 1, true))
    assert.equal("a: changes, generation 3 runs\n  + informer nodes (a.lua:4)\n"
      .. "      starts a list and watch, unless another script has the same informer\n"
      .. "  - command old [2J\n  ~ state seen: version=2 added\n  1 unchanged\nb: refused: b.lua:1: no\n"
      .. "2 scripts: 1 to be refused, 1 to change\n", text)
    local json = view.json(list, quote)
    assert.has_match('^{"summary":{"unchanged":0,"added":0,"changed":1,"reloaded":0,"removed":0,"refused":1},', json)
    assert.has_match('"after":"{}","file":"a.lua","line":4,"note":"starts', json, 1, true)
    assert.has_match('{"name":"b","result":"refused","error":"b.lua:1: no"}', json, 1, true)
    assert.equal("0 scripts: none\n", view.text {})
  end)
end)

describe("what a reload would refuse", function()
  local running, files

  -- As core/app/plan/plan_files.h has it: what it was asked is the refusal.
  local loaded = {}
  function loaded:reject_version(number, state, before, after)
    return ("%d: %s: %d -> %d"):format(number, state, before, after)
  end
  function loaded:metric_clash(number, metric, kind, other, other_kind, script)
    local clash = metric == other or kind == "histogram" and other == metric .. "_count"
      or other_kind == "histogram" and metric == other .. "_count"
    return clash and ("%d: %s: %s of %s"):format(number, metric, other, script) or nil
  end
  function loaded:takes(number, param) return files[number].takes == param.name end
  function loaded:reject_param(param) return "no rule takes " .. param.name end

  before_each(function()
    running, files = {}, {}
    for i, name in ipairs { "a", "b" } do
      running[i] = { name = name, path = name, sources = "1", plan = {} }
      files[i] = { name = name, path = name, sources = "2", plan = {}, number = i }
    end
    match.pair(running, files)
  end)

  local function refused(params)
    files[1].error, files[2].error = nil, nil
    refusal.find(loaded, running, files, params or {})
    return files[1].error, files[2].error
  end

  it("is a version of a state without migrate", function()
    local function keeps(before, after)
      running[1].plan, files[1].plan = plan("state", "seen", before), plan("state", "seen", after)
      return (refused())
    end
    assert.is_nil(keeps("{version=2}", "{version=2}"))
    assert.is_nil(keeps("{version=1}", "{}")) -- 1 is the one that is not said
    assert.is_nil(keeps("{}", "{migrate=" .. A .. ", version=2}"))
    assert.equal("1: seen: 1 -> 2", keeps("{}", "{version=2}"))
    assert.equal("1: seen: 3 -> 2", keeps("{version=3}", "{version=2}"))
    running[1].plan = {}
    assert.is_nil((refused()))
  end)

  it("is no file whose texts are those that run", function()
    running[1].plan, files[1].plan = plan("state", "seen", "{}"), plan("state", "seen", "{version=2}")
    files[1].sources = "1"
    assert.is_nil((refused()))
  end)

  it("is a metric that is not made as others made it", function()
    local counter = '{help="n", kind="counter"}'
    running[1].plan, files[1].plan = plan("metric", "n_total", counter), plan("metric", "n_total", counter)
    files[2].plan = plan("metric", "n_total", counter)
    assert.same({}, { refused() })
    files[2].plan = plan("metric", "n_total", '{help="m", kind="counter"}')
    local _, why = refused()
    assert.equal("2: n_total: n_total of a", why)
  end)

  it("is no metric of its own", function()
    running[1].plan = plan("metric", "n_total", '{kind="counter"}')
    files[1].plan = plan("metric", "n_total", '{kind="gauge"}')
    assert.is_nil((refused()))
  end)

  it("is a metric with the name of a sample", function()
    running[1].plan = plan("metric", "took", '{kind="histogram"}')
    files[2].plan = plan("metric", "took_count", '{kind="counter"}')
    local _, why = refused() -- a is to drop it, but has it while b is loaded
    assert.equal("2: took_count: took of a", why)
    running[1].plan = {}
    assert.same({}, { refused() })
  end)

  it("is the later one of two files", function()
    files[1].plan, files[2].plan = plan("metric", "size", '{kind="gauge"}'), plan("metric", "size", '{kind="counter"}')
    local first, second = refused()
    assert.is_nil(first)
    assert.equal("2: size: size of a", second)
    -- A refused file makes no metrics.
    running[1].plan = plan("state", "seen", "{}")
    table.insert(files[1].plan, plan("state", "seen", "{version=2}")[1])
    first, second = refused()
    assert.equal("1: seen: 1 -> 2", first)
    assert.is_nil(second)
  end)

  it("is a webhook with the path of another", function()
    running[1].plan, files[2].plan = plan("webhook", "/x", "{}"), plan("webhook", "/x", "{}")
    local _, why = refused()
    assert.equal('b: k8s.webhook: the path "/x" is that of a webhook of a', why)
    files[1].plan, files[2].plan = plan("webhook", "/x", "{fn=" .. A .. "}"), plan("webhook", "/y", "{}")
    assert.same({}, { refused() })
    running[1].plan, files[1].plan, files[2].plan = {}, plan("webhook", "/x", "{}"), plan("webhook", "/x", "{}")
    files[2].plan[1].file, files[2].plan[1].line = "b.lua", 7
    local first
    first, why = refused()
    assert.is_nil(first)
    assert.equal('b.lua:7: k8s.webhook: the path "/x" is that of a webhook of a', why)
  end)

  it("is a parameter that no rule would take any more", function()
    local params = { { name = "most", scripts = { "a" } } }
    assert.equal("a: no rule takes most", (refused(params)))
    files[2].takes = "most"
    assert.is_nil((refused(params)))
    files[2].takes = nil
    params[1].scripts = { "a", "another" } -- which goes on to run
    assert.is_nil((refused(params)))
  end)
end)
