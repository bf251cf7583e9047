import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { type Installation, startTogether } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { appears, ConsoleWalk, tabTo } from '../testing/console/console-walk';

/** Writes a line of each kind at its start, and one more for each request. */
const PROGRAM = `
console.log('starts');
console.log('{"level":40,"msg":"slow answer"}');
console.error('ERROR: the model gave no answer');
require('node:http').createServer((request, response) => {
  console.log('ERROR: no answer to ' + request.headers.question);
  response.end(JSON.stringify('shown to ' + request.headers.host));
}).listen(process.env.PORT, '127.0.0.1');
`;

/** Programs that do not stay as they are, by what becomes of them. */
const PROGRAMS = {
  'ends soon': PROGRAM.replace(
    'createServer((request, response) => {',
    `createServer((request, response) => {
  setTimeout(() => {
    console.error('Error: no production build');
    process.exit(1);
  }, 1000);`,
  ),
  'starts late': `setTimeout(() => {${PROGRAM}}, 20_000);`,
};

/** Drops a file or a folder of this machine on what a page shows. */
async function drop(path: string, target: Locator): Promise<void> {
  const { x, y } = (await target.boundingBox())!;
  const devtools = await target.page().context().newCDPSession(target.page());
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, x: x + 1, y: y + 1, data });
  }
  await devtools.detach();
}

