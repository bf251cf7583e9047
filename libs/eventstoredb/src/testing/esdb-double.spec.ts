import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { EventStoreDbDouble } from './esdb-double';

const ROOT = join(__dirname, '../../../..');
const PROBE = join(ROOT, 'tools/test/eventstoredb-probe.mjs');
const RECORDED = join(__dirname, 'esdb-recorded-24.6.json');

describe('The double of EventStoreDB', () => {
  it('does all that was recorded of a real server', async () => {
    const double = await EventStoreDbDouble.start();
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, [PROBE, double.url, RECORDED], { cwd: ROOT }, (_, stdout, stderr) =>
        resolve(`${stdout}${stderr}`.trim()),
      );
    });
    await double.stop();
    expect(said).toBe('60 of 60 as recorded');
  });
});
