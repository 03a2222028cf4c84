-- `kubelua __flags COMMAND`: a line for each flag: its name, its kind (see reference_tool.c) and the values that it may
-- have, with tabs between them. The schema of the chart's settings is made of it.
return function(command)
  local name, lines = command.arguments[1], {}
  for _, group in ipairs(command.host.commands()) do
    for _, one in ipairs(group.commands) do
      for _, flags in ipairs(one.name == name and one.groups or {}) do
        for _, flag in ipairs(flags.flags) do
          lines[#lines + 1] = ("%s\t%s\t%s\n"):format(flag.name, flag.kind, flag.values or "")
        end
      end
    end
  end
  if #lines == 0 then command.fail(command.USAGE, ('no command "%s" with flags'):format(name or "")) end
  return command.write(table.concat(lines)) and command.OK or command.USAGE
end
