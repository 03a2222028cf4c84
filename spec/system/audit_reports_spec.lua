-- The reports of `kubelua audit`, as readers of others see them: by the schema of SARIF, a library for JUnit, one for
-- YAML, and a browser. What the real API server says of PolicyReports is in spec/real/audit_reports_spec.lua.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local readers = require "spec.support.readers"
local temp = require "spec.support.temp"

-- In names and messages there is what a form may stumble over: markup, quotes, orders for a terminal, a line's end,
-- what XML must not hold, a character that turns the direction.
local evil = "<img src=x onerror=\"document.title='owned'\">&amp;</script>]]>'\27[31m\1\127\194\155\226\128\174\nend"

local rules = [[
local k8s = require "k8s"
k8s.rule {
  id = "image-tag", title = "Images have a tag", severity = "high", category = "images", kinds = { "pods" },
  why = "Nobody knows what runs.", how = "Name a <version>.",
  check = function(obj, r)
    for i, container in ipairs(obj.spec.containers) do
      if not container.image:match(":[^/]*$") then
        local path = "spec.containers[" .. i - 1 .. "].image"
        r:fail("image " .. container.image .. " has no tag", { path = path, value = container.image })
      end
    end
  end,
}
k8s.rule {
  id = "labels", title = "Objects have an owner", severity = "low", kinds = { "pods", "nodes" },
  skip = function(obj) return obj.metadata.name == "db" and "not ours" end,
  check = function(obj, r) if not obj:label "owner" then r:warn("nobody owns it", { value = { 1, "two" } }) end end,
}
k8s.rule { id = "fine", kinds = { "pods" }, check = function() end }
k8s.rule { id = "broken", kinds = { "nodes" }, severity = "critical", check = function(obj) return obj.no.more end }
]]

local function pod(name, images, annotations)
  local containers = {}
  for i, image in ipairs(images) do containers[i] = { name = "c" .. i, image = image } end
  return {
    apiVersion = "v1", kind = "Pod", spec = { containers = containers },
    metadata = { name = name, namespace = "shop", annotations = annotations },
  }
end

local objects = {
  pod("web", { "nginx", evil, "app:1" }),
  pod("db", { "db" }, { ["kubelua/ignore.image-tag"] = "until=2999-01-31 the vendor is told" }),
  pod(evil, { "app:1" }),
  { apiVersion = "v1", kind = "Node", metadata = { name = "node-1" } },
}

