#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join, resolve } = require('node:path');

const main = join(__dirname, '..', 'dist', 'main.js');
if (existsSync(main)) {
  require(main);
} else {
  console.error(`fairlead is not built yet: run "npm start" or "npm run build" in ${resolve(__dirname, '../../..')}.`);
  process.exitCode = 1;
}
