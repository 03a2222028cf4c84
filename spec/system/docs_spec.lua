-- The examples of the pages in docs/: each is run, and prints what it says behind "-->".
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"
local temp = require "spec.support.temp"

local pages = {
  ["docs/queries.md"] = 6, ["docs/client-go.md"] = 5, ["docs/shell-operator.md"] = 2, ["docs/kopf.md"] = 2,
}
for path, least in pairs(pages) do
  describe(path, function()
    after_each(cluster.stop_all)

    local all = examples.of(path)

    it("has examples", function() assert.is_true(#all >= least) end)

    for _, example in ipairs(all) do
      it("is true in line " .. example.line, function()
        local engine = examples.run(examples.sim(path), example)
        assert.is_nil(engine:err():find "%f[^%z\n][^I\n]", engine:report()) -- nothing but klog's information
        assert.are.equal(example.prints, engine:out())
      end)
    end
  end)
end

-- What the blocks read and write.
local function world()
  local sim = cluster.sim { "--pods", "20" }
  local web = { app = "web" }
  for _, name in ipairs { "shop", "ops" } do
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = name } })
  end
  sim.api:create("/apis/apps/v1/namespaces/shop/deployments", {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web", namespace = "shop" },
    spec = {
      selector = { matchLabels = web },
      template = { metadata = { labels = web }, spec = { containers = { { name = "main", image = "web" } } } },
    },
  })
  sim.api:create("/api/v1/namespaces/shop/configmaps", {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = "counter", namespace = "shop" }, data = { n = "1" },
  })
  return sim
end

for path, least in pairs { ["docs/lua-api.md"] = 15, ["docs/queues.md"] = 3 } do
  describe(path, function()
    after_each(cluster.stop_all)

    local count = 0
    for _, block in ipairs(examples.blocks(path)) do
      if block.language == "lua" then
        count = count + 1
        it("has a block in line " .. block.line .. " that runs", function()
          local sim = world()
          local env = block.text:find("settings.token", 1, true) and { KUBELUA_PARAM_TOKEN = "t" }
          local script, states = cluster.script(examples.reference(block)), temp.name()
          local engine = cluster.kubelua {
            "exec", "-s", sim.server, "--state-dir", states, "--allow-http", "events.example.com", script, env = env,
          }
          assert.are_not.equal(2, engine:wait(30), engine:report()) -- it loads
          assert.is_nil(engine:err():find "%f[^%z\n]E%d", engine:report()) -- and none of its calls fails
        end)
      end
    end

    it("has blocks", function() assert.is_true(count >= least) end)
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
