import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { startTogether } from '@fairlead/service/testing';
import { ConsoleWalk, inBrowser } from './testing/console/console-walk';

/** Writes a line of each kind at its start, and one more for each request. */
const PROGRAM = `
console.log('starts');
console.log('{"level":40,"msg":"slow answer"}');
console.error('ERROR: the model gave no answer');
require('node:http').createServer((request, response) => {
  console.log('ERROR: no answer to ' + request.headers.question);
  response.end('{}');
}).listen(process.env.PORT, '127.0.0.1');
`;

inBrowser('What a program writes', () => {
  let walk: ConsoleWalk;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fairlead-console-logs-'));
    writeFileSync(join(folder, 'Procfile'), 'web: node server.js\n');
    writeFileSync(join(folder, 'server.js'), PROGRAM);
    walk = await ConsoleWalk.start({ EXECUTOR: 'local' }, startTogether);
  });
  afterAll(async () => {
    await walk?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is followed in the console, from a level on and with a text', async () => {
    const { installation } = walk;
    const { id } = await installation.ask('POST', '/v2/deployments', {
      ...{ name: 'support', source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] },
    });
    const { upload_url, object_path } = await installation.ask('POST', `/v2/deployments/${id}/upload-url`);
    const body = execFileSync('tar', ['-cz', '-C', folder, '.']);
    expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
    const source_revision_config = { source_tarball_path: object_path };
    await installation.ask('PATCH', `/v2/deployments/${id}`, { source_revision_config });
    await walk.deployed(id);

    const page = await walk.open();
    await walk.signIn(page);
    await page.goto(`/o/-/host/deployments/${id}?tab=logs&log=run`);
    const log = page.getByRole('log');
    await log.getByText('starts').waitFor();
    await page.getByLabel('Level').selectOption('Warning or above');
    await log.getByText('starts').waitFor({ state: 'detached' });
    await log.getByText('slow answer').waitFor();
    await page.getByLabel('Lines that contain').fill('NO ANSWER');
    await log.getByText('slow answer').waitFor({ state: 'detached' });
    await log.getByText('the model gave no answer').waitFor();
    await installation.ask('GET', `/apps/${id}/`, undefined, { question: 'one' });
    await log.getByText('ERROR: no answer to one').waitFor();
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('search').getByLabel('Log').selectOption('Deploy log');
    await page.getByLabel('Lines that contain').fill('');
    await page.getByLabel('Level').selectOption('All levels');
    await log.getByText('Starts: node server.js').waitFor();
    expect(walk.complaints).toEqual([]);
    // Its files go with it.
    await installation.ask('DELETE', `/v2/deployments/${id}`);
    await until(
      () => installation.send('GET', `/v2/deployments/${id}`),
      ({ status }) => status === 404,
    );
  });
});
