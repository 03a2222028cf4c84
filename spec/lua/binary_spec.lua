-- check-binary finds what is missing in a program that is not hardened; and the compiler makes the same objects to the
-- bit in whatever folder. `./dev prove reproducible` compares whole binaries, which also have generated sources.
local temp = require "spec.support.temp"

local source = [[
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char text[64];
  strcpy(text, argv[argc - 1]);
  return puts(text) + printf("%s", __FILE__);
}
]]

local soft = "-no-pie -fno-stack-protector -fcf-protection=none -U_FORTIFY_SOURCE"
local lazy = "-no-pie -Wl,-z,norelro,-z,lazy,-z,execstack,-rpath,/opt/lib"
local hard = "-fPIE -fstack-protector-strong -fcf-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 "
  .. "-ffile-prefix-map=%s=."
local now = "-pie -Wl,-z,relro,-z,now,-z,noexecstack"
local x86 = temp.run "uname -m" == "x86_64\n"
if not x86 then hard = hard:gsub("%-fcf%-protection", "-mbranch-protection=standard") end

describe("check-binary", function()
  local folder
  before_each(function() folder = temp.folder { ["core/a.c"] = source } end)
  after_each(function() temp.remove(folder) end)

  local function check(compile, link)
    local build = ("cd %s && cc -O2 -g -w %s -c %s/core/a.c -o core/a.o && cc core/a.o -o program %s")
    local output, code = temp.run(build:format(folder, compile, folder, link))
    assert.are.equal(0, code, output)
    return temp.run("spec/support/check-binary " .. folder .. "/program")
  end

  it("passes a hardened program", function()
    local output, code = check(hard:format(folder), now)
    assert.are.equal("", output)
    assert.are.equal(0, code)
  end)

  it("names everything that a program lacks", function()
    if not x86 then pending "flags of amd64" return end
    local output, code = check(soft, lazy)
    for _, flag in ipairs {
      ": -fPIE -pie", ": -Wl,-z,relro", ": -Wl,-z,now", ": -Wl,-z,noexecstack", ": -fstack-protector-strong",
      ": -D_FORTIFY_SOURCE=2", "such as in a.o: -fcf-protection", ": -ffile-prefix-map",
      "in folders that it names: /opt/lib",
    } do
      assert.has_match(flag, output, 1, true)
    end
    assert.are.equal(1, code)
  end)

  it("says when there is no program", function()
    local output, code = temp.run("spec/support/check-binary " .. folder .. "/program")
    assert.has_match("there is no program", output, 1, true)
    assert.are.equal(2, code)
  end)
end)

describe("an object of the release build", function()
  -- With names of files in assertions, of another compiler, generated, and the one that has the commit.
  local objects = { "core/base/err.c", "core/net/loop.c", "core/main.c", "build/release/commit.c" }

  it("is the same to the bit in whatever folder it is compiled", function()
    local folder = temp.folder()
    local function compile(place)
      local script = ([[
        set -e; root=$PWD; mkdir -p %s/build/release; cp -r core %s/core; cp build/release/*.c %s/build/release
        cd %s/build/release
        for file in %s; do
          command=$(jq -r --arg file "$root/$file" '.[] | select(.file == $file) | .command' \
            $root/build/release/compile_commands.json)
          mkdir -p "$(dirname "$(sed 's/.* -o \([^ ]*\) .*/\1/' <<<"$command")")"
          CCACHE_DISABLE=1 bash -c "${command//$root/%s}"
        done]]):format(place, place, place, place, table.concat(objects, " "), place)
      temp.write(folder .. "/compile", script)
      local output, code = temp.run("bash " .. folder .. "/compile")
      assert.are.equal(0, code, output)
    end
    compile(folder .. "/a")
    compile(folder .. "/another/folder")
    local find = ("cd %s/a/build/release && find . -name '*.o' | sort"):format(folder)
    local found = temp.run(find)
    assert.are.equal(#objects, select(2, found:gsub("\n", "\n")), found)
    local compare = "cd %s && for o in $(%s); do cmp a/build/release/$o another/folder/build/release/$o; done"
    local output, code = temp.run(compare:format(folder, find))
    assert.are.equal("", output)
    assert.are.equal(0, code)
    temp.remove(folder)
  end)
end)
