import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { type Installation, startApart, startWhole } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { appears, ConsoleWalk, tabTo } from '../testing/console/console-walk';
import { newDeployment, upload } from '../testing/tenant-things';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1280, height: 800 } };
const execute = promisify(execFile);

let walk: ConsoleWalk;
let installation: Installation;

/** A way to use the console: with a mouse, a keyboard or a phone. */
interface Way {
  readonly options: Parameters<ConsoleWalk['open']>[0];
  /** Presses a button or a link, or ticks a box. */
  press(target: Locator): Promise<void>;
  write(target: Locator, text: string): Promise<void>;
  /** Chooses one of the texts that are offered. */
  choose(target: Locator, text: string): Promise<void>;
  /** Expects nothing to be wrong with how a page is shown. */
  look(page: Page): Promise<void>;
}

const WAYS: Readonly<Record<string, Way>> = {
  'by mouse': {
    options: DESK,
    press: (target) => target.click(),
    write: (target, text) => target.fill(text),
    choose: async (target, label) => void (await target.selectOption({ label })),
    look: async () => {},
  },
  'by keyboard alone': {
    options: DESK,
    async press(target) {
      await tabTo(target);
      const box = await target.evaluate((element) => element.matches('input[type=checkbox]'));
      await target.page().keyboard.press(box ? 'Space' : 'Enter');
    },
    async write(target, text) {
      await tabTo(target);
      await target.page().keyboard.press('Control+a');
      await target.page().keyboard.type(text);
    },
    async choose(target, text) {
      await target.getByRole('option', { name: text, exact: true }).waitFor({ state: 'attached' });
      await tabTo(target);
      await target.page().keyboard.type(text);
    },
    look: async () => {},
  },
  'on a phone': {
    options: PHONE,
    press: (target) => target.tap(),
    async write(target, text) {
      await target.tap();
      await target.page().keyboard.type(text);
    },
    choose: async (target, label) => void (await target.selectOption({ label })),
    async look(page) {
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      const small = await walk.faults(page, ['target-size']);
      expect({ at: page.url(), wide, small }).toEqual({ at: page.url(), wide: false, small: [] });
    },
  },
};

