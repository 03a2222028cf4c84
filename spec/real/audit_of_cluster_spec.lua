-- `kubelua audit` of the real API server: what no rule uses comes page by page, and a page comes again where a rule
-- reads more than its code says.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local PAGES_OF_500 = 1200

local rule = [[
require("k8s").rule { id = "data", kinds = { "configmaps" }, check = function(obj, r)
  local data = obj["da" .. "ta"]
  if data and data.a then r:warn(data.a .. tostring(obj.metadata.labels)) end
end }
]]

describe("on the real API server an audit", function()
  local server, folder

  setup(function()
    server, folder = apiserver.start(), temp.folder()
    local items = {}
    for i = 1, PAGES_OF_500 do
      items[i] = {
        apiVersion = "v1", kind = "ConfigMap", data = { a = "v" .. i },
        metadata = { name = "c" .. i, namespace = "default", labels = { n = "n" .. i } },
      }
    end
    temp.write(folder .. "/list.json", cjson.encode { apiVersion = "v1", kind = "List", items = items })
    temp.write(folder .. "/rule.lua", rule)
    assert.matches("c1200 created", server:kubectl("create -f " .. folder .. "/list.json"), 1, true)
  end)
  teardown(function()
    cluster.stop_all()
    server:stop()
    temp.remove(folder)
  end)

  it("audits each object of all pages once, as it is", function()
    local p = cluster.kubelua { "audit", "--kubeconfig", server.kubeconfig, "-f", folder .. "/rule.lua", "-o", "json" }
    local code = p:wait(60)
    assert.are.same({ 0, "" }, { code, p.streams.err.text })
    local told, count = {}, 0
    for _, row in ipairs(cjson.decode(p.streams.out.text).results) do
      told[row.name] = row.message
      count = count + 1
    end
    assert.are.equal(PAGES_OF_500, count)
    for i = 1, PAGES_OF_500 do assert.are.equal(('v%d{"n":"n%d"}'):format(i, i), told["c" .. i]) end
  end)
end)