describe("a report of kubelua audit", function()
  local folder

  setup(function()
    local lines = {}
    for i, object in ipairs(objects) do lines[i] = cjson.encode(object) end
    folder = temp.folder { ["rules.lua"] = rules, ["in put/pods.json"] = table.concat(lines, "\n") .. "\n" }
  end)
  teardown(function() temp.remove(folder) end)
  after_each(cluster.stop_all)

  -- The text of the report, and the file that has it.
  local function report(form)
    local p = cluster.kubelua { "audit", "-f", folder .. "/rules.lua", "--from", folder .. "/in put", "-o", form }
    assert.are.equal(3, p:wait(60), p:report())
    assert.are.equal("", p.streams.err.text)
    local file = folder .. "/report." .. form
    temp.write(file, p.streams.out.text)
    return p.streams.out.text, file
  end

  local function read(verb, ...)
    local output, code = readers.run(verb, ...)
    if not output then return nil, code end
    assert.are.equal(0, code, output)
    return output
  end

  it("never has an order for a terminal, in no form", function()
    for form in ("table wide json yaml sarif junit policyreport openreports html"):gmatch "%a+" do
      local text = report(form)
      assert.is_nil(text:find "[%z\1-\9\11-\31\127]", form)
      assert.is_nil(text:find "\194[\128-\159]", form)
      assert.matches("nginx", text, 1, true)
    end
  end)

  it("has colours on a terminal, unless NO_COLOR is set", function()
    if os.execute "command -v script >/dev/null" ~= 0 then return pending "there is no script(1)" end
    local binary = os.getenv "KUBELUA_BIN" or "build/release/kubelua"
    local command = ([[%s audit -f %s/rules.lua --from "%s/in put"]]):format(binary, folder, folder)
    local function on_terminal(environment)
      return (temp.run(("env %s script -qec '%s' /dev/null </dev/null"):format(environment, command)))
    end
    local colourful, plain = on_terminal "-u NO_COLOR TERM=xterm", on_terminal "NO_COLOR=1 TERM=xterm"
    assert.matches("\27[31mHIGH\27[0m  \27[1mimage-tag\27[0m", colourful, 1, true)
    assert.matches("HIGH  image-tag  Images have a tag", plain, 1, true)
    assert.is_nil(plain:find("\27", 1, true))
  end)

  it("has the same content as YAML and as JSON", function()
    local json = cjson.decode((report "json"))
    local _, file = report "yaml"
    local output, why = read("yaml", file)
    if not output then return pending(why) end
    local yaml = readers.lines(output)[1]
    json.summary.milliseconds, json.summary.time, yaml.summary.milliseconds, yaml.summary.time = nil, nil, nil, nil
    assert.are.same(json, yaml)
    local names = {}
    for _, row in ipairs(yaml.results) do names[row.name] = true end
    assert.is_true(names[evil])
  end)

  it("is SARIF by its schema", function()
    local text, file = report "sarif"
    local run = cjson.decode(text).runs[1]
    local results = {}
    for _, result in ipairs(run.results) do
      local location = result.locations[1]
      assert.matches("/in%20put/pods.json", location.physicalLocation.artifactLocation.uri, 1, true)
      results[#results + 1] = { result.ruleId, result.level, location.logicalLocations[1].fullyQualifiedName,
        location.physicalLocation.region.startLine, result.suppressions and result.suppressions[1].justification }
      assert.are.equal(result.ruleId, run.tool.driver.rules[result.ruleIndex + 1].id)
    end
    assert.are.same({ "image-tag", "error", "Pod/shop/db/spec.containers[0].image", 2,
      "accepted until 2999-01-31: the vendor is told" }, results[1])
    assert.are.same({ "image-tag", "error", "Pod/shop/web/spec.containers[0].image", 1 }, results[2])
    assert.are.same({ "labels", "note", "Node/node-1", 4 }, results[4])
    assert.are.equal(6, #results)
    assert.is_false(run.invocations[1].executionSuccessful)
    assert.are.equal("broken", run.invocations[1].toolExecutionNotifications[1].associatedRule.id)
    local output, why = read("sarif", file)
    if not output then return pending(why) end
  end)

  it("knows a finding again when lines move", function()
    local function fingerprints()
      local set = {}
      for _, result in ipairs(cjson.decode((report "sarif")).runs[1].results) do
        set[#set + 1] = result.partialFingerprints["kubeluaFinding/v1"]
      end
      table.sort(set)
      return set
    end
    local before, file = fingerprints(), folder .. "/in put/pods.json"
    local text = temp.read(file)
    temp.write(file, "\n\n\n" .. text)
    local after = fingerprints()
    temp.write(file, text)
    assert.are.same(before, after)
    for i = 2, #before do assert.are_not.equal(before[i - 1], before[i]) end
  end)

  it("is JUnit to a library for it", function()
    local _, file = report "junit"
    local output, why = read("junit", file)
    if not output then return pending(why) end
    local told = cjson.decode(output)
    local expected = { tests = 11, failures = 4, errors = 1, skipped = 2 }
    local suites = {}
    for _, suite in ipairs(told.suites) do suites[suite.name] = suite end
    assert.are.same(expected, told.told)
    assert.are.same({ tests = 3, failures = 1, errors = 0, skipped = 1 }, suites["image-tag"].told)
    assert.are.same({ tests = 4, failures = 3, errors = 0, skipped = 1 }, suites.labels.counted)
    assert.are.same({ tests = 3, failures = 0, errors = 0, skipped = 0 }, suites.fine.counted)
    assert.are.same({ tests = 1, failures = 0, errors = 1, skipped = 0 }, suites.broken.told)
    for _, case in ipairs(suites["image-tag"].cases) do
      if case.name == "Pod shop/web" then
        assert.are.equal(2, #case.results)
        assert.are.same({ "Failure", "image nginx has no tag", "high" },
          { case.results[1].is, case.results[1].message, case.results[1].type })
        assert.matches("spec.containers[0].image: \"nginx\"\n", case.results[1].text, 1, true)
        assert.matches("What to do: Name a <version>.", case.results[1].text, 1, true)
        assert.matches("image <img src=x onerror=\"document.title='owned'\">&amp;</script>]]>'",
          case.results[2].message, 1, true)
      end
    end
  end)

  it("is a page that shows all as text, with and without its script", function()
    local text, file = report "html"
    local page, why = read("browser", "--dump-dom", "file://" .. file)
    if not page then return pending(why) end
    local function count(whole, part) return select(2, whole:gsub(part:gsub("%p", "%%%0"), "")) end
    assert.are.equal(8, count(page, "<li data-ns="))
    assert.matches("<output id=\"shown\" class=\"soft\">8 shown</output>", page, 1, true)
    assert.matches("<form id=\"filter\">", page, 1, true)
    assert.matches("<option value=\"=shop\">shop</option>", page, 1, true)
    assert.are.same({ 0, 1 }, { count(page, "<img"), count(page, "<script>") })
    assert.matches("<title>Audit of ", page, 1, true)
    assert.matches("<div>image &lt;img src=x onerror=", page, 1, true)
    temp.write(file, (text:gsub("<script>.-</script>", "")))
    local plain = read("browser", "--dump-dom", "file://" .. file)
    assert.matches("<form id=\"filter\" hidden=\"\">", plain, 1, true)
    assert.are.equal(8, count(plain, "<li data-ns="))
  end)

  -- The words, the namespace and the severities of the form, as a person sets them; what is seen then.
  it("is a page that counts one as one", function()
    temp.write(folder .. "/one.lua", 'require("k8s").rule { id = "one", kinds = { "nodes" }, check = function(_, r)'
      .. ' r:fail "it is one" end }\n')
    temp.write(folder .. "/node.json", cjson.encode(objects[4]))
    local p = cluster.kubelua { "audit", "-f", folder .. "/one.lua", "--from", folder .. "/node.json", "-o", "html" }
    assert.are.equal(1, p:wait(60), p:report())
    assert.has_match(" 1 object, 1 rule ", p.streams.out.text, 1, true)
    assert.has_match("<small>1 of 1 object</small>", p.streams.out.text, 1, true)
  end)

  it("is a page that can be filtered", function()
    local text, file = report "html"
    local try = [[<script>
      {
        const form = document.getElementById("filter"), told = [];
        const tell = (change) => {
          change();
          form.dispatchEvent(new Event("input"));
          told.push(document.getElementById("shown").textContent);
        };
        tell(() => { form.text.value = "nginx WEB"; });
        tell(() => { form.text.value = "image-tag"; });
        tell(() => { form.text.value = ""; form.ns.value = "="; });
        tell(() => { form.ns.value = ""; form.querySelector("[value=high]").checked = false; });
        document.title = told.join("; ");
      }
    </script>]]
    temp.write(file, (text:gsub("timer = setTimeout%(apply, 150%)", "apply()")) .. try)
    local page, why = read("browser", "--dump-dom", "file://" .. file)
    if not page then return pending(why) end
    assert.are.equal("1 shown; 3 shown; 2 shown; 5 shown", page:match "<title>(.-)</title>")
  end)
end)
