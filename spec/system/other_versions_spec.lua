-- Files that another version of the program wrote are read, or refused with a line, and nothing is lost:
-- docs/upgrading.md. Caches: spec/system/warm_spec.lua too.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local SCRIPT = [[
  local k8s = require "k8s"
  k8s.informer("pods"):on_add(function(o, ev) print(o:name() .. (ev.warm and " warm" or "")) end)
  k8s.main(function() print "ready" end)
]]

describe("files of another version", function()
  local folder, sim
  before_each(function()
    folder = temp.folder { ["it.lua"] = SCRIPT }
    sim = cluster.sim { "--pods", "2" }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function run(args)
    local engine = cluster.run(sim.server, folder .. "/it.lua", args)
    engine:wait_line "^ready$"
    assert.are.equal(0, cluster.terminate(engine))
    return engine
  end

  -- The number of the format is behind eight bytes of a name.
  local function set_format(path, number)
    local file = assert(io.open(path, "r+b"))
    file:seek("set", 8)
    file:write(string.char(number % 256, math.floor(number / 256) % 256, 0, 0))
    file:close()
  end

  it("are stored caches, up and down: not used, replaced, and used again by their own version", function()
    local flags = { "--cache-dir", folder .. "/cache" }
    run(flags)
    local path = folder .. "/cache/caches"
    local own = temp.read(path)
    for _, number in ipairs { 0x0000, 0x7fff } do -- an older and a newer one
      set_format(path, number)
      local engine = run(flags)
      assert.has_match(("format %d, this version reads format"):format(number), engine:err())
      assert.has_no_match(" warm", engine:out())
      assert.are.equal(own:sub(1, 12), temp.read(path):sub(1, 12))
      assert.has_match(" warm", run(flags):out())
    end
  end)

  it("are recordings: refused, and left as they are", function()
    local function play(version)
      temp.write(folder .. "/stream", ('{"kubelua_recording":%d,"begin_us":1795339437903105,"group":"","version":"v1",'
        .. '"kind":"Pod","plural":"pods","namespaced":true,"namespace":"","selector":"","field_selector":"",'
        .. '"redacted":false}\n'):format(version))
      assert.are.equal(0, select(2, temp.run(("zstd -qf %s/stream -o %s/a.rec"):format(folder, folder))))
      local p = cluster.kubelua { "replay", folder .. "/a.rec", "-f", folder .. "/it.lua" }
      return p:wait(), p:err()
    end
    local code, err = play(2)
    assert.are.equal(2, code)
    assert.has_match("a%.rec: .*: unsupported recording version %(expected 1%)", err)
    assert.is_nil((select(2, play(1))):find("unsupported", 1, true))
  end)

  it("are settings: an unknown key is named", function()
    temp.write(folder .. "/settings.yaml", "cache-dirs: x\n")
    local p = cluster.run(sim.server, folder .. "/it.lua", { "--config", folder .. "/settings.yaml" })
    assert.are.equal(2, p:wait())
    assert.has_match("cache%-dirs.*cache%-dir", p:err())
  end)
end)
