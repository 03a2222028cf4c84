-- `kubelua audit` of what is no input: a clear error with file and line, exit code 2, little memory; and what it takes
-- to read much of what is one (E-10).
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local MiB = 2 ^ 20
-- The sanitizers' own memory is not ours.
local is_measured = (os.getenv "KUBELUA_PRESET" or "release") == "release"
-- They are slow besides: much is a tenth of it then.
local less = is_measured and 1 or 10

local rule = [[
require("k8s").rule { id = "image", title = "Image", kinds = { "pods" }, check = function(obj, r)
  for _, container in ipairs(obj.spec.containers) do
    if not container.image:find(":", 1, true) then r:fail("no tag") end
  end
end }
]]

local pod = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"n"},"spec":{"containers":'
  .. '[{"name":"c","image":"app:1","env":[{"name":"A","value":"%s"}]}]}}'

local place

local function rules() return place.path .. "/rule.lua" end

-- The exit code, stderr without the folder, and the most that was resident: nothing takes longer than a minute.
local function audit(file)
  local p = cluster.kubelua { "audit", "-f", rules(), "--from", file }
  local code = p:wait(60)
  return code, (p.streams.err.text:gsub(place.path:gsub("%p", "%%%0") .. "/", "")), p.most_rss
end

-- A file with what a command prints.
local function made(name, command)
  local path = place.path .. "/" .. name
  local out, code = temp.run("{ " .. command .. "; } > " .. path)
  assert.are.equal(0, code, out)
  return path
end

local function written(name, text)
  place:write(name, text)
  return place.path .. "/" .. name
end

local function assert_told(expected, code, err, most)
  assert.are.equal(2, code, err)
  assert.matches(expected, err, 1, true)
  if is_measured then assert.is_true(most < 300 * MiB, ("%d MiB"):format(most / MiB)) end
end

local function assert_refused(path, expected) assert_told(expected, audit(path)) end

-- The same of what a command prints, on stdin: gigabytes of it need no disk.
local function assert_refused_of(command, expected)
  local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
  local p = proc.spawn { "bash", "-c", ("exec %s audit -f %s --from - < <(%s)"):format(binary, rules(), command) }
  local code = p:wait(60)
  assert_told(expected, code, p.streams.err.text, p.most_rss)
end

local function filled(mebibytes, character)
  return ("head -c %dM /dev/zero | tr '\\0' '%s'"):format(mebibytes / less, character)
end

local function bomb()
  local lines = { "a0: &a0 [x, x, x, x, x, x, x, x, x, x]" }
  for i = 1, 9 do lines[#lines + 1] = ("a%d: &a%d [%s]"):format(i, i, ("*a" .. i - 1 .. ", "):rep(10)) end
  return table.concat(lines, "\n")
end

-- A million aliases of the first of 10,000 anchors.
local function aliases()
  local anchors = {}
  for i = 1, 10000 do anchors[i] = ("&a%d x"):format(i) end
  return "kind: Pod\na: [" .. table.concat(anchors, ", ") .. "]\nb: [" .. ("*a1, "):rep(10 ^ 6 / less) .. "]\n"
end

-- 200,000 merges into a map of 4 MB.
local function merges()
  return "e: &e {}\nx:\n  big: " .. ("x"):rep(4 * 10 ^ 6) .. "\n" .. ("  <<: *e\n"):rep(2 * 10 ^ 5 / less)
end

describe("kubelua audit of garbage", function()
  setup(function()
    place = checks.new "audit"
    place:write("rule.lua", rule)
  end)
  teardown(function() place:remove() end)

  it("reports where a text ends too early", function()
    local whole = pod:format("a", "b")
    assert_refused(written("pod.json", whole .. "\n" .. whole:sub(1, -20)),
      "pod.json:2: unexpected end of input in the object that starts here")
    assert_refused(written("list.json", '{"apiVersion":"v1","items":[\n' .. whole .. ",\n" .. whole:sub(1, -2)),
      "list.json:3: unexpected end of input in the object that starts here")
    assert_refused(written("pod.yaml", "kind: Pod\napiVersion: v1\nmetadata: {name: a"),
      "pod.yaml:4: invalid YAML: did not find expected ',' or '}'")
    local packed = made("pods.json.gz", ("printf '%s' | gzip | head -c 60"):format(whole:rep(50, "\n")))
    assert_refused(packed, "unexpected end of gzip data")
  end)

  it("reports an object that is not one of Kubernetes", function()
    local refused = {
      ["kind.json"] = { '\n{"apiVersion":"v1","metadata":{"name":"a"}}', ":2: a: missing kind" },
      ["version.json"] = { '{"kind":"Pod","metadata":{"name":"a"}}', ":1: Pod a: missing apiVersion" },
      ["boolean.yaml"] = { "kind: Pod\napiVersion: v1\nmetadata: { name: y }\n",
        ":1: Pod: metadata.name is a boolean, not a string: quote it" },
      ["number.yaml"] = { "kind: Pod\napiVersion: v1\nmetadata: { name: 123 }\n",
        ":1: Pod: metadata.name is a number, not a string: quote it" },
      ["map.yaml"] = { "kind: Pod\napiVersion: v1\nmetadata: foo\n", ":1: Pod: metadata is a string, not a map" },
      ["name.yaml"] = { "kind: Pod\napiVersion: v1\nmetadata: {}\n", ":1: Pod: missing metadata.name" },
      ["items.json"] = { '{"kind":"List","apiVersion":"v1","items":{}}', ":1: List: items is not an array" },
      ["numbers.json"] = { "[1, 2]", ":1: not an object" },
      ["values.yaml"] = { "replicas: 1\nimage: x\n", ":1: missing apiVersion" },
      ["text.yaml"] = { "a text\n", ":1: neither an object nor a list of them" },
      ["nul.json"] = { '{"kind":\0}', "nul.json:1: " },
      ["utf8.json"] = { pod:format("a", "\xff"), "utf8.json:1: invalid JSON: bytes that are not UTF-8" },
      ["huge.json"] = { '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":' .. ("9"):rep(400) .. "}}",
        "huge.json:1: invalid JSON: a number is malformed or out of range" },
      ["deep.json"] = { '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"n":' .. ("["):rep(100000)
        .. ("]"):rep(100000) .. "}", "deep.json:1: invalid JSON: nested too deeply" },
    }
    for name, case in pairs(refused) do assert_refused(written(name, case[1]), case[2]) end
  end)

  it("finds the items of a list with escapes in the names of its fields", function()
    local items = '"i\\u0074ems":[{"metadata":{"name":"hidden"},"spec":{"containers":[{"image":"app"}]}}]'
    for _, text in ipairs {
      '{"kind":"PodList","apiVersion":"v1",' .. items .. "}",
      "{" .. items .. ',"\\u006bind":"PodList","apiVersion":"v1"}',
    } do
      local p = cluster.kubelua { "audit", "-f", rules(), "--from", written("escaped.json", text) }
      assert.are.equal(1, p:wait(60), p:report())
      assert.has_match("hidden", p:out(), 1, true)
    end
  end)

  it("is not misled by bytes", function()
    local bytes = {}
    for i = 0, 255 do bytes[i + 1] = string.char(i) end
    assert_refused(written("binary", table.concat(bytes):rep(1000)), "binary:1: neither JSON nor YAML")
    assert_refused(written("zstd", "\x28\xb5\x2f\xfd" .. ("\x55"):rep(1000)), "zstd:1: byte ")
  end)

  it("gets no larger by aliases, and ends where they go in circles", function()
    assert_refused(written("bomb.yaml", bomb()), "bomb.yaml:7: object exceeds 8388608 bytes")
    assert_refused(written("circle.yaml", "a: &a\n  b: *a\n"), "circle.yaml:2: alias inside its own anchor")
  end)

  it("takes no longer by aliases and merges", function()
    assert_refused(written("aliases.yaml", aliases()), "aliases.yaml:1: Pod: missing apiVersion")
    assert_refused(written("merges.yaml", merges()),
      "merges.yaml:6: merged content (<<) exceeds 8388608 bytes (--max-object-size)")
  end)

  it("gets no larger by a gigabyte of blanks, wherever it stands", function()
    assert_refused_of(filled(1024, " "), "stdin:1: no object in 64 MiB")
    assert_refused_of("printf '{\"a\":'; " .. filled(200, " "), "stdin:1: unexpected end of input")
  end)

  it("gets no larger by texts without an end", function()
    assert_refused_of("printf '{\"a\":\"'; " .. filled(400, "x"), "stdin:1: unexpected end of input")
    assert_refused_of(filled(400, "["), "stdin:1: unexpected end of input")
    assert_refused_of(filled(400, "x"), "stdin:1: document exceeds 8388608 bytes")
    assert_refused_of(("yes 'a: [' | head -c %dM"):format(100 / less), "stdin:51: nested deeper than 100")
    local member = made("member.gz", filled(100, "x") .. " | gzip -1")
    assert_refused_of("for i in {1..10}; do cat " .. member .. "; done",
      "stdin:1: document exceeds 8388608 bytes")
  end)
end)

describe("kubelua audit of much", function()
  setup(function()
    place = checks.new "audit"
    place:write("rule.lua", rule)
  end)
  teardown(function() place:remove() end)

  it("ends for a device that never does", function()
    assert_refused("/dev/zero", "/dev/zero:1: no object in 64 MiB")
  end)

  it("reads no more than --max-input-size", function()
    local file = made("pods.json", ("yes '%s' | head -n 2000"):format(pod:format("web", "x")))
    local p = cluster.kubelua { "audit", "-f", rules(), "--from", file, "--max-input-size", "100Ki" }
    assert.are.equal(2, p:wait(60))
    assert.matches("input exceeds 102400 bytes (--max-input-size)", p.streams.err.text, 1, true)
    assert.are.equal(0, cluster.kubelua({ "audit", "-f", rules(), "--from", file, "--max-input-size", "1Mi" }):wait(60))
  end)

  -- What is resident when `count` pods of 800 bytes have been read, in a List over many lines, or a line for each.
  local function most_after(count, is_list)
    local p = cluster.kubelua { "audit", "-f", rules(), "--from", "-" }
    local object = pod:format("web", ("x"):rep(800)):gsub(",", is_list and ",\n" or ",")
    if is_list then p:write '{"apiVersion":"v1","items":[\n' end
    for i = 1, count do
      p:write((object:gsub("web", "web-" .. i)) .. (is_list and i < count and ",\n" or "\n"))
    end
    local most = p:peak_rss()
    if is_list then p:write '],"kind":"List"}' end
    p:close_input()
    assert.are.equal(0, p:wait(60))
    assert.matches(("%d objects"):format(count), p.streams.out.text, 1, true)
    return most
  end

  for _, is_list in ipairs { true, false } do
    it("takes the same memory for ten times as much " .. (is_list and "in a List" or "in lines"), function()
      local few, many = most_after(10000 / less, is_list), most_after(100000 / less, is_list)
      if not is_measured then return end
      assert.is_true(many < 150 * MiB, ("%d MiB"):format(many / MiB))
      assert.is_true(many < few * 1.2, ("%.1f and %.1f MiB"):format(few / MiB, many / MiB))
    end)
  end
end)
