-- `kubelua sim`: large lists in every form begin at once, and take no more memory than one in JSON.
local cluster = require "spec.support.cluster"
local protobuf = require "spec.support.protobuf"
local temp = require "spec.support.temp"

local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"
local PODS = sanitized and 2000 or 20000
local AS = ";as=%s;g=meta.k8s.io;v=v1"
local TABLE, PARTIAL = AS:format "Table", AS:format "PartialObjectMetadataList"

local forms = {
  "application/json", "application/json" .. TABLE, "application/json" .. PARTIAL, "application/yaml",
  "application/yaml" .. TABLE, "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf" .. PARTIAL,
}

describe("a large list of the simulated server #threads", function()
  local sim
  setup(function() sim = cluster.sim { "--pods", tostring(PODS) } end)
  teardown(cluster.stop_all)

  -- The output of a shell that asks for a list with that header.
  local function get(accept, more, behind)
    return temp.run(("curl -sS --max-time 100 -H 'Accept: %s' %s '%s/api/v1/pods' %s"):format(accept, more or "",
      sim.server, behind or ""))
  end

  it("begins in every form before its end is made, and ends with the client", function()
    if sanitized then return pending "sanitizers take more time" end
    for _, accept in ipairs(forms) do
      for _, coding in ipairs { "", "-H 'Accept-Encoding: gzip'" } do
        if accept:find "protobuf" then get(accept, "-o /dev/null") end -- the sizes of its items are known afterwards
        local before = sim:cpu()
        local size = tonumber((get(accept, coding, "2>/dev/null | head -c 300 | wc -c")))
        assert.are.equal(300, size)
        get("application/json", "'" .. sim.server .. "/api/v1/namespaces/default'") -- others are served meanwhile
        local took = sim:cpu() - before
        assert.is_true(took < 0.5, ("%s %s: %.2f s of CPU"):format(accept, coding, took))
      end
    end
  end)

  it("takes the memory of a few objects", function()
    if sanitized then return pending "sanitizers take more memory" end
    for _, accept in ipairs(forms) do
      local yaml = accept:find "yaml"
      sim:forget_peak()
      local before = sim:rss()
      local size = tonumber((get(accept, nil, yaml and "2>/dev/null | head -c 20000000 | wc -c" or "| wc -c")))
      assert.is_true(size >= 20000000)
      local grown = (sim:peak_rss() - before) / 2 ^ 20
      assert.is_true(grown < 32, ("%s: %.0f MB more"):format(accept, grown))
    end
  end)

  it("has all objects of one version, in the length that stands before it", function()
    local bytes = get "application/vnd.kubernetes.protobuf"
    local list = protobuf.one(bytes:sub(5), 2)
    assert.are.equal(PODS, #protobuf.all(list, 2))
    local rows = select(2, get("application/json" .. TABLE):gsub('{"cells":%[', ""))
    assert.are.equal(PODS, rows)
  end)
end)
