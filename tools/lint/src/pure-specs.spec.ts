import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../../..');
const guard = join(root, 'tools/test/guard.cjs');
let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'fairlead-specs-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a guarded run of one spec of this text. */
function ran(text: string): string {
  writeFileSync(join(folder, 'planted.spec.js'), text);
  const config = { rootDir: folder, testMatch: ['**/*.spec.js'], setupFilesAfterEnv: [guard], transform: {} };
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const given = { cwd: root, stdio: 'pipe', env: { ...process.env, FORCE_COLOR: '0' } } as const;
  try {
    execFileSync(process.execPath, [jest, '--config', JSON.stringify(config)], given);
    return 'It passed.';
  } catch (error) {
    return String((error as { stderr: Buffer }).stderr);
  }
}

const LISTENS = `it('listens', async () => {
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer().listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  server.close();
});`;

it('a spec that starts a server without an import that says so fails, and is told what to write', () => {
  expect(ran(LISTENS)).toContain('This spec starts something (listen)');
});

it.each([
  ['says so', `// @starts servers\n${LISTENS}`],
  [
    'imports what starts it',
    `const { Server } = require('node:http');\n${LISTENS}\nit('is', () => expect(Server).toBeDefined());`,
  ],
  ['starts nothing', `it('adds', () => expect(1 + 1).toBe(2));`],
])('a spec that %s passes', (_, text) => {
  expect(ran(text)).toBe('It passed.');
});
