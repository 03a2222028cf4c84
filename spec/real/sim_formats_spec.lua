-- Formats of texts in the schema of a CustomResourceDefinition: the simulator and a real server take and refuse the
-- same, with the same words.
local cjson = require "cjson"
local await = require "spec.support.await"
local both_servers = require "spec.support.both_servers"
local crds = require "spec.support.crds"

local DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
local GROUP = "formats.example.com"

local uuid = "a7bcd0ef-%s123-%s456-89ab-0123456789ab"

-- Texts that are tried of each format, besides the texts of all others.
local texts = {
  bsonobjectid = { "507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901g", "507f1f77bcf86cd7994390" },
  uri = { "http://a.b/c?d#e", "mailto:a@b", "/a/b", "a/b", "*", "http://a:b/", "http://a:1:2/", "pg://a:1,b:2/",
    "http://[::1]:80/", "http://[::1", "http://[1.2.3.4]/", "http://[fe80::1%25en0]/", "http://a b/", "http://a#b",
    "http://u:p@h/", "http://u p@h/", "/%zz", "/%20", "http://%41/", "http://%e4/", ":a", "1:a", "a:", "//a b",
    "http://x]/", "http://a\"b/", "/a?%zz", "HTTP://a:80x/" },
  email = { "a@b", "a.b@c.d", "a..b@c", ".a@b", "a@b.", "A <a@b>", "A B <a@b>", "\"a b\"@c", "\"\"@c", "a@[1.2.3.4]",
    "a@[x]", "a@b (c)", "a@b (c", "<a@b>", "<a@b", "a", "a b@c", "x: a@b;", "x: ;", "x: a@b, c@d;", " a@b ", "a@ b",
    "ü@b.c", "\"a\\\"b\"@c", "a@b, c@d", "A. B. <a@b>", "(c) a@b", "a@b(c)(d)" },
  hostname = { "a", "a-", "-a", "a-b", "a-b-c", "a.b", "a.bc", "a_b", "a.b-c", "a.1c", "a--b.cd", "ä.de", "a.dé", "$a",
    "a.b.", ".a", "", "a b", ("a"):rep(63), ("a"):rep(64), ("a"):rep(63) .. ".com", ("a"):rep(64) .. ".com", "😀.de",
    "1.com", "a.c", ("ab."):rep(85) .. "com" },
  ipv4 = { "1.2.3.4", "01.2.3.4", "1.2.3", "1.2.3.256", "::ffff:1.2.3.4", "1.2.3.4/8" },
  ipv6 = { "::", "::1", "1::2::3", "::ffff:1.2.3.4", "::ffff:01.2.3.4", "fe80::1%eth0", "12345::" },
  cidr = { "1.2.3.0/24", "1.2.3.4/024", "1.2.3.0/33", "01.2.3.0/8", "::/0", "::/129", "1.2.3.4", "/8", "1.2.3.4/-1" },
  mac = { "01:23:45:67:89:ab", "01-23-45-67-89-AB", "01:23-45:67:89:ab", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef",
    "01:23:45:67:89", "0123456789ab", "0123456789abc",
    "01:23:45:67:89:ag", "0123.4567.89ab.cdef", "0123.4567", ("01:"):rep(19) .. "01" },
  uuid = { uuid:format("1", "8"), uuid:format("1", "8"):upper(), (uuid:format("1", "8"):gsub("-", "")), "a7bcd0ef" },
  uuid3 = { uuid:format("3", "0"), uuid:format("4", "0") },
  uuid4 = { uuid:format("4", "8"), uuid:format("4", "B"), uuid:format("4", "c") },
  uuid5 = { uuid:format("5", "9"), uuid:format("5", "0") },
  isbn = { "0321751043", "978-0321751041", "3 401 01319 X", "978 3 8362 2119 0", "0321751044" },
  isbn10 = { "1-61729-085-8", "3423214121" },
  isbn13 = { "978-3-8362-2119-1", "01234567890ab" },
  creditcard = { "4220855426222389", "4220-8554-2622-2389", "4220855426213389", "374953669708156", "6011464355444102",
    "3548209662790989", "30190239451016", "5139288802098206", "", "4222222222222" },
  ssn = { "191 60 2869", "191-60-2869", "191602869", "00-90-8787" },
  hexcolor = { "#fff", "CCccCC", "#ff", "#ff12FG" },
  rgbcolor = { "rgb(0,31,255)", "rgb( 0,  31, 255 )", "rgb(01,31,255)", "rgb(1,2,256)", "rgb(1,2)", "rgb(1,2,3,4)" },
  byte = { "YQ==", "YWI=", "YWJj", "YWJ", "YQ=", "Y-_j", "=" },
  password = { "", "x" },
  date = { "2026-01-31", "2026-02-30", "2026-1-31", "0000-01-01", "2026-01-31 " },
  duration = { "1h", "1.5h", "1 day", "2 weeks", "22 ns", "5 minutes", "5", "x", "1fortnight", "1µs", "3 Hours", "-1s",
    "99999999999999999999 days", "9223372036854775807 days", "9223372036854775808 days", "0009223372036854775807 w",
    "9223372036854775808ns", "2562047h47m16.854775808s", "1 d", "5 months" },
  ["date-time"] = { "2026-01-31T12:30:59Z", "2026-01-31t12:30:59.5z", "2026-01-31T12:30:59", "2026-01-31T24:00:00Z",
    "2026-02-30T00:00:00Z", "2026-01-31T12:30:59+01:00", "2026-01-31T12:30:59x5Z", "2026-01-31T12:30:60Z" },
  ["k8s-short-name"] = { "a-b", "a.b", "A", ("a"):rep(64) },
  ["k8s-long-name"] = { "a.b", "a..b", ("a"):rep(254) },
  ["u-uid"] = {},
}

