// Prints each document of a YAML file as a line of JSON; ends with 1 when one is broken.
"use strict";
const fs = require("fs");
const YAML = require("yaml");

for (const document of YAML.parseAllDocuments(fs.readFileSync(process.argv[2], "utf8"), { version: "1.1" })) {
  for (const error of document.errors) {
    console.log(error.message);
    process.exitCode = 1;
  }
  console.log(JSON.stringify(document.toJS()));
}
