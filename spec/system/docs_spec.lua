-- The examples of docs/queries.md: each is run, and prints what it says behind "-->".
local cluster = require "spec.support.cluster"

local pods = "/api/v1/namespaces/%s/pods"

local function create(api, namespace, name, app, node, image, cpu)
  local containers = {}
  for i, amount in ipairs(cpu) do
    containers[i] = { name = "c" .. i, image = image, resources = { requests = { cpu = amount } } }
  end
  api:create(pods:format(namespace), {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = namespace, labels = { app = app } },
    spec = { nodeName = node, containers = containers },
  })
end

local function start()
  local sim = cluster.sim()
  sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "shop" } })
  create(sim.api, "default", "a", "web", "n1", "nginx:1.25", { "100m", "1" })
  create(sim.api, "default", "b", "db", "n2", "pg:16", { "500m" })
  create(sim.api, "shop", "c", "web", "n1", "nginx:1.26", { "2" })
  create(sim.api, "shop", "d", "job", nil, "busybox", { "0.3" })
  return sim
end

-- The Lua blocks of a page, each with its line and what it prints; the first one is the head of all.
local function examples(path)
  local file = assert(io.open(path))
  local found, block, number = {}, nil, 0
  for line in file:lines() do
    number = number + 1
    if block and line == "```" then
      found[#found + 1], block = block, nil
    elseif block then
      block.text = block.text .. line .. "\n"
      local expected = line:match "%-%-> (.*)$"
      if expected then block.prints = block.prints .. expected .. "\n" end
    elseif line == "```lua" then
      block = { line = number, text = "", prints = "" }
    end
  end
  file:close()
  return found
end

describe("docs/queries.md", function()
  after_each(cluster.stop_all)

  local all = examples "docs/queries.md"
  local head = table.remove(all, 1)

  it("has examples", function() assert.is_true(#all > 4) end)

  for _, example in ipairs(all) do
    it("tells the truth in line " .. example.line, function()
      local sim = start()
      assert.are_not.equal("", example.prints)
      local engine = cluster.kubelua { "exec", "-s", sim.server,
        cluster.script(head.text .. "k8s.main(function()\n" .. example.text .. "end)\n") }
      engine:wait(30)
      assert.are.equal("", engine:err())
      assert.are.equal(example.prints, engine:out())
    end)
  end
end)
