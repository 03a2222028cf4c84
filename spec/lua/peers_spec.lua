-- What bench/peers/ says of itself: its page names the subjects that are measured, and versions are exact.
local function lines(path)
  local all = {}
  for line in io.lines(path) do all[#all + 1] = line end
  return all
end

describe("bench/peers", function()
  it("lists each subject, with the command that ./dev bench starts it by", function()
    local listed, wanted = {}, {}
    for _, line in ipairs(lines "bench/peers/README.md") do
      local name, command = line:match "^| ([^|`]+) | `([^`]+)` |"
      if name then listed[name] = command end
    end
    for folder in io.popen("ls -d bench/peers/*/"):lines() do
      local file = io.open(folder .. "subjects")
      for line in file and file:lines() or function() end do
        local name, command = line:match "^([^:=]+)[^=]*=(.+)$" -- without its traits
        wanted[name] = command
      end
      if file then file:close() end
    end
    assert.is_truthy(wanted["client-go protobuf"] and wanted["kube-rs typed jemalloc"] and wanted["floor dom"])
    assert.are.same(wanted, listed)
  end)

  it("names exact versions of what kube-rs's peer is made of", function()
    local count, dependencies = 0, false
    for _, line in ipairs(lines "bench/peers/kube-rs/Cargo.toml") do
      if line:sub(1, 1) == "[" then
        dependencies = line == "[dependencies]"
        assert.is_nil(line:find("dependencies.", 1, true), line) -- a table of its own would not be looked at
      elseif dependencies and line:find "^[%w_-]+ =" then
        count = count + 1
        assert.has_match('"=%d+%.%d+%.%d+"', line)
      end
    end
    assert.is_true(count >= 5)
  end)

  it("is of the versions that its page names", function()
    local page = table.concat(lines "bench/peers/README.md", "\n")
    local go = table.concat(lines "bench/peers/go.mod", "\n"):match "k8s%.io/client%-go (v[%d.]+)"
    local rust = table.concat(lines "bench/peers/kube-rs/Cargo.toml", "\n"):match '\nkube = { version = "=([%d.]+)"'
    assert.has_match("client-go " .. go, page, 1, true)
    assert.has_match("kube-rs " .. rust, page, 1, true)
  end)
end)
