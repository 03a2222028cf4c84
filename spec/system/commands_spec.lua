-- The command line itself: commands, help, version, and what is wrong with arguments (exit code 2, one line).
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

describe("the command line", function()
  after_each(cluster.stop_all)

  -- Exit code, stdout, stderr.
  local function run(...)
    local p = cluster.kubelua { ... }
    local code = p:wait()
    return code, p:out(), p:err()
  end

  it("prints its version as text and as JSON", function()
    local code, text = run "version"
    assert.are.equal(0, code)
    local version = text:match "^kubelua v(%d+%.%d+%.%d+) %(%x+[%w%-]*%)\n$"
    assert.are.equal(text, select(2, run "--version"))
    assert.has_match("Print the version of kubelua.", select(2, run("--version", "--help")), 1, true)
    for _, flags in ipairs { { "-o", "json" }, { "--output=json" }, { "-ojson" } } do
      local _, json = run("version", unpack(flags))
      local decoded = require("cjson").decode(json)
      assert.are.equal(version, decoded.version)
      assert.truthy(decoded.commit:gsub("%-dirty$", ""):find "^%x*$", json) -- empty when built without a clone
    end
  end)

  it("wraps the help of flags at 80 columns where there is no terminal", function()
    local _, text = run("run", "--help")
    local flags = assert(text:match "\nFlags:\n(.*)")
    for line in flags:gmatch "[^\n]+" do
      if line:find "^ " then assert.is_true(#line <= 80, line) end
    end
    assert.has_match("\n +%(repeatable%)\n", flags)
  end)

  it("names the rules that ship to who audits without rules", function()
    local said = "kubelua audit: no rules given; use -f FILE, -f DIR, or -f builtin: for those that ship\n"
    assert.are.same({ 2, "", said }, { run("audit", "--from", "x.yaml") })
  end)

  it("has a help for each command that the overview names", function()
    local code, overview = run "help"
    assert.are.equal(0, code)
    local count = 0
    for name in overview:match("[^\n]*COMMAND[^\n]*\n(.*)"):gmatch "\n  (%l+) " do
      if name ~= "help" then
        local by_command, by_flag = { run("help", name) }, { run(name, "--help") }
        assert.are.same(by_command, by_flag)
        assert.are.equal(0, by_command[1])
        assert.has_match("kubelua " .. name, by_command[2], 1, true)
        count = count + 1
      end
    end
    assert.is_true(count >= 4)
  end)

  it("prints the overview for the help of help", function()
    local overview = { run "help" }
    assert.are.same(overview, { run("help", "help") })
    assert.are.same(overview, { run("help", "--help") })
    assert.are.same(overview, { run "-h" })
  end)

  it("lists flags in two columns", function()
    for _, name in ipairs { "run", "exec", "rbac", "sim", "status" } do
      local _, help = run("help", name)
      for line in help:gmatch "[^\n]+" do
        local alone = line:match "^  [ -].[ ,] %-%-%S+ ?%S*$" -- its help is the next line
        if line:match "^  [ -].[ ,] %-%-" and not alone then assert.has_match("^ %S", line:sub(39), nil, line) end
      end
    end
  end)

  -- A whole block goes past the buffer of stdio, which then has nothing left that could fail.
  for words, code in pairs {
    ["rbac -f spec/support/scripts/many_namespaces.lua"] = 3,
    ["audit -f scripts/rules --list-rules -o json"] = 2,
    ["audit -f scripts/rules --list-rules"] = 2,
  } do
    it("fails when its output is lost: " .. words, function()
      local p = proc.spawn { "sh", "-c", ('"$0" %s >/dev/full'):format(words), cluster.binary }
      assert.are.equal(code, p:wait(), p:err())
      assert.has_match("stdout: cannot be written\n$", p:err())
    end)
  end

  it("points from the directory of a project to its scripts, whichever command it was given to", function()
    for _, name in ipairs { "run", "check", "rbac", "plan" } do
      local code, out, err = run(name, "-f", ".")
      assert.are.equal(2, code, name)
      assert.are.equal("", out)
      assert.has_match("no scripts (*.lua) in this directory; there are some in scripts\n", err, 1, true)
    end
  end)

  it("names what it does not know, in one line", function()
    for wanted, words in pairs {
      ['unknown command "rnu", did you mean "run"? run "kubelua help" for a list'] = { "rnu" },
      ['unknown command "statsu", did you mean "status"?'] = { "statsu" },
      ['unknown command "hlep", did you mean "help"? run "kubelua help" for a list'] = { "hlep" },
      ['unknown command "x"; run "kubelua help" for a list'] = { "x" },
      ["--kube-api-qps must be 0 or more, not -3"] = { "run", "--kube-api-qps", "-3" },
      ['--kube-api-qps: "-x" is not a number'] = { "run", "--kube-api-qps", "-x" },
      ["did you mean --log-format?"] = { "run", "--lgo-format", "json" },
      ['"yaml" is not json'] = { "version", "-o", "yaml" },
      ['unexpected argument "x"'] = { "version", "x" },
      ["no script"] = { "run" },
      ['exec runs one script; unexpected argument "b"'] = { "exec", "a", "b" },
      ["/nothing: No such file or directory"] = { "run", "-f", "/nothing" },
      ['--namespace: "team-*" is not a valid namespace name'] = { "exec", "a", "-n", "team-*" },
      ['unknown command "exit"; run "kubelua help" for a list'] = { "exit" },
      ['unknown command "bnch", did you mean "bench"?'] = { "help", "bnch" },
      ['kubelua help: unexpected argument "x"'] = { "help", "bench", "x" },
      ['kubelua help: unexpected argument "sim"'] = { "help", "help", "sim" },
    } do
      local code, out, err = run(unpack(words))
      assert.are.equal(2, code)
      assert.are.equal("", out)
      assert.has_match(wanted, err, 1, true)
      assert.has_match("^[^\n]+\n$", err)
    end
  end)
end)
