-- The table of informers of `kubelua status`.
local values = require "tool.view.values"
local text_table = require "tool.table"
local units = require "tool.units"

local int, items, shown, text = values.int, values.items, values.shown, values.text

local TINTS = { synced = "good", error = "bad", forbidden = "bad", ["unknown kind"] = "bad", gone = "bad" }

-- How it got its list, if the column does not say all of it, and until when the server counts as one that does not do
-- watch-lists.
local function how(informer, now)
  local how_, disabled = text(informer.syncedHow), units.time(informer.noWatchListUntil)
  return values.join({
    how_ ~= text(informer.syncedBy) and how_ or "",
    disabled > now and "watch-list disabled for " .. units.duration(disabled - now) or "",
  }, "; ")
end

-- Of how many namespaces it has the objects, if it follows them by their labels, and by which watches.
local function follows(informer)
  if text(informer.namespaceSelector) == "" then return "" end
  local joining = int(informer.namespacesJoining)
  local listed = joining ~= 0 and (", %d of them being listed"):format(joining) or ""
  local by = informer.watchesEachNamespace == true and "a watch for each of" or "one watch for"
  local count = int(informer.namespacesFollowed)
  if count == 0 and joining == 0 then return "no namespace has the labels" end
  return ("%s %d namespace%s%s"):format(by, count, count == 1 and "" or "s", listed)
end

-- Why it is not as it should be, or what it lacks; else, when there is room, how it came to its list.
local function state_of(informer, view)
  local cause, refused, dropped = text(informer.cause), int(informer.refused), int(informer.transformDropped)
  if cause ~= "" then
    return view.unreachable and informer.unreachable == true and "" or cause -- the head says it once for all
  end
  local note = ""
  if refused ~= 0 then
    note = ("objects were refused, %d in all: see the log"):format(refused)
  elseif view.wide then
    note = how(informer, view.now)
  end
  local shows_dropped = dropped ~= 0 and (view.wide or int(informer.objects) == 0)
  return values.join({
    follows(informer), note,
    shows_dropped and ("objects were dropped by the transform, %d in all"):format(dropped) or "",
  }, "; ")
end

-- With who keeps it, if that is no script and no column says so.
local function note_of(informer, view)
  local is_of_history = informer.history == true and #items(informer.scripts) == 0 and not view.wide
  return values.join({ state_of(informer, view), is_of_history and "kept for --history" or "" }, "; ")
end

local function holders(informer)
  local names = { unpack(items(informer.scripts)) }
  if informer.history == true then names[#names + 1] = "--history" end
  return table.concat(names, ",")
end

-- `part`: of a set of namespaces, below the row of the whole.
local function add_row(rows, informer, part, view)
  local known = part or text(informer.resource) ~= ""
  rows:add((part and "  " or "") .. text(informer.name), shown(informer.state), values.age(view.now, informer.since),
    known and int(informer.objects) or "-", known and units.bytes(int(informer.bytes)) or "-",
    shown(informer.syncedBy), values.age(view.now, informer.heard), int(informer.watches) + int(informer.watchLists),
    int(informer.events), shown(informer.resourceVersion), holders(informer))
  rows:tint(2, TINTS[informer.state] or "waiting")
end

return function(list, view)
  local rows = view.wide
    and text_table.new("INFORMER", "STATE", ">AGE", ">OBJECTS", ">MEMORY", "SYNCED BY", ">HEARD", ">WATCHES", ">EVENTS",
      "VERSION", "SCRIPTS")
    or text_table.new("INFORMER", "STATE", ">AGE", ">OBJECTS", ">MEMORY", "SYNCED BY", ">HEARD")
  for _, informer in ipairs(list) do
    add_row(rows, informer, false, view)
    rows:note(informer.parts and follows(informer) or note_of(informer, view))
    for _, part in ipairs(items(informer.parts)) do
      add_row(rows, part, true, view)
      rows:note(note_of(part, view))
    end
  end
  return rows:block(view)
end