interface Place {
  /** Headers of requests in the workspace. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly page: Page;
}

/** A workspace of its own, and a browser that is signed in to it. */
async function place(name: string, way: Way): Promise<Place> {
  const { id } = await installation.ask('POST', '/api/v1/workspaces', { display_name: name });
  const scopes = ['admin', 'secrets:read'];
  const body = { description: name, scopes };
  const { key } = await installation.ask('POST', '/api/v1/api-key', body, { 'x-tenant-id': id });
  const page = await walk.open({ ...way.options, permissions: ['clipboard-read', 'clipboard-write'] });
  const headers = { 'x-api-key': key as string };
  const { path } = await installation.ask('POST', '/v1/console/codes', undefined, headers);
  await page.goto(path as string);
  await page.waitForURL('**/o/-/experiments');
  return { headers, key: key as string, page };
}

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

/** Notes when a button says that it has copied, which it does for two seconds only. Runs in the page. */
const WATCH_COPIED = `void (globalThis.hasCopied = new Promise((resolve) => {
  const look = () => {
    if ([...document.querySelectorAll('button')].some((one) => one.textContent.includes('Copied'))) resolve();
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}))`;

/** Presses a button that copies, and returns what was copied. */
async function copy(way: Way, target: Locator): Promise<string> {
  const page = target.page();
  await page.evaluate(WATCH_COPIED);
  await way.press(target);
  await page.evaluate('globalThis.hasCopied');
  return copied(page);
}

async function uploadRows(name: string, second: number, headers: Place['headers'], dataset?: string) {
  const { results, ...body } = upload(name);
  const rows = [1, 2].map((n) => ({
    ...results[0]!,
    row_id: `b0000000-0000-4000-8000-00000000000${n}`,
    inputs: { question: `question ${n}` },
    actual_outputs: { answer: `the ${name} answer to ${n}` },
    evaluation_scores: [{ key: 'correct', score: n === 1 ? 1 : second }],
  }));
  const named =
    dataset === undefined ? { dataset_name: 'questions' } : { dataset_name: undefined, dataset_id: dataset };
  const sent = { ...body, ...named, results: rows };
  const made = await installation.ask('POST', '/api/v1/datasets/upload-experiment', sent, headers);
  return { dataset: made.dataset.id as string, experiment: made.experiment.id as string };
}

const SHAPES = [
  ['of one process', startWhole, WAYS],
  // As with `npm run cluster`.
  ['of a process for each service', startApart, { 'by mouse': WAYS['by mouse']! }],
] as const;
const describeShape = inBrowser === describe ? describe.each : describe.skip.each;

describeShape(SHAPES)('The tasks of those who use the console of an installation %s', (_, startUp, ways) => {
  beforeAll(async () => {
    walk = await ConsoleWalk.start({}, startUp);
    ({ installation } = walk);
  });

  afterAll(() => walk?.stop());
  afterEach(async () => {
    // Pages that are offline on purpose say that they ask in vain.
    expect(walk.complaints.splice(0).filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
    for (const context of walk.browser.contexts()) await context.close();
  });

  describe.each(Object.entries<Way>(ways))('%s', (name, way) => {
    it('a newcomer runs the copied command, and the first experiment appears', async () => {
      const { page, key } = await place(`newcomer ${name}`, way);
      await appears(page.getByText('No experiment yet'));
      await way.look(page);
      const command = await copy(way, page.getByRole('button', { name: 'Copy' }));
      await execute('sh', ['-c', command], { env: { PATH: process.env.PATH, FAIRLEAD_KEY: key } });
      const first = page.getByRole('region', { name: 'Experiments' }).getByRole('link', { name: 'first-experiment' });
      await appears(first);
      await way.look(page);
      await way.press(first);
      await appears(page.getByRole('region', { name: '1 rows' }));
      await way.look(page);
    });

    it('an evaluation engineer opens a link, finds what got worse and why, and copies the verdict', async () => {
      const { page, headers } = await place(`engineer ${name}`, way);
      const { dataset, experiment } = await uploadRows('base', 1, headers);
      const next = await uploadRows('next', 0, headers, dataset);
      await page.goto(`/datasets/${dataset}/compare?selectedSessions=${experiment}%2C${next.experiment}`);
      await way.press(page.getByRole('button', { name: '1 worse' }));
      await appears(page.getByRole('region', { name: '1 rows' }));
      await way.look(page);
      await way.press(page.getByRole('button', { name: /^Open row 1/ }));
      const panel = page.getByRole('complementary', { name: 'Row' });
      await appears(panel.locator('del', { hasText: 'base' }));
      await appears(panel.locator('ins', { hasText: 'next' }));
      await way.look(page);
      await way.press(panel.getByRole('button', { name: 'Close' }));
      await panel.waitFor({ state: 'detached' });
      const verdict = await copy(way, page.getByRole('button', { name: 'Copy as Markdown' }));
      expect(verdict).toMatch(/\| correct \| next \| 0\.5 \| .+ \|/);
    });

    it('a platform engineer sees what changed, and rolls back once the plan was seen', async () => {
      const { page, headers } = await place(`platform ${name}`, way);
      const { id } = await installation.ask('POST', '/v2/deployments', newDeployment('production'), headers);
      const rolledOut = async () => {
        const { latest_revision_id: revision } = await installation.ask(
          'GET',
          `/v2/deployments/${id}`,
          undefined,
          headers,
        );
        const path = `/v2/deployments/${id}/revisions/${revision}/wait?timeout=60`;
        await until(
          () => installation.ask('GET', path, undefined, headers),
          ({ status }) => /DEPLOYED|FAILED/.test(status),
        );
      };
      await rolledOut();
      const body = { source_revision_config: { image_uri: 'registry.example/production:2' } };
      await installation.ask('PATCH', `/v2/deployments/${id}`, body, {
        ...headers,
        'x-reason': 'bigger context window',
      });
      await rolledOut();
      await page.goto('/o/-/host/deployments');
      await way.press(page.getByRole('link', { name: 'production' }));
      await appears(page.getByText('bigger context window'));
      await way.look(page);
      await way.press(page.getByRole('link', { name: 'Revisions' }));
      await way.press(page.getByRole('link', { name: 'Diff of v2' }));
      await appears(page.getByText('What v2 changed'));
      await appears(page.locator('ins', { hasText: 'registry.example/production:2' }));
      await way.look(page);
      await way.press(page.getByRole('button', { name: 'Roll back to v1' }));
      const dialog = page.getByRole('dialog');
      const plan = dialog.getByRole('region', { name: 'Plan' });
      await appears(plan.locator('ins', { hasText: 'registry.example/production:1' }));
      await way.look(page);
      await way.write(dialog.getByLabel('Reason'), 'it was slow');
      await way.press(dialog.getByRole('button', { name: 'Roll back', exact: true }));
      await page.locator('dialog').waitFor({ state: 'detached' });
      await appears(page.getByText('it was slow'));
      await way.look(page);
    });

    it('a security auditor finds who changed what, and verifies it without the service', async () => {
      const { page, headers } = await place(`auditor ${name}`, way);
      const { id } = await installation.ask('POST', '/v2/deployments', newDeployment('audited'), headers);
      await installation.ask('DELETE', `/v2/deployments/${id}`, undefined, { ...headers, 'x-reason': 'not needed' });
      await page.goto('/o/-/audit');
      await way.choose(page.getByLabel('Operation'), 'Delete deployment');
      await page.waitForURL('**/audit?operations=delete_deployment');
      await appears(page.getByText('not needed'));
      await way.look(page);
      const saving = page.waitForEvent('download');
      await way.press(page.getByRole('button', { name: 'Export', exact: true }));
      expect(readFileSync(await (await saving).path(), 'utf8')).toContain('delete_deployment');
      await way.press(page.getByRole('link', { name: 'Entry: Delete deployment' }).first());
      await way.press(page.getByRole('link', { name: 'History of the deployment' }));
      const exporting = page.waitForEvent('download');
      await way.press(page.getByRole('link', { name: 'Export, signed' }));
      const history = readFileSync(await (await exporting).path());
      await way.press(page.getByRole('link', { name: 'Verify' }));
      const keys = JSON.stringify(await installation.ask('GET', '/v1/audit/keys', undefined, headers));
      const file = (called: string, buffer: Buffer) => ({ name: called, mimeType: 'text/plain', buffer });
      const choose = async (label: string, chosen: ReturnType<typeof file>) => {
        const choosing = page.waitForEvent('filechooser');
        await way.press(page.getByLabel(label));
        await (await choosing).setFiles(chosen);
      };
      await choose('Keys, keys.json', file('keys.json', Buffer.from(keys)));
      await choose('Export, a .jsonl file', file('history.jsonl', history));
      await page.context().setOffline(true);
      await way.press(page.getByRole('button', { name: 'Verify' }));
      await appears(page.getByText('It is as it was exported'));
      await way.look(page);
      await page.context().setOffline(false);
    });
  });
});
