-- The examples of the pages in docs/: each is run, and prints what it says behind "-->".
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"

for path, least in pairs { ["docs/queries.md"] = 6, ["docs/client-go.md"] = 5 } do
  describe(path, function()
    after_each(cluster.stop_all)

    local all = examples.of(path)

    it("has examples", function() assert.is_true(#all >= least) end)

    for _, example in ipairs(all) do
      it("tells the truth in line " .. example.line, function()
        local engine = examples.run(examples.sim(path), example)
        assert.is_nil(engine:err():find "%f[^%z\n][^I\n]", engine:report()) -- nothing but klog's information
        assert.are.equal(example.prints, engine:out())
      end)
    end
  end)
end

describe("README.md", function()
  after_each(cluster.stop_all)

  it("has a first script that sees containers restart", function()
    local sim = examples.sim "README.md"
    local engine = cluster.run(sim.server, cluster.script(examples.blocks("README.md")[1].text))
    engine:wait_error '"Synced"'
    local readme = assert(io.open "README.md"):read "*a"
    sim.api:request("POST", readme:match "127%.0%.0%.1:8001(/sim/%l+)", readme:match "%-%-data '(.-)'")
    engine:wait_line "^team%-%d+/%S+\t%S+\trestarted\t%d+\ttimes$"
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
