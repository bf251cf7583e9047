// Fails the tests of a spec that `npm run test:pure` runs when they start a server, process or database.
/* global afterAll, expect */
const childProcess = require('node:child_process');
const dgram = require('node:dgram');
const net = require('node:net');
const { isPure } = require('./pure.cjs');

const STARTING = [
  ...['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'].map((name) => [childProcess, name]),
  [dgram.Socket.prototype, 'bind'],
  [net.Server.prototype, 'listen'],
  [net.Socket.prototype, 'connect'],
];

if (isPure(expect.getState().testPath)) {
  const started = new Set();
  const replaced = STARTING.map(([owner, name]) => [owner, name, owner[name]]);
  for (const [owner, name, original] of replaced) {
    owner[name] = function (...given) {
      started.add(name);
      return original.apply(this, given);
    };
  }
  afterAll(() => {
    for (const [owner, name, original] of replaced) owner[name] = original;
    if (started.size === 0) return;
    throw new Error(
      `This spec starts something (${[...started].join(', ')}), which a spec of "npm run test:pure" does not: say so in` +
        ' it with a line "// @starts programs", "// @starts servers" or "// @starts databases".',
    );
  });
}
