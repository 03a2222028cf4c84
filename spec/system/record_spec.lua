-- `kubelua record` and `kubelua replay`: what a cluster said, in a file, and the same again through scripts and specs.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

describe("a recording", function()
  local folder, sim

  before_each(function()
    folder = temp.folder()
    sim = cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function post(resource, object) sim.api:request("POST", "/api/v1/namespaces/default/" .. resource, object) end

  local function pod(name)
    return { metadata = { name = name }, spec = { containers = { { name = "c", image = "i" } } } }
  end

  -- Records until `changes` were made and `wanted` lines, counted by a pattern, are in the parts of the file.
  local function record(args, wanted, changes)
    local words = { "record", "-o", folder .. "/a.rec", "-s", sim.server }
    for _, word in ipairs(args) do words[#words + 1] = word end
    local p = cluster.kubelua(words)
    local function lines(pattern)
      local text = temp.run(("for part in %s/a.rec.part*; do zstdcat $part 2>/dev/null; done"):format(folder))
      return select(2, text:gsub(pattern, ""))
    end
    local function wait(pattern, count)
      await(function() return lines(pattern) >= count end, function() return "recorded: " .. pattern .. p:report() end)
    end
    wait('"LISTED"', wanted.lists)
    changes()
    for pattern, count in pairs(wanted.events) do wait(pattern, count) end
    return p
  end

  local function text() return (temp.run("zstdcat " .. folder .. "/a.rec")) end

  local TELLS = [[
    local k8s = require "k8s"
    k8s.writes { "pods:patch" }
    local begin = k8s.now()
    k8s.informer("pods"):add_event_handler {
      OnAdd = function(pod, ev)
        print("add", pod:key(), ev.initial)
        if not ev.initial then k8s.patch(pod, { metadata = { labels = { a = "b" } } }) end
      end,
      OnDelete = function(pod) print("delete", pod:key()) end,
    }
  ]]

  local function record_pods()
    post("pods", pod "before")
    local p = record({ "pods" }, { lists = 1, events = { ['"ADDED"'] = 1, ['"DELETED"'] = 1 } }, function()
      post("pods", pod "new")
      sim.api:request("DELETE", "/api/v1/namespaces/default/pods/before")
    end)
    assert.equal("600\n", (temp.run("stat -c %a " .. folder .. "/a.rec.part0")))
    p:kill "INT"
    assert.equal(130, p:wait())
    assert.equal("600\n", (temp.run("stat -c %a " .. folder .. "/a.rec")))
    assert.has_match("Recorded 1 stream to .*/a.rec: 1 object listed, [23] changes %(%d+ bytes%)\n", p:err())
    assert.equal("a.rec", io.popen("ls " .. folder):read "*l")
  end

  it("is played again through scripts, whose writes are only reported", function()
    record_pods()
    temp.write(folder .. "/tells.lua", TELLS)
    local p = cluster.kubelua { "replay", folder .. "/a.rec", "-f", folder .. "/tells.lua", "--speed", "max" }
    assert.equal(0, p:wait(), p:err())
    assert.equal("add\tdefault/before\ttrue\nadd\tdefault/new\tfalse\ndelete\tdefault/before\n", p:out())
    assert.has_match('"Not sent because this is a replay".*object="default/new"', p:err())
    assert.has_match("Played .*/a.rec: 1 object listed, [23] changes\n", p:err())
  end)

  it("is no dump, as other commands say of it", function()
    record_pods()
    temp.write(folder .. "/tells.lua", TELLS)
    local says = "a.rec:1: a recording of watch streams: play it by kubelua replay, or in a spec"
    for _, words in ipairs {
      { "audit", "-f", "builtin:", "--from" }, { "check", "-f", folder .. "/tells.lua", "--against" },
      { "repl", "--from" },
    } do
      words[#words + 1] = folder .. "/a.rec"
      local p = cluster.kubelua(words)
      assert.equal(2, p:wait())
      assert.has_match(says, p:err(), 1, true)
    end
    local p = cluster.kubelua { "sim", "--load", folder .. "/a.rec" }
    assert.equal(2, p:wait())
    assert.has_match("a.rec: compressed by zstd, as a recording is: only YAML and JSON are loaded", p:err(), 1, true)
  end)

  it("is played in a spec, from its beginning or on a script that runs", function()
    record_pods()
    temp.write(folder .. "/tells.lua", TELLS)
    temp.write(folder .. "/tells_spec.lua", [[
      local test = require "k8s.test"
      it("begins with what was there", function()
        local env = test.load("tells.lua", { recording = "a.rec" })
        assert.same({ "add\tdefault/before\ttrue" }, env.prints)
        local changes, problem, objects = env:replay()
        assert.is_nil(problem)
        assert.equal(1, objects)
        assert.is_true(changes == 2 or changes == 3, tostring(changes)) -- its end may be told twice
        assert.printed(env, "add\tdefault/new\tfalse")
        assert.wrote(env, { verb = "patch", kind = "pods", key = "default/new" })
        assert.printed(env, "delete\tdefault/before")
      end)
      it("comes to a script that runs", function()
        local env = test.load "tells.lua"
        local changes, _, objects = env:replay("a.rec", { speed = 100 })
        assert.is_true(changes >= 2)
        assert.equal(1, objects)
        assert.printed(env, "add\tdefault/before\tfalse")
        assert.is_nil(env:get("pods", "default/before"))
      end)
      it("is reported as truncated, and played as far as it goes", function()
        local env = test.load("tells.lua", { recording = "cut.rec" })
        local _, problem = env:replay()
        assert.has_match("cut.rec: byte %d+, line %d+ of the stream that begins at byte 0: ", problem)
        assert.has_match("unexpected end of file", problem, 1, true)
        assert.printed(env, "add\tdefault/new\tfalse")
      end)
      it("is named when it is none", function()
        local ok, raised = pcall(test.load, "tells.lua", { recording = "tells.lua" })
        assert.is_false(ok)
        assert.has_match("not a recording: not compressed with zstd", raised, 1, true)
      end)
    ]])
    temp.run(("head -c -6 %s/a.rec > %s/cut.rec"):format(folder, folder))
    local p = cluster.kubelua { "test", folder }
    assert.equal(0, p:wait(), p:out())
    local replay = cluster.kubelua { "replay", folder .. "/cut.rec", "-f", folder .. "/tells.lua", "--speed", "max" }
    assert.equal(3, replay:wait())
    assert.has_match("kubelua replay: .*cut.rec: byte %d+", replay:err())
    assert.has_match("add\tdefault/new", replay:out())
  end)

  it("counts a list that came again by what it changed", function()
    post("pods", pod "before")
    local p = record({ "pods" }, { lists = 1, events = { ['"LISTED"'] = 2 } }, function()
      sim:play { ["do"] = "expire" }
    end)
    assert.equal(0, cluster.terminate(p))
    assert.has_match("a.rec: 1 object listed, 0 changes, relisted 1 time %(%d+ bytes%)\n", p:err())
    temp.write(folder .. "/tells.lua", TELLS)
    p = cluster.kubelua { "replay", folder .. "/a.rec", "-f", folder .. "/tells.lua", "--speed", "max" }
    assert.equal(0, p:wait(), p:err())
    assert.equal("add\tdefault/before\ttrue\n", p:out())
    assert.has_match("a.rec: 1 object listed, 0 changes\n", p:err())
  end)

  it("has no data of Secrets, unless it is requested", function()
    local function secrets(args)
      local p = record(args, { lists = 1, events = { ['"ADDED"'] = 1 } }, function()
        post("secrets", { metadata = { name = tostring(#args) }, data = { k = "c2VjcmV0" } })
      end)
      assert.equal(0, cluster.terminate(p))
      return text()
    end
    local redacted = secrets { "secrets" }
    assert.has_match('"name":"1"', redacted, 1, true)
    assert.has_match('"redacted":true', redacted, 1, true)
    assert.is_nil(redacted:find "c2VjcmV0")
    assert.has_match("c2VjcmV0", secrets { "secrets", "--redact", "none" }, 1, true)
  end)

  it("is of what scripts watch, each stream once", function()
    temp.write(folder .. "/scripts/a.lua", [[
      local k8s = require "k8s"
      k8s.informer("pods", { selector = "app=web" })
      k8s.informer("configmaps", { namespaces = { "default", "kube-system" } })
    ]])
    temp.write(folder .. "/scripts/b.lua", 'require("k8s").informer("po", { selector = "app=web" })\n')
    local p = record({ "-f", folder .. "/scripts" }, { lists = 3, events = {} }, function() end)
    assert.equal(0, cluster.terminate(p))
    local seen = {}
    for line in text():gmatch '{"kubelua_recording"[^\n]*' do
      seen[#seen + 1] = line:match '"plural":"(%w+)"' .. "|" .. line:match '"namespace":"([^"]*)"' .. "|"
        .. line:match '"selector":"([^"]*)"'
    end
    assert.same({ "pods||app=web", "configmaps|default|", "configmaps|kube-system|" }, seen)
  end)

  it("ends by itself, and reports what it could not record", function()
    sim:forbid("secrets", "no secrets for you")
    local p = cluster.kubelua {
      "record", "-o", folder .. "/a.rec", "-s", sim.server, "pods", "secrets", "--for", "1500ms",
    }
    assert.equal(3, p:wait())
    assert.has_match("secrets: no complete list received: .*no secrets for you", p:err())
    assert.has_match('"LISTED"', text(), 1, true)
  end)

  local function files() return (temp.run("ls " .. folder):gsub("\n", " ")) end

  it("leaves what has its name until it is complete", function()
    temp.write(folder .. "/a.rec", "an older one")
    local p = cluster.kubelua { "record", "-o", folder .. "/a.rec", "-s", sim.server, "pods", "podz" }
    assert.equal(2, p:wait())
    assert.equal("an older one", (temp.run("cat " .. folder .. "/a.rec")))
    assert.equal("a.rec ", files())
    p = record({ "pods" }, { lists = 1, events = {} }, function()
      assert.equal("an older one", (temp.run("cat " .. folder .. "/a.rec")))
    end)
    assert.equal(0, cluster.terminate(p))
    assert.has_match('"LISTED"', text(), 1, true)
    assert.equal("a.rec ", files())
  end)

  it("follows a link, and keeps it", function()
    temp.write(folder .. "/there/b.rec", "an older one")
    temp.run(("ln -s there/b.rec %s/a.rec"):format(folder))
    local p = cluster.kubelua { "record", "-o", folder .. "/a.rec", "-s", sim.server, "pods", "--for", "500ms" }
    assert.equal(0, p:wait(), p:err())
    assert.equal("there/b.rec\n", (temp.run("readlink " .. folder .. "/a.rec")))
    assert.equal("b.rec\n", (temp.run("ls " .. folder .. "/there")))
    assert.has_match('"LISTED"', text(), 1, true)
  end)

  it("keeps its parts when they cannot be joined, and names them", function()
    local p = record({ "pods", "configmaps" }, { lists = 2, events = { ['"ADDED"'] = 1 } }, function()
      post("pods", pod "new")
      temp.run(("mkdir %s/a.rec"):format(folder))
    end)
    p:kill "INT"
    assert.equal(3, p:wait())
    assert.has_match("kubelua record: .*/a.rec was not written: .*/a.rec: Is a directory; the recorded data is in "
      .. ".*/a.rec.part0\n", p:err())
    assert.equal("a.rec a.rec.part0 ", files())
    local all = temp.run(("zstdcat %s/a.rec.part0"):format(folder))
    assert.equal(2, select(2, all:gsub('"kubelua_recording"', "")))
    assert.has_match('"name":"new"', all, 1, true)
  end)

  it("ends when the disk is full, and keeps what there is", function()
    local command = 'trap "" XFSZ; ulimit -f 16; exec "$0" record -o "$1" -s "$2" pods configmaps'
    local p = proc.spawn { "sh", "-c", command, cluster.binary, folder .. "/a.rec", sim.server }
    local numbers = {}
    for i = 1, 3000 do numbers[i] = math.random(1e9) end
    post("pods", pod "before")
    for i = 1, 4 do
      post("configmaps", { metadata = { name = "m" .. i }, data = { k = table.concat(numbers, i .. " ") } })
    end
    local ended, code = pcall(p.wait, p, 30)
    if not ended then p:kill "KILL" end
    assert.equal(3, ended and code, p:err())
    assert.has_match("a.rec was not written: .*/a.rec.part1: File too large; the recorded data is in "
      .. ".*/a.rec.part0 .*/a.rec.part1\n", p:err())
    assert.equal("a.rec.part0 a.rec.part1 ", files())
    assert.has_match('"name":"before"', (temp.run(("zstdcat %s/a.rec.part0"):format(folder))), 1, true)
  end)

  it("does not write over what is left of another, nor what is no file, nor more than can be read", function()
    local names = {}
    for i = 1, 401 do names[i] = ("%q"):format("n" .. i) end
    temp.write(folder .. "/many.lua", ('require("k8s").informer("pods", { namespaces = { %s } })\n'):format(
      table.concat(names, ", ")))
    temp.write(folder .. "/none.lua", 'print "hello"\n')
    temp.write(folder .. "/a.rec.part0", "what is left")
    temp.run(("ln -s /dev/full %s/full.rec"):format(folder))
    local before = files()
    for wanted, words in pairs {
      ["/a.rec.part0: left over from an unfinished recording"] = { "a.rec", "pods" },
      ["/full.rec: not a regular file"] = { "full.rec", "pods" },
      ["too many streams (maximum 400)"] = { "b.rec", "-f", folder .. "/many.lua" },
      ["nothing to record: the scripts have no informers"] = { "b.rec", "-f", folder .. "/none.lua" },
    } do
      local p = cluster.kubelua { "record", "-s", sim.server, "-o", folder .. "/" .. words[1], unpack(words, 2) }
      assert.equal(2, p:wait(), p:err())
      assert.has_match(wanted, p:err(), 1, true)
      assert.equal(before, files())
    end
    assert.equal("what is left", (temp.run(("cat %s/a.rec.part0"):format(folder))))
    assert.equal("/dev/full\n", (temp.run(("readlink %s/full.rec"):format(folder))))
  end)

  it("refuses what makes no sense, in one line", function()
    for wanted, words in pairs {
      ["kubelua record: no output file given; use -o FILE"] = { "record", "pods" },
      ["kubelua record: nothing to record; give KINDs, or scripts with -f"] = { "record", "-o", folder .. "/x" },
      ['did you mean "pods"?'] = { "record", "-o", folder .. "/x", "-s", sim.server, "pdos" },
      ["/nowhere/x: No such file or directory"] = { "record", "-o", "/nowhere/x", "-s", sim.server, "pods" },
      ["kubelua replay: no recording given; usage: kubelua replay FILE"] = { "replay" },
      ["kubelua replay: no script given; use -f FILE or -f DIR"] = { "replay", "x" },
      ['--speed: "fast" must be a number'] = { "replay", "x", "-f", "scripts/nodes.lua", "--speed", "fast" },
      ["/nowhere.rec: No such file or directory"] = { "replay", "/nowhere.rec", "-f", "scripts/nodes.lua" },
    } do
      local p = cluster.kubelua(words)
      assert.equal(2, p:wait(), wanted)
      assert.has_match(wanted, p:err(), 1, true)
      assert.equal(1, select(2, p:err():gsub("\n", "")), p:err())
    end
  end)
end)
