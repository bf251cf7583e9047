import { randomBytes } from 'node:crypto';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { Canaries } from '../testing/console/canaries';
import { appears, ConsoleWalk, settled, WAITING, WATCH_SHIFT } from '../testing/console/console-walk';
import { DEPLOY, fillHostile, type HostileThings } from '../testing/console/hostile';
import { OPEN_STOPS, type Stop, stops, TYPED } from '../testing/console/stops';
import { Wire } from '../testing/console/wire';
import { type Outside, startOutside } from '../testing/outside';

const NARROW = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 800 };
/** Elements that are wider than the window, or than the dialog that they are in. Runs in the page. */
const WIDER = `[document.documentElement, ...document.querySelectorAll('dialog')].flatMap((part) =>
  part.scrollWidth > part.clientWidth ? [part.localName + ' is ' + part.scrollWidth + ' wide'] : [],
)`;
/** Most requests of a page that a browser opens, until it is shown; those that wait for changes are not counted. */
const MOST_REQUESTS = 25;
/** Most layout shift of a page that loads, and pages of one thing, whose parts come one after the other. */
const MOST_SHIFT = 0.02;
const OF_ONE_THING = [
  'comparison',
  'one experiment',
  'example',
  'dataset',
  'trace',
  'thread',
  'deployment',
  'revisions',
];
/** Least number of secrets that are looked for. */
const SECRETS = 20;

// Some tests go through all pages, which takes long on a busy machine.
jest.setTimeout(900_000);

let outside: Outside;
let walk: ConsoleWalk;
let wire: Wire;
let canaries: Canaries;
let things: HostileThings;
let page: Page;
const typed = {} as Record<keyof typeof TYPED, string>;

/** Answers of the service to every request. */
const STATES: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  'is not there': (route) => route.fulfill({ status: 404, json: { detail: 'not just now' } }),
  'is forbidden': (route) => route.fulfill({ status: 403, json: { detail: 'Forbidden' } }),
};
const NAMES = Object.keys(stops(typed));
/** Pages for one of the states: a usual run tries each page in one of them, in the other one the next day. */
const namesFor = (state: string) => {
  if (process.env.FAIRLEAD_FAULTS === 'full') return NAMES;
  const today = Math.floor(Date.now() / 86_400_000) + Object.keys(STATES).indexOf(state);
  return NAMES.filter((_, nth) => (nth + today) % 2 === 0);
};

