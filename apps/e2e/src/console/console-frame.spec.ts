import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { appears, ConsoleWalk, settled, tabTo } from '../testing/console/console-walk';
import { upload } from '../testing/tenant-things';

const BUILT = join(__dirname, '../../../console/dist');
const SENTENCE = /^A part of this page could not be loaded, although the service can be reached/;
const AWAY = /^The service cannot be reached, so a part of this page could not be loaded/;
/** Resources that failed on purpose. */
const ON_PURPOSE = /Failed to load resource|net::ERR_INTERNET_DISCONNECTED/;

/** A page with the code that it loads, and what else is done on it. */
interface Way {
  readonly path: string;
  readonly then?: (page: Page) => Promise<unknown>;
}

/** Pages that are open at the same time. */
const AT_ONCE = 4;
/** A usual run tries a third of the scripts, another one each day; `npm run test:faults` tries all. */
const isTried = (_: string, nth: number) =>
  process.env.FAIRLEAD_FAULTS === 'full' || nth % 3 === Math.floor(Date.now() / 86_400_000) % 3;
// The test of all scripts opens some fifty pages three times, which takes long on a busy machine.
jest.setTimeout(900_000);

inBrowser('The frame of the console', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  let folder: string;
  let ways: readonly Way[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fairlead-console-frame-'));
    walk = await ConsoleWalk.start({ EXECUTOR: 'command', COMMAND_DEPLOY: 'true' });
    ({ installation } = walk);
    page = await walk.open();
    await walk.signIn(page);
    ways = await everyWay();
  });

  afterAll(async () => {
    await walk?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(() => expect(walk.complaints.splice(0).filter((complaint) => !ON_PURPOSE.test(complaint))).toEqual([]));

  /** Ways to all code of the console. */
  async function everyWay(): Promise<Way[]> {
    type Uploaded = { dataset: { id: string }; experiment: { id: string } };
    const made: Uploaded = await installation.ask('POST', '/api/v1/datasets/upload-experiment', upload('framed'));
    const dataset = `datasets/${made.dataset.id}`;
    const [example] = await until<{ id: string }[]>(
      () => installation.ask('GET', `/api/v1/examples?dataset=${made.dataset.id}`),
      (stored) => stored.length > 0,
    );
    const { id } = await installation.ask('POST', '/v2/deployments', {
      ...{ name: 'framed', source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] },
    });
    const archives = [1, 2].map((version) => archive(`print(${version})`));
    for (const body of archives) await release(id, body);
    const { resources: revisions } = await installation.ask('GET', `/v2/deployments/${id}/revisions`);
    const deployment = `host/deployments/${id}`;
    const lists = [
      'experiments',
      'datasets',
      'projects',
      'host/deployments',
      'audit',
      'audit/verify',
      'keys',
      'health',
      'demo',
    ];
    const connections = ['integrations', 'providers', 'listeners', 'webhooks', 'monitors'];
    const tabs = ['overview', 'history', 'secrets', 'logs', 'settings'].map((tab) => `${deployment}?tab=${tab}`);
    const projects = ['', `/r/${example!.id}`, '/t/thread'].map((path) => `projects/p/${made.experiment.id}${path}`);
    const compared = [`${dataset}/compare?selectedSessions=${made.experiment.id}`, `${dataset}/e/${example!.id}`];
    const paths = [...lists, ...connections, dataset, ...compared, ...projects, deployment, ...tabs];
    const traced = { id: crypto.randomUUID(), name: 'traced', session_name: 'traces' };
    const below = { ...traced, id: crypto.randomUUID(), trace_id: traced.id, parent_run_id: traced.id };
    await installation.ask('POST', '/api/v1/runs/batch', { post: [traced, below] });
    const [project] = await installation.ask('GET', '/api/v1/sessions?name=traces');
    const run = `/o/-/projects/p/${project.id}/r/${traced.id}`;
    const { id: own } = await installation.ask('POST', '/api/v1/datasets', { name: 'own' });
    await installation.ask('POST', '/api/v1/examples', { dataset_id: own, inputs: { question: 'why?' } });
    const examples = `/o/-/datasets/${own}?tab=examples`;
    const tick = (on: Page) => on.getByRole('checkbox').first().check();
    const press = (name: string) => (on: Page) => on.getByRole('button', { name }).first().click();
    return [
      ...paths.map((path) => ({ path: `/o/-/${path}` })),
      ...['d', 'r', 'compare', 'shared-run'].map((part) => ({ path: `/public/${crypto.randomUUID()}/${part}` })),
      { path: `/o/-/${deployment}?tab=revisions&good=v1&bad=v2` },
      { path: `/o/-/${deployment}?tab=revisions&diff=${revisions[0].id}` },
      { path: `/o/-/${deployment}`, then: press('Change …') },
      { path: `/o/-/${deployment}`, then: press('Deploy a new version …') },
      { path: `/o/-/${deployment}`, then: (on) => deployAgain(on, archives[0]!) },
      { path: '/o/-/experiments', then: press('Keyboard shortcuts') },
      { path: '/o/-/experiments', then: press('Columns …') },
      { path: '/o/-/host/deployments', then: press('An image …') },
      { path: `/o/-/${dataset}/e/${example!.id}`, then: render },
      ...['examples', 'trend', 'versions', 'directions'].map((tab) => ({ path: `/o/-/${dataset}?tab=${tab}` })),
      { path: examples, then: press('Add an example …') },
      { path: examples, then: (on) => tick(on).then(() => press('Put into a split …')(on)) },
      { path: '/o/-/experiments', then: tick },
      { path: '/o/-/experiments', then: (on) => tick(on).then(() => press('Tag …')(on)) },
      { path: '/o/-/experiments', then: press('Views …') },
      { path: `/o/-/projects/p/${project.id}` },
      { path: `/o/-/projects/p/${project.id}`, then: tick },
      { path: `/o/-/projects/p/${project.id}`, then: (on) => tick(on).then(() => press('Add to dataset …')(on)) },
      { path: '/o/-/demo', then: fillWithDemo },
      { path: run },
      { path: run, then: press('Add feedback …') },
      { path: run, then: press('Add to dataset …') },
      { path: run, then: press('Share …') },
    ];
  }

  /** Begins to fill the workspace with the example, and is refused. */
  async function fillWithDemo(on: Page): Promise<void> {
    await on.route('**/api/v1/datasets', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 422, json: { detail: 'not now' } })
        : route.continue(),
    );
    await on.getByRole('button', { name: 'Fill the workspace with it' }).click();
  }

  /** Shows texts as Markdown, which the tab remembers. */
  async function render(on: Page): Promise<void> {
    const button = on.getByRole('button', { name: /^(Rendered|Raw)$/ });
    if ((await button.textContent()) === 'Rendered') await button.click();
  }

  async function release(id: string, body: Buffer): Promise<void> {
    const { upload_url, object_path } = await installation.ask('POST', `/v2/deployments/${id}/upload-url`);
    expect((await fetch(upload_url, { method: 'PUT', body })).ok).toBe(true);
    const source_revision_config = { source_tarball_path: object_path };
    await installation.ask('PATCH', `/v2/deployments/${id}`, { source_revision_config });
    await walk.deployed(id);
  }

  function archive(program: string): Buffer {
    writeFileSync(join(folder, 'main.py'), program);
    return execFileSync('tar', ['-cz', '-C', folder, 'main.py']);
  }

  async function deployAgain(on: Page, buffer: Buffer): Promise<void> {
    await on.getByRole('button', { name: 'Deploy a new version …' }).click();
    const dialog = on.getByRole('dialog');
    await dialog.getByLabel('Or an archive').setInputFiles({ name: 'a.tar.gz', mimeType: 'application/gzip', buffer });
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
  }

  /** The scripts that are not part of every page. */
  function lateScripts(): string[] {
    const index = readFileSync(join(BUILT, 'index.html'), 'utf8');
    return readdirSync(join(BUILT, 'assets')).filter((name) => name.endsWith('.js') && !index.includes(name));
  }

  /** The first way to each script. */
  async function waysToScripts(): Promise<Map<string, Way>> {
    const found = new Map<string, Way>();
    await inTurn(ways, async (way) => {
      const visitor = await walk.openIn(page.context());
      visitor.on('request', (request) => {
        const name = request.url().split('/assets/')[1];
        if (!name?.endsWith('.js')) return;
        const before = found.get(name);
        if (!before || ways.indexOf(way) < ways.indexOf(before)) found.set(name, way);
      });
      await visitor.goto(way.path);
      await settled(visitor);
      await way.then?.(visitor);
      await settled(visitor);
      await visitor.close();
    });
    return found;
  }

  /**
   * Answers 404 for a script until the returned function is called. Routes would turn off the cache of the browser, and
   * each page would load all scripts anew.
   */
  async function withhold(visitor: Page, name: string): Promise<() => Promise<unknown>> {
    const session = await visitor.context().newCDPSession(visitor);
    session.on('Fetch.requestPaused', ({ requestId }) => {
      void session.send('Fetch.fulfillRequest', { requestId, responseCode: 404 }).catch(() => undefined);
    });
    await session.send('Fetch.enable', { patterns: [{ urlPattern: `*/assets/${name}` }] });
    return () => session.send('Fetch.disable');
  }

  /** Does some work for each item, for a few at a time. */
  async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const rest = items.values();
    const worker = async () => {
      for (const item of rest) await work(item);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  it('outlasts each script that does not arrive, one at a time', async () => {
    const found = await waysToScripts();
    const scripts = lateScripts();
    expect(scripts.filter((name) => !found.has(name))).toEqual([]);
    await inTurn(scripts.filter(isTried), async (name) => {
      const way = found.get(name)!;
      const visitor = await walk.openIn(page.context());
      const loads: string[] = [];
      visitor.on('request', (request) => request.isNavigationRequest() && loads.push(request.url()));
      const arrive = await withhold(visitor, name);
      await visitor.goto(way.path);
      const problem = visitor.getByRole('alert').filter({ hasText: SENTENCE });
      if (way.then) {
        await settled(visitor);
        await way.then(visitor);
        // What was opened is opened again after the page was loaded anew.
        await until(
          () => loads.length,
          (count) => count === 2,
        );
        await settled(visitor);
        await way.then(visitor);
      }
      await appears(problem);
      expect({
        name,
        address: new URL(visitor.url()).pathname + new URL(visitor.url()).search,
        loads: loads.length,
      }).toEqual({ name, address: way.path, loads: 2 });
      if (await visitor.getByRole('dialog', { name: 'This was not loaded' }).isVisible()) {
        await visitor.keyboard.press('Escape');
        await problem.waitFor({ state: 'detached' });
        await way.then!(visitor);
        await appears(problem);
      } else await appears(visitor.getByRole('link', { name: 'Fairlead, experiments' }));
      await arrive();
      await problem.getByRole('button', { name: 'Try again' }).click();
      await problem.waitFor({ state: 'detached' });
      await settled(visitor);
      await visitor.close();
    });
  });

  it('says that it was not loaded when its first script does not arrive', async () => {
    const visitor = await walk.openIn(page.context());
    await visitor.route('**/assets/index-*.js', (route) => route.fulfill({ status: 404, json: {} }));
    await visitor.goto('/o/-/keys');
    const again = visitor.getByRole('link', { name: 'Load it again' });
    await appears(again);
    await visitor.unroute('**/assets/index-*.js');
    await again.click();
    await appears(visitor.getByRole('heading', { level: 1, name: 'Keys' }));
    await visitor.close();
  });

  it('stays without a connection, and shows the page once there is one', async () => {
    // A browser that has shown the page before has its code.
    const visitor = await walk.open();
    await walk.signIn(visitor);
    await settled(visitor);
    await visitor.context().setOffline(true);
    await tabTo(visitor.getByRole('link', { name: 'Keys' }));
    await visitor.keyboard.press('Enter');
    const problem = visitor.getByRole('alert').filter({ hasText: AWAY });
    await appears(problem);
    expect(await walk.looks(visitor)).toEqual([]);
    await visitor.context().setOffline(false);
    await tabTo(problem.getByRole('button', { name: 'Try again' }));
    await visitor.keyboard.press('Enter');
    await appears(visitor.getByRole('heading', { level: 1, name: 'Keys' }));
    await visitor.context().close();
  });

  it('offers to reload a page on which something is typed, which stays', async () => {
    const visitor = await walk.openIn(page.context());
    await visitor.route('**/assets/settings-*', (route) => route.fulfill({ status: 404, json: {} }));
    const { path, then } = ways.find(({ then: opens, path: at }) => opens && !at.includes('?'))!;
    await visitor.goto(path);
    await settled(visitor);
    await then!(visitor);
    const field = visitor.getByRole('dialog').getByRole('textbox').first();
    await field.fill('typed here');
    await visitor.evaluate(`history.pushState(null, '', ${JSON.stringify(`${path}?tab=settings`)})`);
    // The dialog makes what is behind it inert.
    await appears(visitor.locator('main [role="alert"]', { hasText: 'discards what is typed' }));
    expect(await field.inputValue()).toBe('typed here');
    await visitor.close();
  });

  it('is drawn before it is known who is signed in, and counts down while the service is away', async () => {
    const visitor = await walk.openIn(page.context());
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await visitor.route('**/v1/console/session', async (route) => {
      await held;
      const headers = { 'retry-after': '3', 'x-request-id': 'request-of-the-frame' };
      return route.fulfill({ status: 503, headers, json: { detail: 'The service is starting.' } });
    });
    await visitor.goto('/o/-/keys');
    await appears(visitor.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Keys' }));
    await appears(visitor.getByRole('progressbar', { name: 'Loading' }));
    expect(await walk.faults(visitor)).toEqual([]);
    answer();
    await appears(visitor.getByRole('heading', { level: 1, name: 'The page cannot be shown' }));
    await appears(visitor.getByText(/^Trying again in [1-3] s/));
    const problem = visitor.getByRole('alert');
    await appears(problem.getByText('The service is starting.'));
    await appears(problem.getByText('request-of-the-frame'));
    await visitor.unroute('**/v1/console/session');
    await appears(visitor.getByRole('heading', { level: 1, name: 'Keys' }));

    const busy = { status: 503, headers: { 'retry-after': '60' }, json: { detail: 'Busy.' } };
    await visitor.route('**/api/v1/api-key', (route) => route.fulfill(busy));
    await visitor.reload();
    await appears(visitor.getByText(/^Trying again in (60|5\d) s/));
    expect(await walk.looks(visitor)).toEqual([]);
    await visitor.unroute('**/api/v1/api-key');
    await tabTo(visitor.getByRole('button', { name: 'Try again' }));
    await visitor.keyboard.press('Enter');
    await appears(visitor.getByRole('region', { name: 'API keys' }));
    await visitor.close();
  });

  it('says of whatever does not exist that it does not, on a page of its own', async () => {
    const none = crypto.randomUUID();
    const { path: shown } = ways.find(({ path }) => path.includes('compare?'))!;
    const dataset = shown.split('/compare')[0]!;
    const missing: readonly (readonly [path: string, thing: string])[] = [
      [`/o/-/datasets/${none}`, 'dataset'],
      ['/o/-/datasets/no-id?tab=examples', 'dataset'],
      [`${dataset}/compare?selectedSessions=${none}`, 'experiment'],
      [`${dataset}/e/${none}`, 'row'],
      [`/o/-/projects/p/${none}`, 'experiment or project'],
      [`/o/-/projects/p/${none}/r/${none}`, 'run'],
      [`/o/-/host/deployments/${none}`, 'deployment'],
      [`/o/-/webhooks/${none}`, 'webhook'],
      [`/public/${none}/d`, 'shared dataset'],
      [`/public/${none}/r`, 'shared run'],
      [`/public/${none}/compare`, 'shared comparison'],
      [`/public/${none}/shared-run`, 'shared run'],
      [`/o/${none}/experiments`, 'workspace'],
      ['/o/no-id/experiments', 'workspace'],
    ];
    await inTurn(missing, async ([path, thing]) => {
      const visitor = await walk.openIn(page.context());
      await visitor.goto(path);
      await appears(visitor.getByRole('heading', { level: 1, name: `There is no such ${thing}`, exact: true }));
      await appears(visitor.getByRole('link', { name: 'Fairlead, experiments' }));
      await settled(visitor);
      expect([path, await visitor.locator('main :is(table, nav)').count()]).toEqual([path, 0]);
      expect(await visitor.locator('main').innerText()).not.toMatch(/should|path\.|query\./);
      await visitor.close();
    });
    await page.goto(`/o/-/datasets/${none}`);
    await appears(page.getByRole('alert').getByText('Request', { exact: false }).last());
    expect(await walk.looks(page)).toEqual([]);
  });

  it('names the scope that a key lacks', async () => {
    const { key } = await installation.ask('POST', '/api/v1/api-key', { description: 'reads', scopes: ['read'] });
    const reader = await walk.open();
    await reader.goto('/login');
    await reader.getByLabel('API key').fill(key);
    await reader.keyboard.press('Enter');
    await reader.waitForURL('**/o/-/experiments');
    for (const [path, words] of [
      ['audit', 'read the audit log'],
      ['keys', 'see the keys of this workspace'],
    ]) {
      await reader.goto(`/o/-/${path}`);
      await appears(reader.getByRole('alert').getByText(`This key may not ${words}: it needs the scope admin.`));
    }
    await reader.goto('/o/-/audit');
    await settled(reader);
    expect(await walk.looks(reader)).toEqual([]);
    await reader.context().close();
  });

  describe('when the session ends', () => {
    let visitor: Page;
    let key: string;
    const again = () => visitor.getByRole('dialog', { name: 'Sign in again' });
    const asked = (name: string) => visitor.getByRole('dialog', { name });
    const form = () => visitor.getByRole('dialog', { name: 'Create a key' });
    const names = async () => (await installation.ask('GET', '/api/v1/api-key')).map((one: ApiKey) => one.description);
    type ApiKey = { description: string };

    const newKey = async (description: string, workspace?: string): Promise<string> => {
      const headers: Record<string, string> = workspace === undefined ? {} : { 'x-tenant-id': workspace };
      const body = { description, scopes: ['admin'] };
      return (await installation.ask('POST', '/api/v1/api-key', body, headers)).key;
    };

    /** Signs in where the page asks for a key. */
    async function enter(with_: string): Promise<void> {
      await visitor.getByRole('textbox', { name: 'API key' }).fill(with_);
      await visitor.keyboard.press('Enter');
    }

    /** Types into the form for a key, and sends it after the session has ended. */
    async function sendTooLate(text: string): Promise<void> {
      await visitor.goto('/o/-/keys');
      await visitor.getByRole('button', { name: 'Create a key …' }).click();
      await form().getByLabel('What it is for').fill(text);
      await visitor.context().clearCookies();
      await visitor.keyboard.press('Enter');
      await appears(again());
    }

    beforeAll(async () => {
      key = await newKey('of the visitor');
      visitor = await walk.open();
      await visitor.goto('/login');
      await enter(key);
      await visitor.waitForURL('**/o/-/experiments');
    });

    afterAll(() => visitor?.context().close());

    it('keeps what was typed, in no storage, and sends what was refused again', async () => {
      await sendTooLate('typed before');
      expect(await form().getByLabel('What it is for').inputValue()).toBe('typed before');
      expect(await visitor.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('typed before');
      expect(await walk.looks(visitor)).toEqual([]);
      await enter('fl_no_key');
      await appears(again().getByRole('alert').getByText('This key is not known here.'));
      await enter(key);
      await appears(asked('The new key'));
      expect((await names()).filter((name: string) => name === 'typed before')).toHaveLength(1);
    });

    it('clears the values of secrets that were typed or shown', async () => {
      await visitor.goto('/o/-/integrations');
      await visitor.getByRole('button', { name: 'Add a code host …' }).click();
      const dialog = asked('Add a code host');
      await dialog.getByLabel('Name').fill('kept');
      const token = dialog.getByLabel('Access token');
      await token.fill('cleared');
      await dialog.getByLabel('Address').fill('no address');
      await visitor.context().clearCookies();
      await visitor.keyboard.press('Enter');
      await appears(again());
      await until(
        () => token.inputValue(),
        (value) => value === '',
      );
      await enter(key);
      await appears(dialog.getByRole('alert'));
      expect(await dialog.getByLabel('Name').inputValue()).toBe('kept');
      expect(await token.inputValue()).toBe('');
    });

    it('asks before it sends anything again with another key, and keeps what was typed when it is not sent', async () => {
      const other = await newKey('another one');
      await sendTooLate('with another key');
      await enter(other);
      const question = asked('Send it again?');
      await appears(question.getByText('“Create a key” was not done'));
      await appears(question.getByText('another one'));
      expect(await walk.looks(visitor)).toEqual([]);
      await visitor.keyboard.press('Enter');
      await appears(form().getByRole('alert').getByText('This was not sent again'));
      expect(await names()).not.toContain('with another key');
      await form().getByRole('button', { name: 'Create', exact: true }).click();
      await appears(asked('The new key'));
      expect(await names()).toContain('with another key');
    });

    it('sends nothing to another workspace unasked', async () => {
      const { id } = await installation.ask('POST', '/api/v1/workspaces', { display_name: 'elsewhere' });
      const elsewhere = await newKey('from elsewhere', id);
      await visitor.context().clearCookies();
      await visitor.goto('/login');
      await enter(key);
      await visitor.waitForURL('**/o/-/experiments');
      await sendTooLate('in the first workspace');
      await enter(elsewhere);
      const question = asked('This is another workspace');
      await appears(question.getByText('one of “elsewhere”'));
      expect(await walk.looks(visitor)).toEqual([]);
      await question.getByRole('button', { name: 'Use another key' }).click();
      await appears(again());
      await enter(key);
      await appears(asked('The new key'));
      expect(await names()).toContain('in the first workspace');
    });

    it('asks before it deletes anything', async () => {
      await newKey('to be revoked');
      await visitor.goto('/o/-/keys');
      await visitor.getByRole('button', { name: 'Revoke to be revoked' }).click();
      await visitor.context().clearCookies();
      await asked('Revoke this key').getByRole('button', { name: 'Revoke', exact: true }).click();
      await appears(again());
      await enter(key);
      await asked('Send it again?').getByRole('button', { name: 'Send it now' }).click();
      await asked('Revoke this key').waitFor({ state: 'detached' });
      expect(await names()).not.toContain('to be revoked');
    });

    it('asks before Escape, another page or a reload discards what was typed', async () => {
      const question = asked('Discard what you typed?');
      await visitor.goto('/o/-/experiments');
      await tabTo(visitor.getByRole('link', { name: 'Keys' }));
      await visitor.keyboard.press('Enter');
      const opener = visitor.getByRole('button', { name: 'Create a key …' });
      await opener.click();
      await visitor.keyboard.press('Escape');
      await form().waitFor({ state: 'detached' });
      expect(await opener.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
      await opener.click();
      const field = form().getByLabel('What it is for');
      await field.fill('unsaved');
      await visitor.keyboard.press('Escape');
      await appears(question);
      expect(await walk.looks(visitor)).toEqual([]);
      await visitor.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      await visitor.evaluate('history.back()');
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      const browserAsks = visitor.waitForEvent('dialog');
      await visitor.evaluate('setTimeout(() => location.reload())');
      const dialog = await browserAsks;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      expect([await field.inputValue(), new URL(visitor.url()).pathname]).toEqual(['unsaved', '/o/-/keys']);
      await visitor.keyboard.press('Escape');
      await question.getByRole('button', { name: 'Discard it' }).click();
      await form().waitFor({ state: 'detached' });
      await visitor.goBack();
      await visitor.waitForURL('**/o/-/experiments');
    });
  });

  it('stays around a page that fails, and shows the page when that is over', async () => {
    const visitor = await walk.openIn(page.context());
    await visitor.route('**/api/v1/api-key', (route) => route.fulfill({ json: {} }));
    await visitor.goto('/o/-/keys');
    const problem = visitor.getByRole('alert').filter({ hasText: 'The console failed while it showed this page.' });
    await appears(problem);
    expect(await walk.looks(visitor)).toEqual([]);
    expect(walk.complaints.splice(0).join()).toContain('is not a function');
    await visitor.unroute('**/api/v1/api-key');
    await tabTo(problem.getByRole('button', { name: 'Try again' }));
    await visitor.keyboard.press('Enter');
    await appears(visitor.getByRole('table'));
    await appears(visitor.getByRole('heading', { level: 1, name: 'Keys' }));
    await visitor.close();
  });
});
