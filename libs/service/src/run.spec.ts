import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

/** Exit and output of a process that is told to stop while `stop` runs. */
async function ended(stop: string) {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-run-'));
  const program = `
    const { run } = require(${JSON.stringify(join(__dirname, 'run.ts'))});
    const stop = ${stop};
    void run(async () => ({ url: '', executor: 'record', stop }), () => 'is there', 500);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['-r', join(ROOT, 'tools/test/typescript.cjs'), '-e', program], {
    env: { PATH: process.env.PATH, FAIRLEAD_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      said += text.toString();
      if (said.includes('is there')) child.kill('SIGTERM');
    });
  const [code] = (await once(child, 'close')) as [number | null];
  rmSync(folder, { recursive: true, force: true });
  return { code, said };
}

it('A process that is told to stop ends, also when something of it does not', async () => {
  expect(await ended('async () => undefined')).toMatchObject({ code: 0, said: expect.stringContaining('SIGTERM') });
  expect(await ended('() => new Promise(() => undefined)')).toMatchObject({
    code: 1,
    said: expect.stringContaining('It did not stop within 0.5 seconds'),
  });
});
