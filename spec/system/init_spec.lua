-- `kubelua init`: a folder for scripts that is sound from the beginning.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("kubelua init", function()
  local folder

  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Exit code, stdout, stderr.
  local function init(...)
    local p = cluster.kubelua { "init", ... }
    return p:wait(), p:out(), p:err()
  end

  -- The files below a folder, sorted.
  local function files(where)
    local output = temp.run("cd " .. where .. " && find . -type f | sed 's,^./,,' | LC_ALL=C sort")
    return output
  end

  it("writes a script, its spec, the stubs and the configuration, and names each", function()
    local dir = folder .. "/new"
    local code, out, err = init(dir)
    assert.equal("", err)
    assert.equal(0, code)
    local named = {}
    for path in out:gmatch "wrote (%S+)\n" do named[#named + 1] = path:sub(#dir + 2) end
    table.sort(named)
    assert.equal(files(dir), table.concat(named, "\n") .. "\n")
    for _, path in ipairs { "scripts/hello.lua", "spec/hello_spec.lua", "README.md", ".luarc.json", ".luacheckrc" } do
      assert.equal(temp.read("project/" .. path), temp.read(dir .. "/" .. path))
    end
    for path in io.popen "ls types/*.lua":lines() do assert.equal(temp.read(path), temp.read(dir .. "/" .. path)) end
  end)

  it("writes a recipe with its spec, which passes there, also into a project", function()
    local dir = folder .. "/own"
    assert.equal(0, (init(dir)))
    local code, out, err = init("--recipe", "website", dir)
    assert.same({ 0, "" }, { code, err })
    assert.has_match("wrote " .. dir .. "/scripts/website.yaml\n", out, 1, true)
    assert.has_match("wrote " .. dir .. "/rights/website.yaml\n", out, 1, true)
    assert.equal(temp.read "scripts/recipes/website.lua", temp.read(dir .. "/scripts/website.lua"))
    local binary = cluster.binary:gsub("^[^/]", "$OLDPWD/%0")
    local shown, failed = temp.run("cd " .. dir .. " && " .. binary .. " test scripts")
    assert.equal(0, failed, shown)
    assert.has_match("2 successes", shown, 1, true)
    for _, kind in ipairs { "clusterrole", "role" } do
      local command = "\n  kubectl create %sbinding kubelua-website --%s kubelua-website "
        .. "--serviceaccount kubelua:kubelua"
      assert.has_match(command:format(kind, kind), out, 1, true)
    end
    assert.has_match("kubelua:kubelua %-n default\n$", out)
    code, out, err = init("--recipe", "website", dir)
    assert.same({ 2, "" }, { code, out })
    assert.has_match("4 files already exist", err, 1, true)
    code, out, err = init("--recipe", "websites", dir)
    assert.same({ 2, "" }, { code, out })
    assert.has_match('kubelua init: there is no recipe "websites"; recipes are certificate_expiry, ', err, 1, true)
  end)

  -- The binary under test goes by the name that the lines have.
  local function paste(lines, where)
    temp.run(("mkdir -p %s/bin && ln -sf %s %s/bin/kubelua"):format(folder,
      cluster.binary:find "^/" and cluster.binary or "$PWD/" .. cluster.binary, folder))
    return temp.run(("(cd %s && export PATH=%s/bin:$PATH && set -e\n%s)"):format(where, folder, lines))
  end

  it("prints what to do next, as lines to be pasted, wherever the directory is", function()
    for _, dir in ipairs { folder .. "/plain", folder .. "/it's a folder" } do
      local code, out, err = init(dir)
      assert.equal(0, code, err)
      local lines = out:match "\nNext steps %(see README.md there%):\n(.*)$"
      assert.has_match("  cd ", lines, 1, true)
      local shown, failed = paste(lines, "/")
      assert.equal(0, failed, shown)
      assert.has_match("1 script, 0 errors, 0 warnings", shown, 1, true)
      assert.has_match("1 success / 0 failures", shown, 1, true)
    end
    temp.run("mkdir " .. folder .. "/here")
    local shown, failed = paste("kubelua init .", folder .. "/here")
    assert.equal(0, failed, shown)
    assert.is_nil(shown:find "cd ")
  end)

  it("leaves other files alone, and writes nothing when one of its own is there", function()
    temp.write(folder .. "/notes.txt", "mine\n")
    temp.write(folder .. "/scripts/other.lua", "-- mine\n")
    assert.equal(0, (init(folder)))
    assert.equal("mine\n", temp.read(folder .. "/notes.txt"))
    temp.write(folder .. "/scripts/hello.lua", "-- edited\n")
    os.remove(folder .. "/README.md")
    local code, out, err = init(folder)
    assert.equal(2, code)
    assert.equal("", out)
    local count = select(2, files(folder .. "/types"):gsub("\n", "")) + 4 -- of five others README.md has gone
    assert.has_match(("^kubelua init: %s: %d files already exist: [^\n,]+, [^\n,]+, [^\n,]+ and %d more; "
      .. "nothing was written\n$"):format(folder:gsub("%p", "%%%0"), count, count - 3), err)
    assert.equal("-- edited\n", temp.read(folder .. "/scripts/hello.lua"))
    assert.is_nil(io.open(folder .. "/README.md"))
  end)

  it("names the one file that is in its way", function()
    temp.write(folder .. "/README.md", "mine\n")
    local code, _, err = init(folder)
    assert.equal(2, code)
    assert.equal("kubelua init: " .. folder
      .. ": 1 file already exists: README.md; nothing was written\n", err)
  end)

  it("writes the stubs again by --types", function()
    assert.equal(0, (init(folder)))
    temp.write(folder .. "/types/k8s.lua", "-- of an older kubelua\n")
    temp.write(folder .. "/scripts/hello.lua", "-- edited\n")
    local code, out = init("--types", folder)
    assert.equal(0, code)
    assert.equal(temp.read "types/k8s.lua", temp.read(folder .. "/types/k8s.lua"))
    assert.equal("-- edited\n", temp.read(folder .. "/scripts/hello.lua"))
    assert.is_nil(out:find "hello")
  end)

  it("reports what is wrong with the directory", function()
    local code, _, err = init()
    assert.equal(2, code)
    assert.equal("kubelua init: missing directory; usage: kubelua init DIR\n", err)
    code, _, err = init("a", "b")
    assert.equal(2, code)
    assert.equal("kubelua init: only one directory is allowed\n", err)
    temp.write(folder .. "/file", "")
    code, _, err = init(folder .. "/file")
    assert.equal(2, code)
    assert.equal("kubelua init: " .. folder .. "/file: Not a directory\n", err)
    code, _, err = init(folder .. "/none/deep")
    assert.equal(2, code)
    assert.equal("kubelua init: " .. folder .. "/none/deep: No such file or directory\n", err)
  end)

  it("creates a project that luacheck likes, a check and a spec that pass and a script that runs", function()
    assert.equal(0, (init(folder)))
    local output, code = temp.run("cd " .. folder .. " && luacheck --no-color -q scripts spec")
    assert.equal(0, code, output)
    local check = cluster.kubelua { "check", "-f", folder .. "/scripts" }
    assert.equal(0, check:wait(), check:out())
    assert.equal("", check:out())
    assert.has_match("1 script, 0 errors, 0 warnings; no server was asked", check:err(), 1, true)
    local specs = cluster.kubelua { "test", folder }
    assert.equal(0, specs:wait(), specs:out() .. specs:err())
    assert.has_match("1 success / 0 failures / 0 errors", specs:out(), 1, true)
    local sim = cluster.sim { "--pods", "2" }
    local engine = cluster.run(sim.server, folder .. "/scripts/hello.lua")
    engine:wait_line "^hello %S+/%S+$"
  end)

  it("has luacheck know the globals of scripts, no more and no less", function()
    local std = { stds = {}, files = {} }
    setfenv(assert(loadfile "project/.luacheckrc"), std)()
    local known = {}
    for key, value in pairs(std.stds.kubelua.read_globals) do
      known[type(key) == "number" and value or key] = type(key) == "string" and value.fields or true
    end
    local sim = cluster.sim {}
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.main(function()
        for name in pairs(_G) do print(name) end
        for name in pairs(os) do print("os." .. name) end
      end)
    ]]
    local engine = cluster.kubelua { "exec", script, "-s", sim.server }
    assert.equal(0, engine:wait())
    local there = {}
    for name in engine:out():gmatch "[^\n]+" do there[#there + 1] = name end
    table.sort(there)
    local wanted = {}
    for name, fields in pairs(known) do
      wanted[#wanted + 1] = name
      for _, field in ipairs(fields ~= true and fields or {}) do wanted[#wanted + 1] = name .. "." .. field end
    end
    table.sort(wanted)
    assert.same(there, wanted)
  end)
end)
