-- `kubelua audit --from` a folder as repositories have them: with files of Helm and Kustomize between the manifests.
local cjson = require "cjson"
local checks = require "spec.support.checks"

local RULES = [[
require("k8s").rule { id = "told", kinds = { "pods" }, check = function(obj, r) r:fail("told") end }
]]
local POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\n"

describe("an audit of a directory", function()
  local place

  local function audited(from)
    local file = place.path .. "/" .. from
    local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", file, "-o", "json")
    return code, out ~= "" and cjson.decode(out).summary or nil, err
  end

  before_each(function()
    place = checks.new "audit"
    os.execute("mkdir " .. place.path .. "/all")
    place:write("rules.lua", RULES)
  end)
  after_each(function() place:remove() end)

  it("skips documents that are not Kubernetes objects, and reports it once for a file", function()
    place:write("all/pod.yaml", POD)
    place:write("all/values.yaml", "image: nginx\n---\nimage: redis\n")
    place:write("all/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1\n")
    place:write("all/package.json", '{"name": "shop"}')
    local code, summary, err = audited "all"
    assert.are.same({ 1, true, 1, 4 }, { code, summary.complete, summary.objects, summary.foreign })
    for _, name in ipairs { "values.yaml", "Chart.yaml", "package.json" } do
      assert.matches("/all/" .. name .. ":1: skipped, not a Kubernetes object", err, 1, true)
    end
    assert.are.equal(3, select(2, err:gsub("\n", "")))
    local _, out = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/all")
    assert.matches("1 object, 4 passed over, 1 rule", out, 1, true)
  end)

  it("takes what has items for a list, also without a kind", function()
    place:write("all/pod.json", '{"items": [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}]}')
    local _, summary = audited "all"
    assert.are.same({ 1 }, { summary.objects, summary.foreign })
  end)

  it("passes over what kustomize reads, and no other kind without metadata", function()
    local text = "apiVersion: kustomize.config.k8s.io/%s\nkind: %s\nresources: [pod.yaml]\n"
    place:write("all/pod.yaml", POD)
    place:write("all/kustomization.yaml", text:format("v1beta1", "Kustomization"))
    place:write("all/part.yaml", text:format("v1alpha1", "Component"))
    place:write("rules.lua", (RULES:gsub(", check", ', uses = { pods = { kind = "pods" } }, check')))
    local code, summary, err = audited "all"
    assert.are.same({ 1, true, 2 }, { code, summary.complete, summary.foreign })
    assert.matches("/all/kustomization.yaml:1: skipped, not a Kubernetes object", err, 1, true)
    place:write("all/part.yaml", text:format("v1alpha1", "Other"))
    assert.are.equal(2, (audited "all"))
    place:write("all/part.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {}\n")
    assert.are.equal(2, (audited "all"))
    assert.are.equal(2, (audited "all/kustomization.yaml"))
  end)

  it("refuses such a file that was named, and a manifest without a kind", function()
    place:write("all/values.yaml", "image: nginx\n")
    local code, _, err = audited "all/values.yaml"
    assert.are.equal(2, code)
    assert.matches("values.yaml:1: missing apiVersion", err, 1, true)
    place:write("all/values.yaml", POD:gsub("kind: Pod\n", ""))
    code, _, err = audited "all"
    assert.are.equal(2, code)
    assert.matches("values.yaml:1: shop/web: missing kind", err, 1, true)
  end)

  it("leaves out what --exclude names, by name or path", function()
    os.execute("mkdir -p " .. place.path .. "/all/charts/shop")
    for _, name in ipairs { "a.yaml", "b.yaml", "charts/c.yaml", "charts/shop/d.yaml" } do
      place:write("all/" .. name, (POD:gsub("web", name:match "(%a)%.yaml")))
    end
    local function names(...)
      local rules, all = place.path .. "/rules.lua", place.path .. "/all"
      local _, out = place:run("-f", rules, "--from", all, "-R", "-o", "json", ...)
      local found = {}
      for _, row in ipairs(out ~= "" and cjson.decode(out).results or {}) do found[#found + 1] = row.name end
      return table.concat(found, " ")
    end
    assert.are.equal("a b c d", names())
    assert.are.equal("a b c", names("--exclude", "shop"))
    assert.are.equal("a b", names("--exclude", "charts"))
    assert.are.equal("a b d", names("--exclude", "charts/c.yaml"))
    assert.are.equal("c d", names("--exclude", "a.*", "--exclude", "b.yaml"))
    for _, same in ipairs { "charts/", "./charts", "././charts//" } do
      assert.are.equal("a b", names("--exclude", same), same)
    end
  end)

  it("reports which --exclude omitted nothing, once", function()
    os.execute("mkdir -p " .. place.path .. "/all/charts " .. place.path .. "/more")
    for _, name in ipairs { "all/a.yaml", "all/charts/b.yaml", "more/a.yaml" } do place:write(name, POD) end
    local function told(...)
      local code, _, err = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/all", "--from",
        place.path .. "/more", "-R", ...)
      assert.are.equal(1, code)
      return (err:gsub(place.path:gsub("%p", "%%%0") .. "/", ""))
    end
    assert.are.equal('kubelua audit: --exclude "chart/" matches no file or directory below all, '
      .. "more\n", told("--exclude", "chart/"))
    assert.are.equal("", told("--exclude", "charts", "--exclude", "chart*"))
    local _, both = told("--exclude", "./", "--exclude", "charts", "--exclude", "b")
      :gsub("matches no file or directory below", "")
    assert.are.equal(2, both)
  end)

  it("takes a manifest that gets its name when it is made", function()
    place:write("all/pod.yaml", (POD:gsub("name: web", "generateName: web-")))
    for _, uses in ipairs { "", ', uses = { pods = { kind = "pods" } }' } do
      place:write("rules.lua", (RULES:gsub(", check", uses .. ", check")))
      local code, out, err = place:run("-f", place.path .. "/rules.lua", "--from", place.path .. "/all", "-o", "json")
      assert.are.same({ 1, "" }, { code, err })
      assert.are.equal("web-", cjson.decode(out).results[1].name)
    end
    place:write("all/pod.yaml", (POD:gsub("name: web", "generateName: {}")))
    local code, _, err = audited "all"
    assert.are.equal(2, code)
    assert.matches("missing metadata.name", err, 1, true)
  end)

  it("says what to do with a kustomization that is named", function()
    for _, head in ipairs { "", "apiVersion: kustomize.config.k8s.io/v1beta1\n" } do
      place:write("all/kustomization.yaml", head .. "kind: Kustomization\nresources: [a.yaml]\n")
      local code, _, err = audited "all/kustomization.yaml"
      assert.are.equal(2, code)
      assert.matches(":1: a kustomization, not an object: pipe kubectl kustomize DIRECTORY to --from -", err, 1,
        true)
    end
  end)

  it("recognises a template", function()
    place:write("all/pod.yaml", POD:gsub("web", "{{ .Values.name }}"))
    local code, _, err = audited "all"
    assert.are.equal(2, code)
    assert.matches("pod.yaml:4: map key is not a string; it looks like a template ({{)", err, 1, true)
    place:write("all/pod.yaml", POD .. "{{- if .Values.labels }}\n  labels: {}\n{{- end }}\n")
    local _, _, other = audited "all"
    assert.matches("it looks like a template ({{): render it first, for example with helm template", other, 1, true)
    place:write("all/pod.yaml", POD .. "spec: [\n")
    local _, _, plain = audited "all"
    assert.matches("invalid YAML", plain, 1, true)
    assert.is_nil(plain:find("template", 1, true))
  end)
end)
