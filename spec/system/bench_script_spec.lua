-- A script of one's own under `kubelua bench`, as docs/performance.md shows it.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"
local temp = require "spec.support.temp"

local page = assert(io.open "docs/performance.md"):read "*a"
local script
for _, block in ipairs(examples.blocks "docs/performance.md") do
  if block.language == "lua" then script = script or block.text end
end
local command = assert(page:match "%-%-peer 'mine=kubelua (run %-f mine%.lua [^']+)'")

describe("a script of one's own", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function bench(text, only)
    temp.write(folder .. "/mine.lua", text)
    local peer = cluster.binary .. " " .. command:gsub("mine%.lua", folder .. "/mine.lua")
    return cluster.kubelua {
      "bench", "--pods", "200", "--runs", "1", "--updates", "400", "--settle", "20ms", "-o", "json",
      "--only", only, "--peer", "mine=" .. peer,
    }
  end

  it("is measured beside one that serves the benchmark", function()
    local p = bench(script, "storm,latency")
    assert.are.equal(0, p:wait(60), p:report())
    local figures = {}
    for _, result in ipairs(cjson.decode(p:out()).results) do
      if result.subject == "mine" then figures = result.figures end
    end
    for _, name in ipairs { "sync_cpu_us_per_object", "storm_cpu_us_per_event", "latency_1000_p50_us" } do
      assert.is_true((figures[name] or { median = 0 }).median > 0, name)
    end
  end)

  it("is not measured when it prints something, or when selects are requested", function()
    for only, text in pairs { storm = 'print "hello"\n' .. script, select = script } do
      local p = bench(text, only)
      assert.are.equal(1, p:wait(60), p:report())
      local why = only == "select" and "unknown flag --select" or 'it printed "hello"'
      assert.has_match(why, p:err(), 1, true)
    end
  end)
end)
