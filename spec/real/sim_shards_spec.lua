-- Selectors of shards: the simulator and a real server with the feature select the same, by the same hash, and refuse
-- the same selectors.
local bit = require "bit"
local cjson = require "cjson"
local ffi = require "ffi"
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"

local SPACES, MAPS = "/api/v1/namespaces", "/api/v1/configmaps"

-- FNV-1a of 64 bits.
local function hash(text)
  local sum = 0xcbf29ce484222325ULL
  for i = 1, #text do sum = bit.bxor(sum, ffi.cast("uint64_t", text:byte(i))) * 0x100000001b3ULL end
  return sum
end

local function escaped(text) return (text:gsub("[^%w]", function(c) return ("%%%02X"):format(c:byte()) end)) end

local function range(field, from, to) return ("shardRange(object.metadata.%s, '%s', '%s')"):format(field, from, to) end

local ZERO, MIDDLE, END = "0x0000000000000000", "0x8000000000000000", "0x10000000000000000"

describe("shards", function()
  local real, sim, servers

  setup(function()
    real = apiserver.start { flags = { "--feature-gates=ShardedListAndWatch=true" } }
    sim = cluster.sim { "--shards", "on" }
    servers = { real:api(), sim.api }
    for _, client in ipairs(servers) do
      for i = 1, 8 do
        local space = string.char(96 + i) .. "-space"
        client:create(SPACES, { kind = "Namespace", apiVersion = "v1", metadata = { name = space } })
        client:create(("%s/%s/configmaps"):format(SPACES, space), { kind = "ConfigMap", apiVersion = "v1",
          metadata = { name = "m" .. i, labels = { a = "b" } } })
      end
    end
  end)
  teardown(function()
    cluster.stop_all()
    real:stop()
  end)

  local function list(client, selector, more)
    return client:get(MAPS .. "?labelSelector=a%3Db&shardSelector=" .. escaped(selector) .. (more or ""))
  end

  it("have the objects whose value hashes into their range", function()
    for _, field in ipairs { "uid", "namespace" } do
      for _, client in ipairs(servers) do
        local found = {}
        for _, object in ipairs(list(client, range(field, ZERO, MIDDLE)).items) do
          found[object.metadata.name] = true
        end
        local expected = {}
        for _, object in ipairs(list(client, "").items) do
          if hash(object.metadata[field]) < 0x8000000000000000ULL then expected[object.metadata.name] = true end
        end
        assert.same(expected, found)
      end
    end
  end)

  it("are named in lists as a real server names them", function()
    for _, selector in ipairs { range("uid", ZERO, END), range("namespace", ZERO, MIDDLE), "  shardRange( "
      .. "object.metadata.namespace,'0x0000000000000000',\"0x8000000000000000\" ) || " .. range("namespace", MIDDLE,
      "0xa000000000000000") } do
      local wanted, found = list(servers[1], selector, "&limit=2"), list(servers[2], selector, "&limit=2")
      assert.is_string(wanted.metadata.shardInfo.selector)
      assert.same(wanted.metadata.shardInfo, found.metadata.shardInfo)
      assert.equal(#wanted.items, #found.items)
    end
  end)

  it("are refused as a real server refuses them", function()
    for _, selector in ipairs { "nonsense", range("uid", "0x0", MIDDLE), range("name", ZERO, MIDDLE),
      range("uid", MIDDLE, ZERO), range("uid", MIDDLE, MIDDLE), range("uid", "0xA000000000000000", END),
      range("uid", ZERO, MIDDLE) .. "||" .. range("namespace", ZERO, MIDDLE) } do
      for _, query in ipairs { "?shardSelector=", "?watch=true&timeoutSeconds=1&shardSelector=" } do
        local code, text = servers[1]:curl("GET", MAPS .. query .. escaped(selector))
        local sim_code, sim_text = servers[2]:curl("GET", MAPS .. query .. escaped(selector))
        assert.equal(500, code)
        assert.same({ code, cjson.decode(text) }, { sim_code, cjson.decode(sim_text) })
      end
    end
  end)

  it("select events of watches, and nothing says so where the simulator is told to", function()
    local function watched(client, selector)
      local _, text = client:curl("GET", MAPS .. "?watch=true&timeoutSeconds=1&labelSelector=a%3Db&shardSelector="
        .. escaped(selector))
      local _, count = text:gsub('"type":"ADDED"', "")
      return count
    end
    local half = range("namespace", ZERO, MIDDLE)
    assert.equal(watched(servers[1], half), watched(servers[2], half))
    local shown = #list(servers[2], half).items
    assert.is_true(shown > 0 and shown < 8)
    sim:play { ["do"] = "set", shards = "unsaid" }
    local answer = list(servers[2], half)
    assert.same({ shown }, { #answer.items, answer.metadata.shardInfo })
    sim:play { ["do"] = "set", shards = "off" }
    assert.equal(8, #list(servers[2], half).items)
    assert.equal(8, #list(servers[2], "nonsense").items)
    local code, text = servers[2]:curl("POST", "/sim/scenario", { { ["do"] = "set", shards = "maybe" } })
    assert.same({ 400, true }, { code, text:find("expected off, on or unsaid", 1, true) ~= nil })
  end)
end)
