-- deploy/package/closure: what an image and a portable archive get has every library that the program needs.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local function output(command)
  local text, code = temp.run(command)
  assert(code == 0, text)
  return text
end

describe("deploy/package/closure", function()
  it("copies all that the program and lua-cjson load", function()
    if os.execute "command -v dpkg-architecture >/dev/null" ~= 0 then
      assert.is_nil(os.getenv "KUBELUA_REQUIRE_REAL", "dpkg-dev is not installed")
      return pending "not a Debian"
    end
    local root = temp.folder {}
    finally(function() temp.remove(root) end)
    output(("install -D %s %s/usr/bin/kubelua && deploy/package/closure %s"):format(cluster.binary, root, root))
    local names, files = {}, {}
    for path in output("find " .. root .. " -type f"):gmatch "%S+" do
      files[#files + 1], names[path:match "[^/]*$"] = path, true
    end
    assert.is_true(names["cjson.so"])
    for name in output("deploy/package/late " .. cluster.binary):gmatch "%S+" do assert.is_true(names[name]) end
    for _, path in ipairs(files) do
      local loads = path:find "%.lua$" and "true " or "objdump -p " -- the parser of luacheck needs none
      for name in output(loads .. path):gmatch "NEEDED%s+(%S+)" do
        assert(names[name], name .. ", which " .. path:match "[^/]*$" .. " needs, is missing")
      end
    end
    assert.is_true(#files > 20)
  end)
end)
