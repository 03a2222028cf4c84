// Validates a file by the published schema of SARIF 2.1.0; prints each error and ends with 1 when there is one.
"use strict";
const fs = require("fs");
const Ajv = require("ajv-draft-04");
const formats = require("ajv-formats");

const schema = require("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
const ajv = formats(new Ajv({ allErrors: true, strict: false, unicodeRegExp: false }));
const validate = ajv.compile(schema);
if (!validate(JSON.parse(fs.readFileSync(process.argv[2], "utf8")))) {
  for (const error of validate.errors) console.log(`${error.instancePath} ${error.message}`);
  process.exit(1);
}
