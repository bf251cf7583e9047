import { readFileSync } from 'node:fs';
import { inBrowser } from '@fairlead/edge/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { appears, ConsoleWalk, settled } from '../testing/console/console-walk';
import { agentTrace, EPOCH, placed, sendRuns } from '../testing/console/traces';

const TRACES = 240;

jest.setTimeout(300_000);

inBrowser('The traces of the console', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  let project: string;

  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    page = await walk.open({ viewport: { width: 1440, height: 900 } });
    await walk.signIn(page);
  });

  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  beforeEach(() => page.setViewportSize({ width: 1440, height: 900 }));

  const runs = (on = page): Locator => on.getByRole('region', { name: 'Runs' });
  const rows = (on = page): Locator =>
    runs(on)
      .getByRole('row')
      .filter({ has: on.getByRole('cell') });

  it('begins with a command that sends a trace, and shows the project of the first one by itself', async () => {
    await page.getByRole('link', { name: 'Traces' }).click();
    await appears(page.getByRole('heading', { name: 'No trace yet' }));
    await appears(page.getByText(`curl -sS ${installation.url}/api/v1/runs`));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    const traces = Array.from({ length: TRACES }, (_, n) => agentTrace(n)).flat();
    project = await sendRuns(installation, 'parcels', traces);
    await appears(page.getByRole('link', { name: 'parcels' }));
    const line = page.getByRole('row').filter({ hasText: 'parcels' });
    expect(await line.getByRole('cell').count()).toBe(8);
  });

  it('lists projects, filtered by name in the address, in both widths and themes', async () => {
    await installation.ask('POST', '/api/v1/sessions', { name: 'nothing in it' });
    await page.goto('/o/-/projects');
    await appears(page.getByRole('link', { name: 'nothing in it' }));
    await page.keyboard.press('/');
    await page.keyboard.type('parc');
    await page.waitForURL('**/projects?q=parc');
    await page.getByRole('link', { name: 'nothing in it' }).waitFor({ state: 'detached' });
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await walk.looks(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.waitForURL('**/experiments');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL('**/projects');
  });

  it('shows an empty project until its first run comes', async () => {
    await page.goto('/o/-/projects');
    await page.getByRole('link', { name: 'nothing in it' }).click();
    await appears(page.getByText('This project has no runs yet.'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await sendRuns(installation, 'nothing in it', agentTrace(1));
    await appears(rows());
  });

  it('lists the root runs of a project, the newest first, and reads on while one scrolls', async () => {
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(
      rows()
        .first()
        .getByText(`Where is parcel ${TRACES - 1}?`),
    );
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    expect(await rows().count()).toBeLessThan(60);
    const last = runs().getByText('Where is parcel 0?');
    for (let times = 0; times < 20 && !(await last.isVisible()); times++) {
      await runs().evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      await settled(page);
    }
    await appears(last);
    expect(await rows().count()).toBeLessThan(60);
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await walk.looks(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('goes from run to run with j and k, and opens one with Enter', async () => {
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(rows());
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
    const focused = page.locator('[data-place="1"] a');
    await appears(focused.and(page.locator(':focus')));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/r/*');
    await appears(page.getByRole('treeitem', { selected: true }));
    await page.goBack();
    await appears(rows());
  });

  it('filters by status, name, type, time, tag, metadata, score, text and thread, all in the address', async () => {
    const found = async (search: string): Promise<string[]> => {
      await page.goto(`/o/-/projects/p/${project}?columns=input&${search}`);
      await appears(rows().first().or(page.getByText('No run passes these filters.')));
      await settled(page);
      return rows().allInnerTexts();
    };
    const [scored] = await installation
      .ask('POST', '/api/v1/runs/query', { session: [project], is_root: true, filter: 'search("parcel 7?")', limit: 1 })
      .then((answer: { runs: { id: string }[] }) => answer.runs);
    await installation.ask('POST', '/api/v1/feedback', { run_id: scored!.id, key: 'helpful: yes', score: 0.25 });
    const all: readonly (readonly [search: string, has: RegExp, lacks?: RegExp])[] = [
      ['status=error', /parcel 230\?/, /parcel 231\?/],
      ['status=success', /parcel 231\?/, /parcel 230\?/],
      ['name=quickly', /answer quickly/, /parcel 231\?/],
      ['tag=shift 1', /parcel 231\?/, /parcel 230\?/],
      ['metadata=model=m-0', /parcel 230\?/, /parcel 231\?/],
      ['score=helpful: yes<0.5', /parcel 7\?/, /parcel 8\?/],
      ['q=parcel 12?', /parcel 12\?/, /parcel 13\?/],
      ['thread=thread 3', /parcel 238\?/, /parcel 239\?/],
      ['from=2026-01-02T00:10Z&to=2026-01-02T00:11:30Z', /parcel 11\?/, /parcel 12\?/],
      ['type=chain', /parcel 239\?/],
    ];
    for (const [search, has, lacks] of all) {
      const shown = (await found(search.replaceAll(' ', '%20'))).join('\n');
      expect({ search, shown }).toMatchObject({ search, shown: expect.stringMatching(has) as string });
      if (lacks) expect(shown).not.toMatch(lacks);
    }
    for (const search of ['status=pending', 'type=llm', 'since=1h', 'q=in+none'])
      expect(await found(search)).toEqual([]);
    await page.getByRole('button', { name: 'Drop all filters' }).click();
    await appears(rows());
    await page.getByText('More filters').click();
    await page.getByRole('searchbox', { name: 'Score, correct<0.5' }).fill('correct <');
    await appears(page.getByText('A score is filtered by its key'));
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed');
    await page.waitForURL('**status=error**');
  });

  it('shows the columns that are chosen, which stand in the address', async () => {
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(rows());
    await page.getByRole('button', { name: 'Columns …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    for (const name of ['Show Thread', 'Hide Output', 'Pin Cost', 'Make Status wider']) {
      await dialog.getByRole('button', { name, exact: true }).click();
    }
    await page.keyboard.press('Escape');
    const titles = async () => (await runs().getByRole('columnheader').allInnerTexts()).join();
    const chosen = 'Tick,Name,Cost,Status,Input,Scores,Latency,Tokens,Started,Thread';
    await page.waitForURL(({ searchParams }) => searchParams.get('columns')?.startsWith('cost|status,input') ?? false);
    expect(await titles()).toBe(chosen);
    await page.reload();
    await appears(rows().first().getByText('thread 4'));
    expect(await titles()).toBe(chosen);
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
  });

  it('exports what is ticked, and makes examples of it', async () => {
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(rows());
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await appears(page.getByText('2 ticked'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\n');
    const exported = lines.map((line) => JSON.parse(line) as { id: string; inputs: unknown; outputs: unknown });
    expect(exported).toHaveLength(2);
    await page.getByRole('button', { name: 'Add to dataset …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add 2 runs to a dataset' });
    await dialog.getByLabel('Name of the dataset').fill('of parcels');
    expect(await walk.looks(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await appears(page.getByText('The 2 runs are examples now.'));
    await page.getByRole('link', { name: 'Show the dataset' }).click();
    await page.waitForURL('**/datasets/*?tab=examples');
    const [{ id: dataset }] = await installation.ask('GET', '/api/v1/datasets?name=of%20parcels');
    const examples: { source_run_id: string; inputs: unknown }[] = await installation.ask(
      'GET',
      `/api/v1/examples?dataset=${dataset}`,
    );
    expect(new Map(examples.map(({ source_run_id, inputs }) => [source_run_id, inputs]))).toEqual(
      new Map(exported.map(({ id, inputs }) => [id, inputs])),
    );
  });

  it('announces new runs, loads them when that is wanted, and shows when a run has ended', async () => {
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(
      rows()
        .first()
        .getByText(`Where is parcel ${TRACES - 1}?`),
    );
    const running = { ...placed(undefined, Date.now() - EPOCH), name: 'still running', inputs: {} };
    await sendRuns(installation, 'parcels', [...agentTrace(TRACES), running]);
    const news = page.getByRole('button', { name: '2 new' });
    await appears(news);
    await appears(
      rows()
        .first()
        .getByText(`Where is parcel ${TRACES - 1}?`),
    );
    await news.click();
    await news.waitFor({ state: 'detached' });
    await appears(rows().first().getByText('running', { exact: true }));
    await appears(rows().nth(1).getByText(`Where is parcel ${TRACES}?`));
    const patch = { id: running.id, trace_id: running.trace_id, end_time: new Date().toISOString(), error: 'it broke' };
    await installation.ask('PATCH', `/api/v1/runs/${running.id}`, patch);
    await appears(rows().first().getByText('failed', { exact: true }));
  });
});
