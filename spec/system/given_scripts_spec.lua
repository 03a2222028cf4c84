-- `-f -` and `-f https://...#sha256=HEX`: scripts that are no files, read once at the start.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local SCRIPT = [[
local k8s = require "k8s"
k8s.informer("pods"):on_add(function() error "no" end)
k8s.main(function() print "it runs" end)
]]

local EMPTY = ("0"):rep(64)

-- Exit code, stdout, stderr.
local function run(text, ...)
  local p = cluster.kubelua { ... }
  if text then p:write(text) end
  p:close_input()
  local code = p:wait()
  return code, p:out(), p:err()
end

describe("-f -", function()
  after_each(cluster.stop_all)

  it("runs a script of standard input", function()
    local engine = cluster.run(cluster.sim({ "--pods", "1" }).server, "-")
    engine:write(SCRIPT)
    engine:close_input()
    engine:wait_line "^it runs$"
    engine:wait_error 'Handler failed" script="stdin" handler="pods/1".*stdin:2: no'
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("is what check, rbac and audit take, too", function()
    local code, out = run("local x = (", "check", "-f", "-")
    assert.are.equal(1, code)
    assert.matches("^stdin:1: error: unexpected symbol near '<eof>'\n", out)
    code, out = run(SCRIPT, "rbac", "-f", "-")
    assert.are.equal(0, code)
    assert.has_match("resources: [pods]", out, 1, true)
  end)

  it("is compared by plan", function()
    local socket = temp.name()
    local engine = cluster.run(cluster.sim().server, "-", { "--admin-socket", socket })
    engine:write(SCRIPT)
    engine:close_input()
    engine:wait_line "^it runs$"
    local code, out, err = run(SCRIPT, "plan", "-f", "-", "--admin-socket", socket)
    assert.are.same({ 0, "1 script: 1 unchanged\n", "" }, { code, out, err })
  end)

  it("is refused where it would be read twice", function()
    for expected, arguments in pairs {
      ["kubelua check: -: standard input is given twice\n"] = { "check", "-f", "-", "-f", "-" },
      ["kubelua audit: -f - and --from - are mutually exclusive: both read standard input\n"] =
        { "audit", "-f", "-", "--from", "-" },
    } do
      local code, _, err = run("return", unpack(arguments))
      assert.are.same({ 2, expected }, { code, err })
    end
  end)

  it("is not empty, and has a limit", function()
    local none, _, why = run("", "check", "-f", "-")
    assert.are.same({ 2, "kubelua check: -: standard input is empty\n" }, { none, why })
    local code, _, err = run((" "):rep(2 ^ 24) .. "x", "check", "-f", "-")
    assert.are.same({ 2, "kubelua check: -: standard input exceeds 16 MiB\n" }, { code, err })
  end)
end)

describe("-f https://", function()
  local folder, server, port
  after_each(function()
    cluster.stop_all()
    if server then server:kill() end
    if folder then temp.remove(folder) end
    server, folder = nil, nil
  end)

  local function check(url) return run(nil, "check", "-f", url) end

  it("needs a digest, and shows neither query nor user", function()
    local no_digest = "the URL must end with #sha256= and 64 hexadecimal digits"
    for url, expected in pairs {
      ["https://a.example/b.lua?token=t"] = "https://a.example/b.lua: " .. no_digest,
      ["https://a.example/b.lua#sha256=12"] = "https://a.example/b.lua: " .. no_digest,
      ["https://u:secret@a.example/b.lua#sha256=" .. EMPTY] =
        "https://a.example/b.lua: a URL with a user is not supported",
      ["HTTPS://a.example/b.lua"] = "https://a.example/b.lua: " .. no_digest,
      ["http://a.example/b.lua#sha256=" .. EMPTY] = "-f: scripts are fetched over https:// only",
      ["https://127.0.0.1:1/b.lua?token=t#sha256=" .. EMPTY] =
        "https://127.0.0.1:1/b.lua: connect to 127.0.0.1:1: Connection refused",
    } do
      local code, _, err = check(url)
      assert.are.same({ 2, "kubelua check: " .. expected .. "\n" }, { code, err })
    end
  end)

  -- A server of files that are whole responses.
  local function serve(files)
    folder = temp.folder(files)
    local make = "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 1 -subj /CN=localhost "
      .. "-addext subjectAltName=DNS:localhost 2>/dev/null && cat cert /etc/ssl/certs/ca-certificates.crt >all"
    os.execute(make:format(folder))
    server = proc.spawn { "sh", "-c",
      "cd " .. folder .. " && exec openssl s_server -accept 127.0.0.1:0 -HTTP -cert cert -key key" }
    port = server:wait_line "^ACCEPT [^ ]-:(%d+)"
  end

  -- With the server's certificate among the roots of the system, for which a file system of its own is needed.
  local function check_trusting(path, digest)
    local p = proc.spawn { "unshare", "--mount", "--propagation", "private", "sh", "-c",
      'mount --bind "$1" /etc/ssl/certs/ca-certificates.crt && exec "$2" check -f "$3"', "sh", folder .. "/all",
      cluster.binary, ("https://localhost:%s/%s#sha256=%s"):format(port, path, digest) }
    local code = p:wait()
    return code, p:out(), (p:err():gsub("localhost:%d+", "SERVER"))
  end

  it("runs what a server that is trusted gives, if the digest is right", function()
    if temp.run("id -u"):match "%d+" ~= "0" then return pending "only root can mount files" end
    local said, failed = temp.run "unshare --mount --propagation private true 2>&1" -- a chroot may be no mount point
    assert(failed == 0 or not os.getenv "KUBELUA_REQUIRE_REAL", said) -- CI has mounts
    if failed ~= 0 then return pending(said) end
    local ok = "HTTP/1.0 200 OK\r\n\r\n"
    serve {
      ["a.lua"] = ok .. SCRIPT,
      ["a.lua?token=t"] = ok .. SCRIPT,
      ["big.lua"] = ok .. (" "):rep(2 ^ 20 + 1),
      ["none.lua"] = "HTTP/1.0 404 Not Found\r\n\r\n",
      ["other.lua"] = "HTTP/1.0 302 Found\r\nLocation: https://127.0.0.2/a.lua\r\n\r\n",
      ["same.lua"] = "HTTP/1.0 302 Found\r\nLocation: /a.lua\r\n\r\n",
      ["plain.lua"] = "HTTP/1.0 302 Found\r\nLocation: http://localhost/a.lua\r\n\r\n",
      script = SCRIPT,
    }
    local digest = temp.run("sha256sum <" .. folder .. "/script"):match "^%x+"
    for path, expected in pairs {
      ["a.lua"] = "", ["a.lua?token=t"] = "", ["same.lua"] = "",
      ["big.lua"] = "big.lua: the file exceeds 1048576 bytes",
      ["none.lua"] = "none.lua: the server answered with status 404, not 200",
      ["other.lua"] = "other.lua: the server redirects to another server, which is not followed",
    } do
      local code, out, err = check_trusting(path, digest)
      assert.are.equal(expected == "" and "" or "kubelua check: https://SERVER/" .. expected .. "\n",
        err:match "^kubelua check: .*" or "")
      assert.are.equal(expected == "" and 0 or 2, code, out)
    end
    local _, _, err = check_trusting("a.lua", EMPTY)
    assert.are.equal("kubelua check: https://SERVER/a.lua: the digest is not that of the file, which is sha256="
      .. digest .. "\n", err)
    _, _, err = check_trusting("plain.lua", digest)
    assert.matches("^kubelua check: https://SERVER/plain.lua: the server redirects from https to http\n$", err)
    _, _, err = check("https://localhost:" .. port .. "/a.lua#sha256=" .. digest)
    assert.has_match("SSL certificate problem", err, 1, true)
  end)
end)
