-- What others make of a report: spec/support/readers, for specs. Where a tool is missing the test is pending.
local cjson = require "cjson"
local temp = require "spec.support.temp"

local readers = {}

-- Output and exit code of a reader; nil and why when there is none.
function readers.run(verb, ...)
  local words = { "spec/support/readers", verb }
  for _, word in ipairs { ... } do words[#words + 1] = "'" .. word .. "'" end
  local output, code = temp.run(table.concat(words, " "))
  if code == 3 then return nil, output end
  return output, code
end

-- Each line of it, decoded.
function readers.lines(output)
  local all = {}
  for line in output:gmatch "[^\n]+" do all[#all + 1] = cjson.decode(line) end
  return all
end

return readers
