-- `kubelua __man [COMMAND]`: man pages from what `kubelua help` prints. Packages write them: kubelua(1), and
-- kubelua-run(1) for each command.

-- Text of roff: what it would read as its own is quoted.
local function quote(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("\n([.'])", "\n\\&%1"):gsub("^([.'])", "\\&%1"))
end

local function header(command, name, summary)
  local title = name == "" and "KUBELUA" or "KUBELUA-" .. name:upper()
  return (".TH %s 1 \"\" \"kubelua %s\" \"kubelua\"\n.SH NAME\n%s \\- %s\n"):format(quote(title), command.host.version,
    quote("kubelua" .. (name == "" and "" or "-" .. name)), quote(summary))
end

-- Paragraphs of the help, which stand apart, and its sections: "Usage:" with lines that are indented.
local function body(text)
  local out, description = {}, true
  for block in (text .. "\n"):gsub("\n\n+", "\0"):gmatch "%Z+" do
    local title, rest = block:match "^(%u[%w ()]*):\n(.*)$"
    if title then
      local lines = quote("\n" .. rest):sub(2):gsub("\n+$", "")
      out[#out + 1] = (".SH %s\n.nf\n%s\n.fi\n"):format(quote(title:upper()), lines)
    elseif not block:find "^Flags:" and block:find "%S" then
      out[#out + 1] = (description and ".SH DESCRIPTION\n" or ".PP\n") .. quote(block:gsub("\n+$", "")) .. "\n"
    end
    description = description and title ~= nil
  end
  return table.concat(out)
end

local function flag_line(flag)
  local form = flag.kind == "mode" and "[=\\fI%s\\fR]" or " \\fI%s\\fR"
  local value = flag.arg and form:format(quote(flag.arg)) or ""
  local letter = flag.letter and ("\\fB\\-%s\\fR, "):format(flag.letter) or ""
  return (".TP\n%s\\fB%s\\fR%s\n%s\n"):format(letter, quote("--" .. flag.name), value, quote(flag.help))
end

local function flags(groups)
  local out = {}
  for _, group in ipairs(groups) do
    if group.heading ~= "" and #group.flags > 0 then
      if group.heading then
        out[#out + 1] = ".SS " .. quote(group.heading:gsub(":$", "")) .. "\n"
      end
      for _, flag in ipairs(group.flags) do out[#out + 1] = flag_line(flag) end
    end
  end
  return #out > 0 and ".SH FLAGS\n" .. table.concat(out) or ""
end

local function page_of(command, one)
  return header(command, one.name, one.summary) .. body(one.text) .. flags(one.groups)
    .. ".SH ENVIRONMENT\nKUBELUA_FLAG, in upper case with _ for \\-, sets a flag.\n.SH SEE ALSO\nkubelua(1)\n"
end

local function overview(command, groups)
  local out = { header(command, "", "run Lua scripts on a Kubernetes informer cache") }
  out[#out + 1] = ".SH SYNOPSIS\n.B kubelua\n.I COMMAND\n[flags]\n.SH COMMANDS\n"
  for _, group in ipairs(groups) do
    out[#out + 1] = ".SS " .. quote(group.title) .. "\n"
    for _, one in ipairs(group.commands) do
      out[#out + 1] = (".TP\n\\fB%s\\fR(1)\n%s\n"):format(quote("kubelua-" .. one.name), quote(one.summary))
    end
  end
  return table.concat(out)
end

return function(command)
  local groups, name = command.host.commands(), command.arguments[1]
  if not name then return command.write(overview(command, groups)) and command.OK or command.USAGE end
  for _, group in ipairs(groups) do
    for _, one in ipairs(group.commands) do
      if one.name == name then return command.write(page_of(command, one)) and command.OK or command.USAGE end
    end
  end
  command.fail(command.USAGE, ('there is no command "%s"'):format(name))
end