describe("formats", function()
  local both = both_servers.begin(setup, teardown)
  local path = crds.objects("forms", GROUP)

  local function define()
    local body, properties = crds.of("forms", GROUP), {}
    for format in pairs(texts) do properties[format] = { type = "string", format = format } end
    body.spec.versions[1].schema.openAPIV3Schema = { type = "object", properties = { spec = { type = "object",
      properties = properties } } }
    for _, api in ipairs { both.real:api(), both.sim.api } do
      api:create(DEFINITIONS, cjson.encode(body))
      await(function() return api:curl("GET", path) == 200 end, "the definition", 30)
    end
  end

  -- The messages of the causes, by their fields, of an object that has the text in each of its fields.
  local function problems(api, text)
    local spec, found = {}, {}
    for format in pairs(texts) do spec[format] = text end
    local body = (cjson.encode { apiVersion = GROUP .. "/v1", kind = "Form", metadata = { name = "a" }, spec = spec })
    local code, answer = api:curl("POST", path .. "?dryRun=All", (body:gsub("\\/", "/")))
    for _, cause in ipairs(code == 422 and cjson.decode(answer).details.causes or {}) do
      found[cause.field] = cause.reason .. " " .. cause.message
    end
    return found
  end

  it("of texts are those of a real server", function()
    define()
    local all, wrong, refused, taken = {}, {}, 0, 0
    for _, own in pairs(texts) do
      for _, text in ipairs(own) do all[text] = true end
    end
    for text in pairs(all) do
      local real, sim = problems(both.real:api(), text), problems(both.sim.api, text)
      for format in pairs(texts) do
        local field = "spec." .. format
        if real[field] ~= sim[field] then
          wrong[#wrong + 1] = ("%s %q: %s, not %s"):format(format, text, sim[field] or "taken", real[field] or "taken")
        end
        if real[field] then refused = refused + 1 else taken = taken + 1 end
      end
    end
    assert.are.equal("", table.concat(wrong, "\n"))
    assert.is_true(refused > 3000 and taken > 400, refused .. " " .. taken)
  end)
end)
