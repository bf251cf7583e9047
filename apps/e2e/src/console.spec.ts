import { existsSync, readFileSync } from 'node:fs';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { askUntil } from './testing/route-service';
import { upload } from './testing/tenant-things';

const CHROMIUM = '/usr/bin/chromium';
const inBrowser = existsSync(CHROMIUM) ? describe : describe.skip;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Told of whatever the policy of the page forbids. */
const WATCH = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
});`;

let installation: Installation;
let browser: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

async function open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  context = await browser.newContext({ baseURL: installation.url, ...options });
  await context.addInitScript(WATCH);
  const opened = await context.newPage();
  // A request that is answered 401 or 404 is told of on the console as well.
  opened.on('console', (message) => {
    if (message.type() === 'error' && !/the server responded with a status of 40/.test(message.text())) {
      complaints.push(`${opened.url()}: ${message.text()}`);
    }
  });
  opened.on('pageerror', ({ message }) => complaints.push(`${opened.url()}: ${message}`));
  return opened;
}

/** An experiment of two rows on the dataset `compared`, of which the second one has a score. */
async function uploadRows(name: string, second: number, dataset?: string) {
  const { results, ...body } = upload(name);
  const rows = [1, 2].map((n) => ({
    ...results[0]!,
    row_id: `c0000000-0000-4000-8000-00000000000${n}`,
    inputs: { question: `question ${n}` },
    expected_outputs: { answer: `the answer to ${n}` },
    actual_outputs: { answer: `the ${name} answer to ${n}`, steps: [{ ms: 100 * n + second }] },
    evaluation_scores: [{ key: 'correct', score: n === 1 ? 1 : second }],
  }));
  const named = dataset === undefined ? { dataset_name: 'compared' } : { dataset_name: undefined, dataset_id: dataset };
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const sent = { ...body, ...named, results: rows };
  return (await installation.ask('POST', '/api/v1/datasets/upload-experiment', sent)) as Uploaded;
}

const newLink = async () => (await installation.ask('POST', '/v1/console/codes')).path as string;

async function signIn(): Promise<void> {
  await page.goto(await newLink());
  await page.waitForURL('**/o/-/experiments');
}

/** What axe finds on the page that is shown. */
async function faults(): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

inBrowser('The console', () => {
  beforeAll(async () => {
    installation = await Installation.start();
    const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
    browser = await chromium.launch({ executablePath: CHROMIUM, args });
    page = await open();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await installation?.stop();
  });

  beforeEach(signIn);
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  it('is signed in to by a link, once, and shows the first experiment by itself', async () => {
    const link = await newLink();
    await page.goto(link);
    await page.waitForURL('**/o/-/experiments');
    await page.getByText('No experiment yet').waitFor();
    expect(await page.locator('pre').textContent()).toContain(`${installation.url}/api/v1/datasets/upload-experiment`);
    expect(await faults()).toEqual([]);
    await installation.ask('POST', '/api/v1/datasets/upload-experiment', upload('first'));
    await page.getByRole('link', { name: 'first' }).first().waitFor();
    // The cell of the score comes when the rows are stored.
    await page.locator('td[data-label="correct"]').waitFor();

    const stranger = await browser.newContext({ baseURL: installation.url });
    const second = await stranger.newPage();
    await second.goto(link);
    await second.getByText('This link was used already').waitFor();
    expect(second.url()).toBe(`${installation.url}/login`);
    await stranger.close();
  });

  it('is signed in to with a key, which is kept nowhere in the browser, and signed out of', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill('a-key-that-is-not-known');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is not known here.').waitFor();
    expect(await faults()).toEqual([]);
    await page.getByLabel('API key').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'first' }).first().waitFor();
    const kept = await page.evaluate(
      'JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.toContain(OPERATOR);
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
    expect(JSON.stringify(cookies)).not.toContain(OPERATOR);
  });

  it('compares two experiments: counts that add up, filters, a row with its differences', async () => {
    const { dataset, experiment } = await uploadRows('base', 1);
    const next = await uploadRows('next', 0, dataset.id);
    await page.goto(`/o/-/datasets/${dataset.id}`);
    for (const name of ['base', 'next']) await page.getByLabel(`Compare ${name}`).check();
    await page.getByRole('button', { name: 'Compare 2' }).click();
    await page.waitForURL(`**/compare?selectedSessions=${experiment.id},${next.experiment.id}`);
    await page.getByText('the base answer to 2').waitFor();
    await page.getByRole('button', { name: '1 worse' }).click();
    await page.getByText('Only rows:').waitFor();
    expect(page.url()).toContain(`rows=${next.experiment.id}:worse:correct`);
    await expectRows(1);
    await page.getByRole('button', { name: 'Open row 1' }).click();
    const panel = page.getByRole('complementary', { name: 'Row' });
    await panel.getByText('steps[0].ms').waitFor();
    expect(await panel.locator('del').allTextContents()).toContain('base');
    expect(await panel.locator('ins').allTextContents()).toContain('next');
    expect(await faults()).toEqual([]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await expectRows(2);
    await page.goBack();
    await page.getByText('Only rows:').waitFor();

    const alone = `/o/-/datasets/${dataset.id}/compare?selectedSessions=${experiment.id}`;
    await page.goto(alone);
    await page.getByRole('heading', { name: 'base' }).waitFor();
    await page.getByText('the base answer to 1').waitFor();
  });

  it('has no fault that axe finds, in either theme and on a narrow page', async () => {
    const { dataset, experiment } = await uploadRows('third', 1);
    for (const options of [
      { colorScheme: 'light' as const },
      { colorScheme: 'dark' as const },
      { colorScheme: 'light' as const, viewport: { width: 390, height: 844 } },
    ]) {
      const before = context;
      page = await open(options);
      await before.close();
      await signIn();
      for (const path of [
        'experiments',
        'datasets',
        `datasets/${dataset.id}`,
        `datasets/${dataset.id}?tab=examples`,
        `datasets/${dataset.id}/compare?selectedSessions=${experiment.id}`,
        'host/deployments',
      ]) {
        await page.goto(`/o/-/${path}`);
        await page.waitForLoadState('networkidle');
        expect({ path, options, faults: await faults() }).toEqual({ path, options, faults: [] });
      }
    }
  });

  it('opens the addresses that SDKs and command lines print', async () => {
    const { dataset, experiment } = await uploadRows('printed', 1);
    const run = await askUntil(async () => {
      const { runs } = await installation.ask('POST', '/api/v1/runs/query', { session: [experiment.id] });
      return (runs as { id: string }[])[0]?.id;
    });
    const compare = `/datasets/${dataset.id}/compare?selectedSessions=${experiment.id}`;
    for (const [printed, shown] of [
      [`/o/-${compare}`, 'printed'],
      [compare, 'printed'],
      [`/datasets/${dataset.id}`, 'compared'],
      [`/projects/p/${experiment.id}`, 'printed'],
      [`/api-host/host/deployments/${experiment.id}`, 'Deployments'],
      [`/datasets/${dataset.id}/e/c0000000-0000-4000-8000-000000000001`, 'Row'],
      [`/o/-/projects/p/${experiment.id}/r/${run}?poll=true`, 'printed'],
      ['/hub/some/prompt', 'This is not offered here'],
    ] as const) {
      await page.goto(printed);
      const heading = page.getByRole('heading', { level: 1, name: shown });
      await heading.waitFor({ timeout: 20_000 }).catch(() => undefined);
      expect({ printed, at: page.url(), found: await heading.count() }).toMatchObject({ printed, found: 1 });
    }
  });
});

async function expectRows(count: number): Promise<void> {
  await page.getByRole('region', { name: new RegExp(`^${count} rows`) }).waitFor();
}