inBrowser('The console, with hostile text in every field and a canary as every secret', () => {
  beforeAll(async () => {
    const hex = randomBytes(32).toString('hex');
    const settings = { registry: 'canary-of-the-registry', metrics: `canary-${hex.slice(0, 16)}` };
    outside = await startOutside('canary-token-of-a-user');
    walk = await ConsoleWalk.start({
      EXECUTOR: 'command',
      COMMAND_DEPLOY: DEPLOY,
      OUTBOUND_ALLOW: '127.0.0.1',
      FAIRLEAD_MASTER_KEY: hex,
      REGISTRY_URL: 'registry.example',
      REGISTRY_TOKEN: settings.registry,
      METRICS_TOKEN: settings.metrics,
    });
    wire = await Wire.start(walk.installation.url);
    canaries = new Canaries(wire);
    canaries.watch('master key', hex);
    canaries.watch('password of the registry', settings.registry);
    canaries.watch('token for metrics', settings.metrics);
    canaries.watch('token of a user', 'canary-token-of-a-user');
    for (const name of Object.keys(TYPED) as (keyof typeof TYPED)[]) typed[name] = canaries.plant(TYPED[name]);
    things = await fillHostile(walk.installation, outside, canaries);
    await walk.installation.database.pool.query(
      `insert into parked_subjects (consumer, subject, event_type, version, last_version, attempts, reason)
       values ('gone.Sent', 'parcel-1', 'Sent', 1, 1, 10, '<img src=x onerror=alert(1)>')`,
    );
    page = await walk.open({ baseURL: wire.url, viewport: WIDE });
    await signIn();
  });

  afterAll(async () => {
    await walk?.stop();
    wire?.stop();
    outside?.stop();
  });

  /** Signs in with a link; its code and the session's token are secrets from then on. */
  async function signIn(): Promise<void> {
    const unused = (await walk.newLink()).split('code=')[1]!;
    canaries.watch('code of a link that nobody opened', unused);
    const link = await walk.newLink();
    canaries.watch('code of a link', link.split('code=')[1]!);
    await page.goto(link);
    await page.waitForURL('**/o/-/experiments');
    const [cookie] = await page.context().cookies();
    canaries.watch('session', cookie!.value);
    await settled(page);
    expect(await canaries.look(page)).toEqual(['code of a link in the body of POST /v1/console/session']);
  }

  it('shows its canaries to the detector, wherever they are put', async () => {
    const context = await walk.open({ baseURL: wire.url });
    const planted = new Canaries(wire);
    const canary = planted.plant('leak');
    await context.goto('/login');
    await context.getByLabel('API key').fill(canary);
    await context.evaluate(
      `(async (canary) => {
        const settled = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
        document.body.dataset.leak = canary;
        localStorage.setItem('leak', btoa('x' + canary));
        sessionStorage.setItem('leak', canary);
        document.cookie = 'leak=' + canary;
        history.replaceState({ canary }, '', '/login?leak=' + canary);
        window.name = canary;
        await (await caches.open('leak')).put('/leak', new Response(canary));
        const opening = indexedDB.open('leak', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('leaks', { autoIncrement: true });
        const database = await settled(opening);
        await settled(database.transaction('leaks', 'readwrite').objectStore('leaks').add({ canary }));
        database.close();
        const headers = { 'x-reason': canary, 'x-request-id': canary };
        await fetch('/v1/nothing?leak=' + canary, { method: 'POST', headers, body: canary });
      })('${canary}')`,
    );
    const places = ['document', 'fields', 'address', 'history', 'local storage', 'session storage', 'databases'];
    const sent = ['the address of', 'headers of', 'the body of', 'headers of the answer to'];
    const found = await planted.look(context);
    for (const place of [...places, 'caches', 'cookies', 'name of the window'])
      expect(found).toContain(`leak in ${place}`);
    for (const place of sent) expect(found).toContain(`leak in ${place} POST /v1/nothing`);
    await context.evaluate(`fetch('/v1/nothing').then((answer) => answer.text())`);
    planted.watch('answer', 'Not Found');
    expect(await planted.look(context)).toContain('answer in the answer to GET /v1/nothing');
    await context.context().close();
    // These are what the detector has to find, so no page has made them.
    walk.complaints.length = 0;
  });

  it('finds targets that are too small', async () => {
    const visitor = await walk.open({ baseURL: wire.url });
    await visitor.goto('/login');
    await settled(visitor);
    await visitor.evaluate(`{
      const place = document.createElement('div');
      document.querySelector('h1').before(place);
      for (const name of ['one', 'two']) {
        const small = place.appendChild(document.createElement('button'));
        small.textContent = name;
        Object.assign(small.style, { width: '12px', height: '12px', padding: 0, border: 0, font: '8px serif' });
      }
    }`);
    expect((await walk.faults(visitor)).join()).toContain('target-size');
    await visitor.context().close();
  });

  it('tells of whatever the policy of its pages forbids', async () => {
    const visitor = await walk.open({ baseURL: wire.url });
    await visitor.goto('/login');
    await settled(visitor);
    await visitor.evaluate(
      `(async () => {
        const forbidden = [
          () => (document.body.innerHTML = '<b>markup</b>'),
          () => document.body.setAttribute('style', 'color: red'),
          () => fetch('https://elsewhere.example/'),
        ];
        for (const attempt of forbidden) await Promise.resolve().then(attempt).catch(() => undefined);
      })()`,
    );
    const directives = ['require-trusted-types-for', 'style-src-attr', 'connect-src'];
    await until(
      () => directives.filter((directive) => !walk.complaints.join().includes(`policy: ${directive}`)),
      (unheard) => unheard.length === 0,
    );
    await visitor.context().close();
    walk.complaints.length = 0;
  });

  it.each(NAMES)('has no fault and shows no secret: %s', async (name) => {
    await stopAt(page, name, stops(typed)[name]!, '/o/-/');
  });

  it.each(Object.keys(OPEN_STOPS))('has no fault and shows no secret to anybody: %s', async (name) => {
    const stranger = await walk.open({ baseURL: wire.url, viewport: WIDE });
    await stopAt(stranger, name, OPEN_STOPS[name]!);
    await stranger.context().close();
  });

  it('shows the secrets that it makes once, to whoever makes them', async () => {
    await page.goto('/o/-/keys');
    await page.getByRole('button', { name: 'Create a key …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What it is for').fill('<b>made here</b>');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const made = (await dialog.locator('code').textContent())!;
    expect(await faultsOf(page)).toEqual([]);
    canaries.watch('key that was made', made);
    expect(await canaries.look(page)).toEqual([
      'key that was made in document',
      'key that was made in the answer to POST /api/v1/api-key',
    ]);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.goto('/o/-/webhooks');
    await page.getByRole('button', { name: 'Add a webhook …' }).click();
    await dialog.getByLabel('Address').fill(`${outside.url}/hook`);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const secret = (await dialog.locator('code').textContent())!;
    expect(await faultsOf(page)).toEqual([]);
    canaries.watch('secret that was made', secret);
    expect(await canaries.look(page)).toEqual([
      'secret that was made in document',
      'secret that was made in the answer to POST /v1/webhooks',
    ]);
    await page.goto('/o/-/keys');
    await settled(page);
    expect(await canaries.look(page)).toEqual([]);
  });

  it.each(Object.keys(STATES))('has no fault while what a page shows %s', async (state) => {
    await intercepted(page.context(), STATES[state]!, () => expectNoFaults(page, namesFor(state)));
  });

  it('shows nothing that moves while a page of one thing loads', async () => {
    const still = await walk.openIn(page.context());
    await still.addInitScript(WATCH_SHIFT);
    const shift = () => still.evaluate<number>('globalThis.shift');
    const paths = OF_ONE_THING.map((name) => stops(typed)[name]!.path(things));
    const moved: Record<string, number> = {};
    const note = async (how: string) => {
      await settled(still);
      if ((await shift()) > MOST_SHIFT) moved[how] = await shift();
    };
    for (const viewport of [{ width: 1440, height: 900 }, NARROW]) {
      await still.setViewportSize(viewport);
      for (const path of [...paths, `${paths[0]}&row=${things.example}`]) {
        await still.goto(`/o/-/${path}`);
        await note(`${path} at ${viewport.width}`);
        await still.goto('/o/-/audit/verify');
        await settled(still);
        const push = `globalThis.shift = 0; history.pushState(null, '', ${JSON.stringify(`/o/-/${path}`)})`;
        await still.evaluate(`document.querySelector('main').id = 'left'; ${push}`);
        await still.locator('#left').waitFor({ state: 'detached' });
        await note(`${path} at ${viewport.width}, from another page`);
      }
    }
    expect(moved).toEqual({});
    // What comes late above the rest is noticed.
    await still.evaluate(`document.querySelector('h1').after('late '.repeat(200))`);
    await settled(still);
    expect(await shift()).toBeGreaterThan(MOST_SHIFT);
    await still.close();
  });

  it('has no fault while pages load', async () => {
    // These show their frame at once, and what they have loaded within.
    const loading = NAMES.filter((name) => !['verify', 'no such page'].includes(name));
    await intercepted(
      page.context(),
      async () => undefined,
      async () => {
        const shown = () => appears(page.locator('main [aria-busy="true"]'));
        await expectNoFaults(page, loading, { shown });
      },
    );
  });

  it('has no fault in a workspace that has nothing yet', async () => {
    const lists = [
      'experiments',
      'datasets',
      'deployments',
      'code hosts',
      'providers',
      'listeners',
      'webhooks',
      'monitors',
    ];
    const all = ['dataset', ...lists, 'audit', 'keys', 'health', 'examples'];
    const { empty, emptyDataset } = things;
    await expectNoFaults(page, all, { workspaces: [empty], ids: { ...things, dataset: emptyDataset } });
  });

  it('has no fault for a key that only reads, and shows it no secret, until the key is revoked', async () => {
    const { id, key } = await walk.installation.ask('POST', '/api/v1/api-key', { description: 'r', scopes: ['read'] });
    canaries.watch('key that was signed in with', key);
    const reader = await walk.open({ baseURL: wire.url, viewport: WIDE });
    await reader.goto('/login');
    await reader.getByLabel('API key').fill(key);
    await reader.getByRole('button', { name: 'Sign in' }).click();
    await reader.waitForURL('**/o/-/experiments');
    await settled(reader);
    expect(await canaries.look(reader)).toEqual([
      'key that was signed in with in the body of POST /v1/console/session',
    ]);
    await expectNoFaults(reader, NAMES);
    expect(await canaries.look(reader)).toEqual([]);
    await walk.installation.ask('DELETE', `/api/v1/api-key/${id}`);
    await reader.reload();
    await appears(reader.getByRole('heading', { name: 'Sign in to Fairlead' }));
    expect(await faultsOf(reader)).toEqual([]);
    await reader.context().close();
  });

  it('has sent and received nothing else that is secret', () => {
    expect(canaries.count).toBeGreaterThanOrEqual(SECRETS);
    const shared = /^token of a/;
    expect(
      canaries
        .lookAtRequests()
        .filter((found) => !shared.test(found))
        .sort(),
    ).toEqual(
      [
        'key that was signed in with in the body of POST /v1/console/session',
        'code of a link in the body of POST /v1/console/session',
        'key that was made in the answer to POST /api/v1/api-key',
        'secret of a deployment in the answer to POST /v2/deployments/DEPLOYMENT/secrets/TOKEN/reveal',
        'secret that was made in the answer to POST /v1/webhooks',
        `${TYPED.host} in the body of POST /v1/integrations`,
        `${TYPED.variable} in the body of PATCH /v2/deployments/DEPLOYMENT`,
      ]
        .map(placed)
        .sort(),
    );
  });
});

/** Opens a page and what is on it; at each step nothing may be wrong, and no secret seen but those that are asked for. */
async function stopAt(on: Page, name: string, { path, shows, steps = {}, token }: Stop, base = '') {
  await on.setViewportSize(WIDE);
  await on.goto('about:blank');
  const requests: string[] = [];
  const note = (request: Request) => WAITING.test(request.url()) || requests.push(request.url());
  on.on('request', note);
  await on.goto(`${base}${path(things)}`);
  await appears(on.getByText(shows));
  await settled(on);
  on.off('request', note);
  expect(requests.length > MOST_REQUESTS ? { name, requests } : { name }).toEqual({ name });
  await expectStep(on, name, [], token);
  await on.setViewportSize(NARROW);
  await settled(on);
  expect({ name, narrow: await walk.faults(on) }).toEqual({ name, narrow: [] });
  await on.setViewportSize(WIDE);
  for (const [step, { open, seen: asked = [] }] of Object.entries(steps)) {
    await open(on, things);
    await expectStep(on, `${name}, ${step}`, asked);
  }
}

/** Expects that nothing is wrong with what a page shows now, and that it holds no secret but those that are asked for. */
async function expectStep(on: Page, step: string, seen: readonly string[], token?: string): Promise<void> {
  await settled(on);
  const found = (await canaries.look(on)).filter((one) => !one.startsWith(`${token} in `));
  const wide = [];
  for (const size of [NARROW, WIDE]) {
    await on.setViewportSize(size);
    // What depends on the width in scripts is drawn anew after that.
    await settled(on);
    wide.push(...(await on.evaluate<string[]>(WIDER)).map((part) => `${size.width} pixels: ${part}`));
  }
  expect({ step, faults: await faultsOf(on), wide, found }).toEqual({
    step,
    faults: [],
    wide: [],
    found: seen.map(placed),
  });
}

interface Walked {
  readonly workspaces?: readonly string[];
  readonly ids?: HostileThings;
  /** Resolves when a page shows what it should. */
  readonly shown?: () => Promise<void>;
}

/**
 * Goes through pages without loading the console anew, and expects that nothing is wrong with any of them.
 */
async function expectNoFaults(
  on: Page,
  names: readonly string[],
  { workspaces = ['-', things.workspace], ids = things, shown = () => settled(on) }: Walked = {},
): Promise<void> {
  // Any page of the console would do.
  await on.goto(`/o/${workspaces.at(-1)}/audit/verify`);
  await settled(on);
  const faults: Record<string, string[]> = {};
  for (const [at, name] of names.entries()) {
    // What is on a page is made anew for another name of the workspace, also where both have the same parts.
    const path = `/o/${workspaces[at % workspaces.length]}/${stops(typed)[name]!.path(ids)}`;
    // What is shown belongs to the page that is left until the other one has come, which has elements of its own.
    await on.evaluate(
      `document.querySelector('main').id = 'left'; history.pushState(null, '', ${JSON.stringify(path)})`,
    );
    await on.locator('#left').waitFor({ state: 'detached' });
    await shown();
    const found = await faultsOf(on);
    if (found.length > 0) faults[name] = found;
  }
  expect(faults).toEqual({});
}

/** Faults of a page, and complaints of it or its browser until now. */
async function faultsOf(on: Page): Promise<string[]> {
  return [...(await walk.looks(on)), ...walk.complaints.splice(0)];
}

function placed(found: string): string {
  return found.replace('DEPLOYMENT', things.deployment);
}

/** Lets the API answer otherwise for as long as something runs; not what tells who is signed in, and what changes. */
async function intercepted(context: BrowserContext, answer: (route: Route) => Promise<void>, run: () => Promise<void>) {
  const api = /\/(api\/v1|v1|v2|health)\/(?!console\/session$|changes\?)/;
  await context.route(api, answer);
  try {
    await run();
  } finally {
    await context.unroute(api);
  }
}
