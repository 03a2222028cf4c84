-- `kubelua replay` on recordings that no cluster would give: streams without a list, times far away, objects that are
-- none. They are written by hand, as docs/recording.md has it.
local cluster = require "spec.support.cluster"
local cjson = require "cjson"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

describe("a replay", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local SECOND, YEAR = 1000000, 365 * 86400 * 1000000

  local function head(given)
    local all = {
      kubelua_recording = 1, begin_us = 1795339437903105, group = "", version = "v1", kind = "Pod", plural = "pods",
      namespaced = true, namespace = "", selector = "", field_selector = "", redacted = false,
    }
    for name, value in pairs(given or {}) do all[name] = value end
    local fields = {}
    for name, value in pairs(all) do
      local shown = type(value) == "number" and ("%.0f"):format(value) or cjson.encode(value)
      fields[#fields + 1] = ("%q:%s"):format(name, shown)
    end
    return "{" .. table.concat(fields, ",") .. "}"
  end

  local function object(kind, name, version)
    local metadata = ('"namespace":"shop","name":%q,"resourceVersion":"%d","uid":%q'):format(name, version, name)
    return ('{"apiVersion":"v1","kind":%q,"metadata":{%s}}'):format(kind, metadata)
  end

  local function pod(name, version) return object("Pod", name, version) end

  local function record(at_us, kind, about)
    local what = about and '"object":' .. about or '"resourceVersion":"1"'
    return ('{"at_us":%.0f,"type":"%s",%s}'):format(at_us, kind, what)
  end

  -- A recording of these streams, each an array of lines; gives its path.
  local function recording(...)
    local path = folder .. "/a.rec"
    for i, lines in ipairs { ... } do
      temp.write(folder .. "/stream", table.concat(lines, "\n") .. "\n")
      assert.equal(0, select(2, temp.run(("zstd -q -c %s/stream %s %s"):format(folder, i == 1 and ">" or ">>", path))))
    end
    return path
  end

  local LIST = { head(), record(0, "ITEM", pod("a", 1)), record(0, "LISTED") }

  local function pods(...)
    local lines = { unpack(LIST) }
    for _, line in ipairs { ... } do lines[#lines + 1] = line end
    return lines
  end

  local TELLS = [[
    local k8s = require "k8s"
    local begin = k8s.now()
    local function tell(what)
      return function(pod, ev)
        pod = type(ev) == "userdata" and ev or pod
        print(what, pod:key(), math.floor(k8s.now() - begin + 0.5), what == "add" and tostring(ev.initial) or "")
      end
    end
    k8s.informer("pods"):add_event_handler { OnAdd = tell "add", OnUpdate = tell "update", OnDelete = tell "delete" }
  ]]

  local function replay(path, script, args)
    temp.write(folder .. "/script.lua", script)
    return cluster.kubelua { "replay", path, "-f", folder .. "/script.lua", unpack(args or { "--speed", "max" }) }
  end

  local WHOLE = pods(
    record(1 * SECOND, "ADDED", pod("b", 2)), record(2 * SECOND, "MODIFIED", pod("b", 3)),
    record(3 * SECOND, "DELETED", pod("a", 4)))
  local SEEN = "add\tshop/a\t0\ttrue\nadd\tshop/b\t1\tfalse\nupdate\tshop/b\t2\t\ndelete\tshop/a\t3\t\n"

  it("plays the others when a stream has no list, and reports it", function()
    local maps = { kind = "ConfigMap", plural = "configmaps" }
    local cut = head { kind = "Secret", plural = "secrets", namespace = "shop" }
    local p = replay(recording(WHOLE, { head(maps) }, { cut, record(SECOND, "ITEM", object("Secret", "s", 1)) }), TELLS)
    assert.equal(3, p:wait())
    assert.equal(SEEN, p:out())
    assert.has_match("kubelua replay: .*/a.rec: no complete list of configmaps, secrets in shop was recorded; "
      .. "played what was recorded", p:err())
    assert.has_match("Played .*/a.rec: 2 objects listed, 3 changes\n", p:err())
  end)

  it("begins with the list of each stream, however late that came", function()
    local late = { head { kind = "ConfigMap", plural = "configmaps" } }
    late[2] = record(90 * SECOND, "ITEM", object("ConfigMap", "m", 1))
    late[3] = record(90 * SECOND, "LISTED")
    local p = replay(recording(WHOLE, late), TELLS .. [[
      k8s.informer("configmaps"):on_add(function(map, ev) print("map", map:key(), ev.initial) end)
    ]])
    assert.equal(0, p:wait(), p:err())
    local out = p:out():gsub("map\tshop/m\ttrue\n", "", 1)
    assert.equal(SEEN, out)
  end)

  it("leaves out what the cluster refuses, and reports the first with its place", function()
    local lines = { unpack(WHOLE) }
    table.insert(lines, 5, record(1 * SECOND, "ADDED", '{"apiVersion":"v1","kind":"Pod","metadata":{}}'))
    table.insert(lines, 6, record(1 * SECOND, "ADDED", object("Foo", "x", 9)))
    local path = recording(lines)
    local p = replay(path, TELLS)
    assert.equal(3, p:wait())
    assert.equal(SEEN, p:out())
    assert.has_match("a.rec: byte %d+, line 5 of the stream that begins at byte 0: an object without a name "
      .. "%(and 1 more like it%)", p:err())
    local cut = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","resourceVersion":"9\\u0000"}}'
    lines[5] = record(1 * SECOND, "ADDED", cut)
    p = replay(recording(lines), TELLS)
    assert.equal(3, p:wait())
    assert.equal(SEEN, p:out())
    assert.has_match("an object with a NUL byte in its name or version (and 1 more like it)", p:err(), 1, true)
    table.remove(lines, 5)
    p = replay(recording(lines), TELLS)
    assert.equal(3, p:wait())
    assert.equal(SEEN, p:out())
    assert.has_match('line 5 of the stream that begins at byte 0: object of kind "Foo" in a stream of Pod\n',
      p:err(), 1, true)
  end)

  it("refuses a beginning that is no time, also in a spec", function()
    local list = { record(0, "ITEM", pod("a", 1)), record(0, "LISTED") }
    for _, begin_us in ipairs { 0, -5000000, 1e17, 9223372036854774784 } do
      local path = recording { head { begin_us = begin_us }, unpack(list) }
      local p = replay(path, TELLS)
      assert.equal(2, p:wait(), p:err())
      assert.has_match("kubelua replay: .*a.rec: byte %d+, line 1 of the stream that begins at byte 0: "
        .. "begin_us is not a time from 1970 to 2199", p:err())
      temp.write(folder .. "/a_spec.lua", [[
        local test = require "k8s.test"
        it("is reported", function()
          local ok, problem = pcall(test.load, "script.lua", { recording = "a.rec" })
          assert.is_false(ok)
          assert.has_match("begin_us is not a time from 1970 to 2199", problem, 1, true)
        end)
        it("has a speed that makes sense", function()
          for _, speed in ipairs { 0, -1, 1e-300, 1e300, 0 / 0 } do
            local ok, problem = pcall(test.new().replay, test.new(), { speed = speed })
            assert.is_false(ok)
            assert.has_match("speed must be between 0.001 and 1000000", problem, 1, true)
          end
        end)
      ]])
      p = cluster.kubelua { "test", folder }
      assert.equal(0, p:wait(), p:out() .. p:err())
    end
  end)

  it("plays what it can of a stream whose times make no sense", function()
    for _, at_us in ipairs { -1, 1e17, 9e18 } do
      local p = replay(recording(pods(record(at_us, "ADDED", pod("z", 9)))), TELLS)
      assert.equal(3, p:wait())
      assert.equal("add\tshop/a\t0\ttrue\n", p:out())
      assert.has_match("line 4 of the stream that begins at byte 0: at_us is not a number", p:err(), 1, true)
    end
  end)

  it("reports each kind that scripts request and the recording lacks, with the places", function()
    local p = replay(recording(WHOLE), TELLS .. [[
      k8s.reads { "secrets:get", "po:list", "*:watch" }
      k8s.informer "services"
      k8s.informer("svc", { namespace = "shop" })
      k8s.informer "widgets.example.com"
    ]])
    assert.equal(0, p:wait(), p:err())
    assert.equal(SEEN, p:out())
    local told, fields = {}, ' kind="(%S+)" script="(.-)"\n'
    for kind, places in p:err():gmatch('Recording has no stream for this kind, its informer is empty"' .. fields) do
      told[#told + 1] = kind .. " " .. places:gsub("%S*/script.lua", "")
    end
    assert.same({ "services :11, :12", "widgets.example.com :13", "secrets :10" }, told)
    assert.equal(3, select(2, p:err():gsub("W%d%d%d%d ", "")), p:err())
  end)

  it("ends with 2 when it has none of the kinds that scripts request", function()
    local deployments = { head { group = "apps", kind = "Deployment", plural = "deployments" } }
    local path = recording(WHOLE, WHOLE, deployments)
    local p = replay(path, [[
      local k8s = require "k8s"
      k8s.informer "services":on_add(function() end)
      k8s.reads { "secrets:get" }
    ]])
    assert.equal(2, p:wait())
    local script = folder .. "/script.lua"
    assert.equal(("kubelua replay: %s: contains pods, deployments.apps, but none of the kinds that the scripts "
      .. "use: services (%s:2), secrets (%s:3)\n"):format(path, script, script), p:err())
    p = replay(path, 'require("k8s").informer "podz"')
    assert.equal(2, p:wait())
    assert.equal(("kubelua replay: %s:1: the server doesn't have a resource type \"podz\", did you mean \"pods\"?\n")
      :format(script), p:err())
  end)

  it("closes with what it played, behind all that scripts printed", function()
    local script = folder .. "/script.lua"
    temp.write(script, 'for i = 1, 5000 do print(i, ("x"):rep(60)) end\n')
    local all = folder .. "/all"
    local command = "%s replay %s -f %s --speed max > %s 2>&1"
    local _, code = temp.run(command:format(cluster.binary, recording(WHOLE), script, all))
    assert.equal(0, code)
    local last = temp.run("tail -n 1 " .. all)
    assert.has_match("^Played .*/a.rec: 1 object listed, 3 changes\n", last)
    assert.equal("5000\n", (temp.run("grep -c x$ " .. all)))
  end)

  it("ends with 3 when what scripts printed is lost, and as by SIGPIPE when nobody reads it", function()
    local command = '"$0" replay "$1" -f "$2" --speed max %s'
    temp.write(folder .. "/script.lua", 'for i = 1, 5000 do print(i, ("x"):rep(60)) end\n')
    local function run(to)
      return proc.spawn { "bash", "-c", command:format(to), cluster.binary, recording(WHOLE), folder .. "/script.lua" }
    end
    local p = run ">/dev/full"
    assert.equal(3, p:wait(), p:err())
    assert.has_match("kubelua replay: stdout: No space left on device; 5000 lines are lost\n$", p:err())
    p = run '| head -n 1; exit ${PIPESTATUS[0]}'
    assert.equal(141, p:wait(), p:err())
    assert.has_match("^1\tx+\n$", p:out())
    assert.is_nil(p:err():find("lost", 1, true))
  end)

  it("ends at a signal, however much its timers have to do", function()
    local path = recording(pods(record(9 * YEAR, "ADDED", pod("z", 9))))
    for _, signal in ipairs { "INT", "TERM" } do
      local p = replay(path, [[
        local n = 0
        require("k8s").every("10ms", function()
          n = n + 1
          if n == 100 then print "busy" end
        end)
      ]])
      p:wait_line("^busy$", 20)
      p:kill(signal)
      assert.equal(130, p:wait(10))
    end
  end)

  it("has timers run at their pace too, when nothing comes for long", function()
    local path = recording(pods(record(3600 * SECOND, "ADDED", pod("z", 9))))
    local p = replay(path, [[
      local k8s = require "k8s"
      local begin = k8s.now()
      k8s.every("2s", function() print("tick", math.floor(k8s.now() - begin + 0.5)) end)
    ]], { "--speed", "10" })
    local before = (temp.run "date +%s%N")
    p:wait_line("^tick\t10$", 20)
    assert.is_true(tonumber((temp.run "date +%s%N")) - tonumber(before) > 5e8)
    p:kill "INT"
    assert.equal(130, p:wait(10))
    assert.is_nil(p:out():find "tick\t100\n")
  end)
end)

describe("the clock of a test", function()
  it("ends with the year 2199", function()
    local folder = temp.folder {
      ["a_spec.lua"] = [[
        local test = require "k8s.test"
        it("is reported", function()
          for _, now in ipairs { -1, 7258118400, 1e300, 0 / 0 } do
            local ok, problem = pcall(test.new, { now = now })
            assert.is_false(ok)
            assert.has_match("now must be a time from 1970 to 2199", problem, 1, true)
          end
          local env = test.new { now = 7258118400 - 10 }
          env:advance "9s"
          local ok, problem = pcall(env.advance, env, "1h")
          assert.is_false(ok)
          assert.has_match("the test clock cannot go beyond the year 2199", problem, 1, true)
          env:add { kind = "ConfigMap", metadata = { name = "m" } }
          assert.equal("m", env:get("configmaps", "m").metadata.name)
        end)
      ]],
    }
    local p = cluster.kubelua { "test", folder }
    assert.equal(0, p:wait(), p:out() .. p:err())
    cluster.stop_all()
    temp.remove(folder)
  end)
end)