inBrowser('The console of programs that run on this machine', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  let folder: string;
  let source: string;
  let id: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fairlead-console-local-'));
    source = join(folder, 'agent');
    mkdirSync(join(source, 'node_modules'), { recursive: true });
    const files = {
      Procfile: 'web: node server.js\n',
      'server.js': PROGRAM,
      '.env': 'TOKEN=1',
      'node_modules/a.js': '',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
    walk = await ConsoleWalk.start({ EXECUTOR: 'local' }, startTogether);
    ({ installation } = walk);
    id = await deployed('support');
    page = await walk.open();
    await walk.signIn(page);
  });

  /** Creates a deployment of the source, which runs when this resolves. */
  async function deployed(name: string): Promise<string> {
    const made = await created(name);
    await release(made);
    await walk.deployed(made);
    return made;
  }

  async function created(name: string, secrets: object[] = []): Promise<string> {
    const { id: made } = await installation.ask('POST', '/v2/deployments', {
      ...{ name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets },
    });
    return made as string;
  }

  /** Uploads the source as the next revision of a deployment, with another program when one is given. */
  async function release(of: string, program = PROGRAM, why = ''): Promise<void> {
    writeFileSync(join(source, 'server.js'), program);
    const { upload_url, object_path } = await installation.ask('POST', `/v2/deployments/${of}/upload-url`);
    const body = execFileSync('tar', ['-cz', '-C', source, '.']);
    writeFileSync(join(source, 'server.js'), PROGRAM);
    expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
    const source_revision_config = { source_tarball_path: object_path };
    await installation.ask('PATCH', `/v2/deployments/${of}`, { source_revision_config }, { 'x-reason': why });
  }

  afterAll(async () => {
    try {
      // The files of deployments go with them.
      const { resources } = (await installation?.ask('GET', '/v2/deployments')) ?? { resources: [] };
      for (const { id: each } of resources) {
        await installation.ask('DELETE', `/v2/deployments/${each}`);
        await until(
          () => installation.send('GET', `/v2/deployments/${each}`),
          ({ status }) => status === 404,
        );
      }
    } finally {
      await walk?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  it('follows what a program writes, from a level on and with a text', async () => {
    await page.goto(`/o/-/host/deployments/${id}?tab=logs&log=run`);
    const log = page.getByRole('log');
    await appears(log.getByText('starts'));
    await page.getByLabel('Level').selectOption('Warning or above');
    await log.getByText('starts').waitFor({ state: 'detached' });
    await appears(log.getByText('slow answer'));
    await page.getByLabel('Lines that contain').fill('NO ANSWER');
    await log.getByText('slow answer').waitFor({ state: 'detached' });
    await appears(log.getByText('the model gave no answer'));
    await installation.ask('GET', `/apps/${id}/`, undefined, { question: 'one' });
    await appears(log.getByText('ERROR: no answer to one'));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('search').getByLabel('Log').selectOption('Deploy log');
    await page.getByLabel('Lines that contain').fill('');
    await page.getByLabel('Level').selectOption('All levels');
    await appears(log.getByText('Starts: node server.js'));
  });

  it('is stopped, started, restarted and given secrets, by keyboard alone', async () => {
    const controlled = await deployed('controlled');
    const dialog = page.getByRole('dialog');
    const press = async (target: Locator) => {
      await tabTo(target);
      await page.keyboard.press('Enter');
    };
    const confirm = async (name: string) => {
      await press(dialog.getByRole('button', { name, exact: true }));
      await page.locator('dialog').waitFor({ state: 'detached' });
    };
    await page.goto(`/o/-/host/deployments/${controlled}`);
    for (const [action, next] of [
      ['Stop', 'Start'],
      ['Start', 'Restart'],
      ['Restart', 'Stop'],
    ] as const) {
      await press(page.getByRole('button', { name: `${action} …` }));
      await confirm(action);
      await appears(page.getByRole('button', { name: `${next} …` }));
      await appears(page.locator(`button[aria-label="Open controlled"]${next === 'Start' ? ':disabled' : ':enabled'}`));
      if (action === 'Stop') await appears(page.getByText('Somebody has stopped it.'));
    }
    await press(page.getByRole('link', { name: 'Secrets' }));
    await press(page.getByRole('button', { name: 'Set secrets …' }));
    await tabTo(dialog.getByLabel('Name of the secret'));
    await page.keyboard.type('TOKEN');
    await tabTo(dialog.getByLabel('New value of TOKEN'));
    await page.keyboard.type('sesame');
    expect(await walk.looks(page)).toEqual([]);
    await press(dialog.getByRole('button', { name: 'Show the plan' }));
    await appears(dialog.getByText('Makes a revision'));
    await confirm('Apply');
    await appears(page.getByRole('cell', { name: 'TOKEN', exact: true }));
    await walk.deployed(controlled);
    await press(page.getByRole('button', { name: 'Set or remove secrets …' }));
    await press(dialog.getByRole('button', { name: 'Remove TOKEN' }));
    await press(dialog.getByRole('button', { name: 'Show the plan' }));
    await appears(dialog.getByText('Makes a revision'));
    await confirm('Apply');
    await appears(page.getByText('No secrets'));
  });

  it('shows what changed in the files of the source', async () => {
    const compared = await deployed('compared');
    await release(compared, PROGRAM.replace('slow answer', 'late answer'));
    const { latest_revision_id } = await installation.ask('GET', `/v2/deployments/${compared}`);
    await page.goto(`/o/-/host/deployments/${compared}?tab=revisions&diff=${latest_revision_id}`);
    const files = page.getByRole('region', { name: 'Files of the source' });
    await appears(files.getByText('1 file differs, 3 are the same'));
    const file = files.locator('summary', { hasText: 'server.js' });
    await tabTo(file);
    await page.keyboard.press('Enter');
    const patch = page.getByRole('region', { name: 'Difference of server.js' });
    await appears(patch.getByText(`-console.log('{"level":40,"msg":"slow answer"}');`));
    await appears(patch.getByText(`+console.log('{"level":40,"msg":"late answer"}');`));
    expect(await walk.looks(page)).toEqual([]);
  });

  it('says what became of programs, and rolls back without setting newer secrets back', async () => {
    const [never, crashing, late] = [await created('Never Ran'), await created('crashing'), await created('late')];
    await release(crashing, PROGRAMS['ends soon']);
    await release(late, PROGRAMS['starts late']);
    await page.goto(`/o/-/host/deployments/${late}`);
    await appears(page.getByText('Starting', { exact: true }));
    await appears(page.getByText('It is waited until the program listens at the port that PORT names.'));
    await page.goto(`/o/-/host/deployments/${never}`);
    await appears(page.getByText('No revision has been deployed.'));
    expect(await page.getByText('Not deployed yet').count()).toBeGreaterThan(0);

    const taken = await created('taken', [{ name: 'KEY', value: 'one' }]);
    await release(taken, PROGRAM, 'the first one');
    await walk.deployed(taken);
    await installation.ask('PATCH', `/v2/deployments/${taken}`, { secrets: [{ name: 'KEY', value: 'two' }] });
    await walk.deployed(taken);
    await release(taken, PROGRAMS['ends soon'], 'a new prompt');
    await page.goto(`/o/-/host/deployments/${taken}?tab=revisions`);
    const list = page.getByRole('region', { name: 'Revisions' });
    const [newest, live, first] = [1, 2, 3].map((at) => list.getByRole('row').nth(at));
    await appears(newest!.getByText('Taken back', { exact: true }));
    const why = await newest!.getByText(/^v3 was taken back, and v2 serves again: /).textContent();
    expect(why).toMatch(
      /: The program ended with exit code 1 \d+ s after it was deployed, last line: .*no production build$/,
    );
    await appears(live!.getByText('Live'));
    await appears(first!.getByText('Superseded'));
    const back = page.getByRole('button', { name: 'Roll back to v1' });
    await appears(back);
    expect(await page.getByRole('button', { name: 'Roll back to v3' }).count()).toBe(0);
    expect(await walk.looks(page)).toEqual([]);
    await back.click();
    const dialog = page.getByRole('dialog');
    const plan = dialog.getByRole('region', { name: 'Plan' });
    await appears(plan.getByText(/The secret KEY is newer .*“Keep the present secrets” below keeps them/));
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByLabel('Keep the present secrets').check();
    await plan.getByText('is newer').waitFor({ state: 'detached' });
    await dialog.getByText('As a command').click();
    await appears(dialog.getByText(/^fairlead deployments rollback taken \S+ --keep-secrets$/));
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await appears(list.getByText('again v1'));
    await walk.deployed(taken);
    const path = `/v2/deployments/${taken}/secrets/KEY/reveal`;
    expect((await installation.ask('POST', path, { reason: 'to see it' })).value).toBe('two');

    await page.goto(`/o/-/host/deployments/${crashing}`);
    await appears(page.getByText(/^\d+ restarts, last line: Error: no production build$/));
    await appears(
      page.getByText(/^Crash looping: \d+ restarts in \d+ (s|min), last line: Error: no production build$/),
    );
    await appears(page.getByRole('link', { name: 'Error: no production build' }));
    await appears(page.getByRole('img', { name: /^Restarts, / }));
    await appears(page.getByRole('listitem').filter({ hasText: 'v1' }).getByText('Crash looping'));
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    expect(await walk.looks(page)).toEqual([]);
    await page.goto('/o/-/host/deployments');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await appears(row('crashing').getByText('Crash looping'));
    await appears(row('taken').getByText(/^Live, v4/));
    await appears(row('Never Ran').getByText('Not deployed yet'));
  });

  it('deploys a folder that is dropped, without what is no part of its source, and follows it to its address', async () => {
    await page.goto('/o/-/host/deployments');
    await page.getByRole('button', { name: 'Deploy a folder …' }).click();
    const dialog = page.getByRole('dialog');
    const text = { name: 'text.tar.gz', mimeType: 'application/gzip', buffer: Buffer.from('<b>text</b>') };
    await dialog.getByLabel('Or an archive').setInputFiles(text);
    await appears(dialog.getByText('text.tar.gz is no archive that gzip has made.'));
    expect(await walk.looks(page)).toEqual([]);
    await drop(source, dialog.getByText('drop it here'));
    const sent = dialog.getByRole('region', { name: 'What is sent' });
    await appears(sent.getByText('2 files, '));
    await sent.getByText('Left out (2)').click();
    await appears(sent.getByText('node_modules/'));
    expect(await dialog.getByLabel('Name of the deployment').inputValue()).toBe('agent');
    await dialog.getByLabel('Name of the deployment').fill('Dropped Here');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await appears(dialog.getByText('Starts: node server.js'));
    await appears(dialog.getByText(`${installation.url}/apps/dropped-here`));
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Go to the deployment' }).click();
    await appears(page.getByRole('heading', { name: 'Dropped Here' }));

    await page.goto('/o/-/host/deployments');
    await page.getByRole('button', { name: 'Deploy a folder …' }).click();
    await drop(source, dialog.getByText('drop it here'));
    await appears(sent.getByText('2 files, '));
    await dialog.getByLabel('Name of the deployment').fill('dropped here');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await appears(
      dialog.getByRole('alert').getByText(/spells the address \/apps\/dropped-here, as 'Dropped Here' does/),
    );
    await appears(dialog.getByText('Starts: node server.js'));
    await appears(dialog.getByRole('button', { name: 'Go to the deployment' }));
    expect(await walk.looks(page)).toEqual([]);
  });

  it('deploys a chosen folder as the next version, and says why it has failed', async () => {
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'notes.txt'), 'nothing to start');
    await page.goto(`/o/-/host/deployments/${id}`);
    await page.getByRole('button', { name: 'Deploy a new version …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Folder with the source').setInputFiles(broken);
    await appears(dialog.getByRole('region', { name: 'What is sent' }).getByText('1 file, 16 B'));
    await dialog.getByLabel('Reason').fill('to see it fail');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await appears(dialog.getByRole('status').getByText('Build failed'));
    await appears(dialog.getByRole('alert').getByText('Nothing says how to start it'));
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await appears(page.getByText('to see it fail'));
    expect(await installation.ask('GET', `/apps/${id}/`)).toContain('shown to');
  });

  it.each([
    ['its page', () => `host/deployments/${id}`],
    ['the list', () => 'host/deployments'],
  ])('opens the pages of a program in a tab that cannot reach the console: from %s', async (_, path) => {
    await page.goto(`/o/-/${path()}`);
    const opening = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Open support' }).click();
    const tab = await opening;
    const { port } = new URL(installation.url);
    await appears(tab.getByText(`shown to support.localhost:${port}`));
    expect([tab.url(), await tab.evaluate('opener')]).toEqual([`http://support.localhost:${port}/`, null]);
    await tab.close();
  });

  it.each([
    ['its page', () => `host/deployments/${id}`],
    ['the list', () => 'host/deployments'],
  ])('says in place why pages are not opened: on %s', async (_, path) => {
    const detail = 'Pages are shown by a server that listens on loopback.';
    await page.route('**/browser-links', (route) => route.fulfill({ status: 409, json: { detail } }));
    await page.goto(`/o/-/${path()}`);
    const opening = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Open support' }).click();
    await appears(page.getByRole('alert').getByText(detail));
    const tab = await opening;
    if (!tab.isClosed()) await tab.waitForEvent('close');
    expect(await walk.looks(page)).toEqual([]);
    await page.unroute('**/browser-links');
  });
});
