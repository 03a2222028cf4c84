-- k8s.regex: what it finds, and how it ends.
local k8s = require "k8s"

local function raised(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err)
end

local function all(regex, text)
  local list = {}
  for a, b in k8s.regex(regex):gmatch(text) do list[#list + 1] = b == nil and a or { a, b } end
  return list
end

describe("k8s.regex", function()
  it("finds and matches as the functions of strings do", function()
    local version = k8s.regex [[^v(\d+)\.(\d+)(-\w+)?$]]
    assert.same({ "1", "36", false }, { version:match "v1.36" })
    assert.same({ "1", "36", "-rc" }, { version:match "v1.36-rc" })
    assert.is_nil(version:match "1.36")
    assert.same({ 1, 5, "1", "36", false }, { version:find "v1.36" })
    assert.same({ nil }, { version:find "x" })
    local word = k8s.regex "[a-z]+"
    assert.equal("one", word:match "12 one two")
    assert.equal("two", word:match("one two", 4))
    assert.equal("wo", word:match("one two", -2))
    assert.is_nil(word:match("one", 9))
    assert.same({ 3, 2 }, { k8s.regex "x*":find("ab", 3) })
    assert.equal("(?i)oom|evicted", tostring(k8s.regex "(?i)oom|evicted"):match "^regex (.*)$")
    assert.equal("OOM", k8s.regex "(?i)oom|evicted":match "killed by OOM")
    assert.equal("a\0b", k8s.regex "a.b":match "xa\0bx")
  end)

  it("walks over all matches", function()
    assert.same({ "1", "22", "333" }, all([[\d+]], "1 22 333"))
    assert.same({ { "a", "1" }, { "b", "2" } }, all([[(\w)=(\d)]], "a=1,b=2"))
    assert.same({ { false, "2" }, { "a", false } }, all("(a)|(2)", "2a"))
    assert.same({ "", "b", "" }, all("b?", "ab"))
    assert.same({}, all("x", "ab"))
  end)

  it("replaces by a text, a table and a function", function()
    local pair = k8s.regex [[(\w+)=(\w+)]]
    assert.same({ "b=a d=c", 2 }, { pair:gsub("a=b c=d", "%2=%1") })
    assert.same({ "<a=b> c=d", 1 }, { pair:gsub("a=b c=d", "<%0>", 1) })
    assert.equal("100%", (k8s.regex "n":gsub("n", "100%%")))
    assert.equal("[n]", (k8s.regex "n":gsub("n", "[%1]")))
    assert.equal("A b", (k8s.regex [[\w]]:gsub("a b", { a = "A" })))
    assert.equal("b-a c=d", (pair:gsub("a=b c=d", function(a, b) return a == "a" and b .. "-" .. a end)))
    assert.equal("-a-b-", (k8s.regex "x*":gsub("ab", "-")))
    assert.has_match('regex:gsub: "%3" in the replacement is no capture', raised(pair.gsub, pair, "a=b", "%3"), 1, true)
    assert.has_match("the replacement must be a string, not boolean",
      raised(pair.gsub, pair, "a=b", function() return true end), 1, true)
  end)

  it("reads UTF-8 by characters, and other texts by bytes", function()
    assert.equal("\195\164", k8s.regex "^.":match "\195\164b")
    assert.equal("\195\164", k8s.regex [[\w]]:match "\195\164b")
    assert.equal("b", k8s.regex ".":match("\195\164b", 2)) -- within a character
    assert.equal("err", k8s.regex "e.r":match "\255\254 err \192")
    assert.equal("\255", k8s.regex "^.":match "\255")
    assert.same({ "a", "b" }, all("[ab]", "a\255b"))
    assert.has_match("the text is not UTF-8, and the pattern cannot be searched for by bytes",
      raised(k8s.regex([[\x{263a}]]).match, k8s.regex [[\x{263a}]], "\255"), 1, true)
  end)

  it("names what is wrong with a pattern", function()
    assert.has_match('k8s.regex: "a(": missing closing parenthesis at offset 2', raised(k8s.regex, "a("), 1, true)
    assert.has_match("k8s.regex: ", raised(k8s.regex, "\255"), 1, true)
    assert.has_match("at offset", raised(k8s.regex, [[\C]]), 1, true)
    assert.has_match("a pattern exceeds 4096 bytes", raised(k8s.regex, ("a"):rep(4097)), 1, true)
    assert.has_match("a pattern exceeds 32 captures", raised(k8s.regex, ("(a)"):rep(33)), 1, true)
    assert.has_match("k8s.regex: ", raised(k8s.regex, ("(?:"):rep(1000) .. "a" .. (")"):rep(1000)), 1, true)
    assert.has_match("k8s.regex: pattern must be a string, not number", raised(k8s.regex, 5), 1, true)
    local one = k8s.regex "a"
    assert.has_match("regex:match: text must be a string, not nil", raised(one.match, one), 1, true)
    assert.has_match("regex:match: init must be a number, not string", raised(one.match, one, "a", "b"), 1, true)
    assert.has_match("regex:find: init must be a number, not table", raised(one.find, one, "a", {}), 1, true)
    assert.has_match("regex:gsub", raised(k8s.regex("a").gsub, "a", "b", "c"), 1, true)
  end)

  it("ends a search that would take for ever, and goes on after it", function()
    local slow = k8s.regex "(a+)+$"
    local text = ("a"):rep(40) .. "b"
    local why = raised(slow.match, slow, text)
    assert.has_match('regex:match: "(a+)+$": the search exceeds 10000000 steps', why, 1, true)
    assert.equal("aa", slow:match "aa")
    local deep = k8s.regex "^(?:a|b)*$"
    why = raised(deep.match, deep, ("ab"):rep(1000000) .. "c")
    assert.has_match("the search exceeds 16 MiB of memory", why, 1, true)
    local again = k8s.regex "^(a(?1)?b)$"
    assert.equal("aabb", again:match "aabb")
  end)
end)
