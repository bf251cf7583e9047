const { readdirSync } = require('node:fs');
const { join } = require('node:path');
const jest = require('./jest.config.js');
const { isPure } = require('./tools/test/pure.cjs');

const [sources] = Object.keys(jest.transform);

const projects = ['apps', 'libs', 'tools'].flatMap((folder) =>
  readdirSync(join(__dirname, folder)).map((name) => join(__dirname, folder, name, 'src')),
);
const specs = projects.flatMap((folder) => {
  try {
    return readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => join(folder, name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
});

/** The specs that start no server, process or database, without the PostgreSQL server of a whole run. */
module.exports = {
  ...jest,
  testMatch: specs.filter(isPure),
  setupFilesAfterEnv: ['<rootDir>/tools/test/guard.cjs'],
  transform: {
    '/src/(testing/)?index\\.ts$': ['<rootDir>/tools/test/lazy-index.cjs', jest.transform[sources][1]],
    ...jest.transform,
  },
  globalSetup: undefined,
  globalTeardown: undefined,
  // Some of them wait for times that pass, and leave a core to another worker.
  maxWorkers: 4,
};
