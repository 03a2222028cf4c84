-- core/net/late: commands that do not use the network load none of its libraries; those that do have each function.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local function run(command)
  local text, code = temp.run(command)
  assert(code == 0, text)
  return text
end

describe("libraries that are opened at first use", function()
  local folder
  before_each(function()
    folder = temp.folder {
      ["rule.lua"] = [[
        local k8s = require "k8s"
        k8s.rule { id = "any", kinds = { "pods" }, check = function(pod, r) r:warn("seen " .. pod.metadata.name) end }
      ]],
      ["pod.yaml"] = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}}",
    }
  end)
  after_each(function() temp.remove(folder) end)

  local function libraries(command)
    return run(("exec 2>&1; LD_DEBUG=libs %s %s"):format(cluster.binary, (command:gsub("@", folder .. "/"))))
  end

  it("are left alone by commands without a network", function()
    for _, command in ipairs { "version", "check -f @rule.lua", "audit -f @rule.lua --from @pod.yaml" } do
      local text = libraries(command)
      assert.has_match("calling init: %S*/libluajit%S*", text)
      for _, name in ipairs { "libcurl", "libcrypto", "libssl", "libmicrohttpd", "libgnutls" } do
        assert.has_no_match(name .. "%.so", text)
      end
    end
  end)

  it("are opened by one that has a server", function()
    local text = libraries "check -f @rule.lua -s http://127.0.0.1:1 || true"
    assert.has_match("calling init: %S*/libcurl%.so", text)
  end)

  it("have each function that is called, and are what a package depends on", function()
    if os.execute "command -v dpkg-architecture >/dev/null" ~= 0 then
      assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", "dpkg-dev is not installed")
      return pending "not a Debian"
    end
    local object = folder .. "/late.so"
    local names = run("deploy/package/late " .. cluster.binary)
    run(("deploy/package/late %s %s"):format(cluster.binary, object))
    local needed = run("objdump -p " .. object)
    for _, library in ipairs { "libcurl", "libcrypto", "libmicrohttpd" } do
      local soname = names:match(library .. "%.so%.%d+")
      assert.has_match("NEEDED%s+" .. soname, needed)
    end
  end)
end)
