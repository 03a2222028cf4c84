-- Five of the rules that ship against the same rules written in jq: both find the same in some hundred objects.
local cjson = require "cjson"
local generated = require "spec.support.generated_manifests"
local rules = require "spec.support.rules"
local temp = require "spec.support.temp"

local RULES = { "image-tag", "memory-limits", "privileged", "run-as-non-root", "configmap-missing" }

local folder, list

-- All of them, and those of the rules' examples too, in namespaces of their own.
local function all_objects()
  local objects, files = generated.objects(600), {}
  for _, id in ipairs(rules.ids()) do
    for _, which in ipairs { "pass", "fail" } do
      files[#files + 1] = ("%s/%s/%s.yaml"):format(rules.examples, id, which)
    end
  end
  local by_file = rules.objects(files)
  for i, file in ipairs(files) do
    rules.set_apart(by_file[file], i)
    for _, object in ipairs(by_file[file]) do objects[#objects + 1] = object end
  end
  return objects
end

local function sorted(lines)
  table.sort(lines)
  return lines
end

-- "image-tag Pod/shop/web spec.containers[0].image" for each finding of one of the five.
local function found_by_rules()
  local is_asked, lines = {}, {}
  for _, id in ipairs(RULES) do is_asked[id] = true end
  for _, row in ipairs(rules.audit("-f", rules.folder, "--from", list).results) do
    if row.result == "error" then -- what has no pod spec is nothing to jq
      assert.matches(" is missing$", row.message)
    elseif is_asked[row.rule] and row.result ~= "skip" then
      lines[#lines + 1] = ("%s %s/%s/%s %s"):format(row.rule, row.kind, row.namespace, row.name, row.path)
    end
  end
  return sorted(lines)
end

local function found_by_jq()
  local lines = {}
  for line in assert(temp.run(("jq -rf spec/support/rules.jq '%s'"):format(list))):gmatch "[^\n]+" do
    lines[#lines + 1] = line
  end
  return sorted(lines)
end

describe("rules that ship and the same in jq", function()
  setup(function()
    folder = temp.folder()
    list = folder .. "/list.json"
    local items = {}
    for i, object in ipairs(all_objects()) do items[i] = cjson.encode(object) end
    temp.write(list, '{"apiVersion":"v1","kind":"List","items":[' .. table.concat(items, ",\n") .. "]}")
  end)

  teardown(function() temp.remove(folder) end)

  it("find the same", function()
    if select(2, temp.run "jq --version") ~= 0 then pending "jq is not installed" return end
    local by_rules, by_jq, counts = found_by_rules(), found_by_jq(), {}
    assert.are.same(by_jq, by_rules)
    for _, line in ipairs(by_jq) do
      local id = line:match "^%S+"
      counts[id] = (counts[id] or 0) + 1
    end
    for _, id in ipairs(RULES) do assert.is_true((counts[id] or 0) > 50, id) end
  end)
end)
