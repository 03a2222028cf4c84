-- k8s.state with keep = "configmap" on the real API server, as a user who has what `kubelua rbac` prints.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"

local MAPS = "/api/v1/namespaces/default/configmaps"

-- Stores a number, and with "large" nearly all that a ConfigMap may have.
local script = [[
  local k8s = require "k8s"
  local kept = k8s.state("kept", { keep = "configmap", init = { n = 0 } })
  local large = k8s.state("large", { keep = "configmap" })
  k8s.main(function()
    print(("read %d %d"):format(kept.n, #(large.text or "")))
    for _ = 1, 5 do
      kept.n = kept.n + 1
      local ok, err = kept:sync()
      print(ok and "stored " .. kept.n or "failed " .. err.reason)
    end
    large.text = ("x"):rep(900000)
    local ok, err = large:sync()
    print(ok and "large" or "failed " .. err.message)
    while kept.n < 100 do
      k8s.sleep "100ms"
      kept.n = kept.n + 1
      local fine, problem = kept:sync()
      if not fine then return print("failed " .. problem.reason) end
      print("later " .. kept.n)
    end
  end)
]]

describe("a state in a ConfigMap of the real API server", function()
  local nobody, api, path

  setup(function()
    nobody = rights.start(script)
    api = nobody.server:api()
    path = MAPS .. "/kubelua-state-" .. nobody.path:match("([^/]+)%.lua$"):lower():gsub("[^%l%d]", "-")
    local json = rights.with_file(nobody:printed(), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    for document in json:gmatch "%b{}" do
      local role = cjson.decode(document)
      nobody:put(role, role.rules)
      nobody:bind(role)
    end
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if not nobody then return end
    pcall(api.delete, api, path)
    pcall(api.delete, api, path .. "-aside-1")
    nobody:stop()
  end)

  local function start()
    return cluster.kubelua {
      "run", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "-f", nobody.path,
    }
  end

  it("survives kill -9, other changes of the ConfigMap, and is not overwritten by others", function()
    local engine = start()
    engine:wait_line("^read 0 0", 60)
    engine:wait_line("^large$", 60)
    api:patch(path, { metadata = { labels = { mine = "yes" } } })
    engine:wait_line("^later 10$", 60)
    engine:kill "KILL"
    engine:wait()
    local stored = tonumber(engine:out():match ".*later (%d+)\n")
    engine = start()
    local n, bytes = engine:wait_line("^read (%d+ %d+)$", 60):match "(%d+) (%d+)"
    assert.is_true(tonumber(n) >= stored, engine:report())
    assert.are.equal(900000, tonumber(bytes))
    assert.are.equal("yes", api:get(path).metadata.labels.mine)
    api:patch(path, { binaryData = { kept = "bm8gc3RhdGU=" } })
    engine:wait_line("^failed Conflict$", 60)
    engine:kill "KILL"
    engine:wait()
    assert.are.equal("bm8gc3RhdGU=", api:get(path).binaryData.kept)
    engine = start()
    engine:wait_line("^read 0 900000$", 60)
    engine:wait_line("^stored 5$", 60)
    assert.has_match("moved aside", engine:err(), 1, true)
    assert.are.equal("bm8gc3RhdGU=", api:get(path .. "-aside-1").binaryData.kept)
  end)
end)
