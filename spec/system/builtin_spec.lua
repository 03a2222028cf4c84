-- `-f builtin:`: the rules that are installed with the program, in a build tree and where `cmake --install` puts them.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"

-- Exit code, stdout, stderr.
local function run(program, ...)
  local p = proc.spawn { program, ... }
  local code = p:wait()
  return code, p:out(), p:err()
end

describe("-f builtin:", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  it("is all rules that ship, and with a name one file of them", function()
    local code, all = run(binary, "audit", "-f", "builtin:", "--list-rules")
    assert.are.equal(0, code)
    assert.are.equal(select(2, run(binary, "audit", "-f", "scripts/rules", "--list-rules")), all)
    for _, name in ipairs { "builtin:pod-security", "builtin:pod_security" } do
      local ok, one = run(binary, "audit", "-f", name, "--list-rules")
      assert.are.equal(0, ok)
      assert.are.equal(select(2, run(binary, "audit", "-f", "scripts/rules/pod_security.lua", "--list-rules")), one)
    end
  end)

  it("names the nearest file, or all, of an unknown name; a module is none", function()
    local code, _, err = run(binary, "audit", "-f", "builtin:pod-securty", "--list-rules")
    assert.are.equal(2, code)
    assert.are.equal('kubelua audit: builtin:pod-securty: no such rules; did you mean "builtin:pod-security"?\n', err)
    for _, name in ipairs { "zzz", "_pods", "../../README" } do
      code, _, err = run(binary, "check", "-f", "builtin:" .. name)
      assert.are.equal(2, code)
      assert.matches("no such rules; there are: api%-versions, availability, .*, services\n$", err)
    end
  end)

  it("runs, and is compared by plan", function()
    local socket = folder .. "/admin.sock"
    local flags = { "--report=metrics", "--admin-socket", socket }
    local engine = cluster.run(cluster.sim({ "--pods", "1" }).server, "builtin:meta", flags)
    engine:wait_error '"Starting"'
    local p = cluster.kubelua { "plan", "-f", "builtin:meta", "--admin-socket", socket }
    assert.are.equal(0, p:wait(), p:err())
    assert.has_no_match("builtin:meta .*new", p:out())
  end)

  it("is called so wherever a running engine names it", function()
    local socket = folder .. "/admin.sock"
    local engine = cluster.run(cluster.sim({ "--pods", "1" }).server, "builtin:pod-security",
      { "--report=metrics", "--admin-socket", socket })
    engine:wait_error '"Starting"'
    local function ask(...)
      local p = cluster.kubelua { ... }
      p:wait()
      return p:out() .. p:err()
    end
    for _, words in ipairs {
      { "status" }, { "status", "-o", "wide" }, { "status", "-o", "yaml" }, { "top", "--once" },
    } do
      table.insert(words, "--admin-socket")
      table.insert(words, socket)
      assert.has_match("builtin:pod-security", ask(unpack(words)), 1, true)
    end
    local planned = ask("plan", "-f", "builtin:", "--admin-socket", socket)
    assert.has_match("builtin:services", planned, 1, true)
    assert.has_match(" 1 unchanged\n$", planned)
    assert.has_match("builtin:pod-security: ", ask("reload", "builtin:pod-security", "--admin-socket", socket), 1, true)
    assert.has_no_match("rules/pod_security  ", ask("status", "--admin-socket", socket), 1, true)
  end)

  it("is found beside an installed program, and missed with both places", function()
    local install = { "cmake", "--install", binary:match "^(.*)/", "--prefix", folder .. "/usr" }
    assert.are.equal(0, (run(unpack(install))))
    local program = folder .. "/usr/bin/kubelua"
    assert.are.equal(0, (run(program, "audit", "-f", "builtin:", "--list-rules")))
    for _, file in ipairs { "doc/kubelua/examples/watch_pods.lua", "doc/kubelua/README.md", "kubelua/types/k8s.lua" } do
      assert(io.open(folder .. "/usr/share/" .. file), file):close()
    end
    -- kubectl's names for a plugin and for what completes it.
    assert.are.equal(0, (run(folder .. "/usr/bin/kubectl-kubelua", "version")))
    local _, out = run(folder .. "/usr/bin/kubectl_complete-kubelua", "rb")
    assert.matches("^rbac\t[^\n]+\n:4\n$", out)
    temp.remove(folder .. "/usr/share/kubelua")
    local code, _, err = run(program, "audit", "-f", "builtin:host", "--list-rules")
    assert.are.equal(2, code)
    assert.matches("^kubelua audit: builtin:host: no rules are installed with this program: neither ", err)
    assert.matches("/usr/bin/../share/kubelua/rules nor .*/usr/bin/share/kubelua/rules is there\n$", err)
  end)
end)
