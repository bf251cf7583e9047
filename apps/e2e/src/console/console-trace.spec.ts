import { inBrowser } from '@fairlead/edge/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { appears, ConsoleWalk, settled } from '../testing/console/console-walk';
import { upload } from '../testing/tenant-things';
import { agentTrace, hostileTrace, largeTrace, sendRuns } from '../testing/console/traces';

const LARGE = 5000;
/** Most elements of a page with a large trace, and most requests to the service until it is shown. */
const [MOST_NODES, MOST_REQUESTS] = [2000, 12];

jest.setTimeout(300_000);

inBrowser('A trace in the console', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  let project: string;
  const failed = agentTrace(10);
  const large = largeTrace(LARGE);
  const hostile = hostileTrace();

  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    project = await sendRuns(installation, 'traced', [...failed, ...agentTrace(5), ...large, ...hostile]);
    page = await walk.open({ viewport: { width: 1440, height: 900 } });
    await walk.signIn(page);
  });

  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  beforeEach(() => page.setViewportSize({ width: 1440, height: 900 }));

  const address = (id: string) => `/o/-/projects/p/${project}/r/${id}`;
  const tree = (on = page): Locator => on.getByRole('tree', { name: 'Runs' });
  const items = (on = page): Locator => tree(on).getByRole('treeitem');
  const selected = (on = page): Locator => on.getByRole('treeitem', { selected: true });
  const run = (on = page): Locator => on.getByRole('region', { name: 'Run', exact: true });
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  it('shows the tree of its runs, and the run in focus with its facts', async () => {
    await page.goto(address(failed[0]!.id));
    await appears(items().nth(4));
    expect((await items().allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^▾ chain answer quickly.* 2.3 s$/),
      expect.stringMatching(/^retriever look up/),
      expect.stringMatching(/^▾ tool track .*500 ms$/),
      expect.stringMatching(/^tool GET \/parcels/),
      expect.stringMatching(/^llm chat/),
    ]);
    await appears(run().getByText('at track (tools.ts:12)'));
    await appears(run().getByText('Where is parcel 10?'));
    await appears(run().getByRole('link', { name: 'thread 0' }));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
  });

  it('goes from run to run by key, each with an address of its own', async () => {
    await page.goto(address(failed[0]!.id));
    await appears(items().nth(4));
    await press('j', 'j');
    await page.waitForURL(`**${address(failed[2]!.id)}`);
    await press('h');
    await items().nth(4).waitFor({ state: 'detached' });
    await press('j');
    await page.waitForURL(`**${address(failed[4]!.id)}`);
    await appears(run().getByText('Answer in one sentence.'));
    await appears(run().getByText('calls track: {"parcel":10}'));
    await appears(run().getByText('250 ms'));
    await appears(run().getByText('130 (110 in, 20 out)'));
    await press('e');
    await page.waitForURL(`**${address(failed[0]!.id)}`);
    await press('e');
    await page.waitForURL(`**${address(failed[2]!.id)}`);
    await press('l', 'l');
    await page.waitForURL(`**${address(failed[3]!.id)}`);
    await tree().focus();
    await press('ArrowLeft', 'ArrowUp');
    await page.waitForURL(`**${address(failed[1]!.id)}`);
    await press('End');
    await page.waitForURL(`**${address(failed[4]!.id)}`);
    await items().filter({ hasText: 'look up' }).getByRole('link').click();
    await page.waitForURL(`**${address(failed[1]!.id)}`);
    await appears(run().getByText('Parcels are tracked by their number.'));
  });

  it('shows a run as JSON, with feedback, and on a phone', async () => {
    const [root] = failed;
    const given = {
      run_id: root!.id,
      key: 'helpful',
      score: 0,
      comment: 'No answer at all.',
      correction: { say: 'sorry' },
    };
    await installation.ask('POST', '/api/v1/feedback', given);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(address(root!.id));
    await appears(run().getByText('No answer at all.'));
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await walk.looks(page)).toEqual([]);
    await run().getByRole('link', { name: 'As JSON' }).click();
    await page.waitForURL('**?view=json');
    await appears(run().getByText('"content": "Where is parcel 10?"'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it(`shows any of ${LARGE} runs, with few elements and requests`, async () => {
    const visitor = await walk.openIn(page.context());
    let requests = 0;
    visitor.on('request', (request) => (requests += /\/(api|v1|v2)\//.test(request.url()) ? 1 : 0));
    await visitor.setViewportSize({ width: 1440, height: 900 });
    await visitor.goto(address(large[4321]!.id));
    await appears(selected(visitor).getByText('step 4321', { exact: true }));
    await appears(visitor.getByText('5,000 runs'));
    await settled(visitor);
    expect(requests).toBeLessThanOrEqual(MOST_REQUESTS);
    await visitor.getByRole('button', { name: 'Next error of 5' }).click();
    await selected(visitor).getByText('failed').waitFor({ state: 'attached' });
    await tree(visitor).focus();
    for (const key of ['End', 'Home', 'PageDown', 'j', 'j']) await visitor.keyboard.press(key);
    await visitor.getByRole('button', { name: 'Fold all' }).click();
    await appears(items(visitor).nth(20));
    await visitor.getByRole('button', { name: 'Unfold all' }).click();
    await tree(visitor).evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
    await settled(visitor);
    expect(await visitor.evaluate('document.querySelectorAll("*").length')).toBeLessThan(MOST_NODES);
    expect(await walk.looks(visitor)).toEqual([]);
    await visitor.close();
  });

  it('shows what no program should send as text, each run once', async () => {
    await page.goto(address(hostile[0]!.id));
    await appears(items().nth(hostile.length - 1));
    expect(await items().count()).toBe(hostile.length);
    for (const name of [
      'first of a circle',
      'second of a circle',
      'its own parent',
      'of a missing parent',
      '(no name)',
    ]) {
      await appears(items().filter({ hasText: name }));
    }
    for (const { id } of hostile) {
      await page.goto(address(id));
      await appears(selected());
      await appears(run());
      await settled(page);
      expect(await walk.looks(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1440);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`/o/-/projects/p/${project}`);
    await appears(page.getByRole('cell'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    expect(await page.title()).not.toBe('ran');
  });

  it('shows a thread as a conversation, with a link to each of its runs', async () => {
    await page.goto(address(failed[0]!.id));
    await run().getByRole('link', { name: 'thread 0' }).click();
    await page.waitForURL('**/t/thread%200');
    await appears(page.getByText('Where is parcel 5?'));
    await appears(page.getByText('Parcel 5 is on its way.'));
    await appears(page.getByRole('link', { name: 'answer quickly' }));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await page.goto(address(hostile[0]!.id));
    await run()
      .getByRole('link', { name: /^a\/b / })
      .click();
    await appears(page.getByRole('heading', { name: 'Conversation' }));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
  });

  it('shows a shared trace in the same way to whoever has its link', async () => {
    const { share_token: token } = await installation.ask('PUT', `/api/v1/runs/${failed[0]!.id}/share`, {});
    const visitor = await walk.open({ viewport: { width: 1440, height: 900 } });
    await visitor.goto(`/public/${token}/r`);
    await appears(items(visitor).nth(4));
    await visitor.keyboard.press('j');
    await appears(run(visitor).getByText('Parcels are tracked by their number.'));
    await visitor.waitForURL(`**?run=${failed[1]!.id}`);
    await settled(visitor);
    expect(await walk.looks(visitor)).toEqual([]);
    await visitor.context().close();
  });

  it('adds feedback and an example by key', async () => {
    const [root, , , , model] = failed;
    await page.goto(address(model!.id));
    await appears(run().getByText('Answer in one sentence.'));
    await press('a');
    const dialog = page.getByRole('dialog');
    await appears(dialog.getByLabel('Key, such as correct').and(page.locator(':focus')));
    await page.keyboard.type('tone');
    await dialog.getByLabel('Result').fill('friendly');
    expect(await walk.looks(page)).toEqual([]);
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await appears(run().getByRole('region', { name: 'Feedback' }).getByText('friendly'));

    const { id: own } = await installation.ask('POST', '/api/v1/datasets', { name: 'of our own' });
    await installation.ask('POST', '/api/v1/datasets/upload-experiment', upload('uploaded'));
    await page.goto(address(root!.id));
    await appears(run().getByText('at track (tools.ts:12)'));
    await press('d');
    const dataset = dialog.getByLabel('Dataset', { exact: true });
    await dataset.selectOption({ label: 'uploaded (filled by uploads)' });
    await appears(dialog.getByText('Only uploads of experiments change this dataset.'));
    expect(await dialog.getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add to a copy of it …' }).click();
    expect(await dialog.getByLabel('Name of the copy').inputValue()).toBe('uploaded (copy)');
    await dialog.getByLabel('Name of the copy').fill('copied');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(dialog.getByRole('link', { name: 'Show the dataset' }));
    const [copy] = await installation.ask('GET', '/api/v1/datasets?name=copied');
    expect(copy).toMatchObject({ example_count: upload('uploaded').results.length + 1 });
    await page.goto(address(root!.id));
    await appears(run().getByText('at track (tools.ts:12)'));
    await press('d');
    await dataset.selectOption('of our own');
    await dialog.getByLabel('Reference output').fill('{"answer": 12345678901234567890}');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(dialog.getByRole('link', { name: 'Show the dataset' }));
    const answer = await installation.fetch('GET', `/api/v1/examples?dataset=${own}`);
    const text = await answer.text();
    expect(text).toContain('12345678901234567890');
    expect(text).toContain(root!.id);
  });

  it('says so when a run is not there, and keeps the trace when one of its runs cannot be read', async () => {
    await page.goto(address(crypto.randomUUID()));
    await appears(page.getByRole('heading', { name: 'There is no such run' }));
    await page.goto(address(failed[0]!.id));
    await appears(items().nth(4));
    await page.route(`**/api/v1/runs/${failed[1]!.id}`, (route) =>
      route.fulfill({ status: 404, json: { detail: 'not just now' } }),
    );
    await press('j');
    await appears(page.getByRole('alert').getByText('not just now'));
    await press('j');
    await appears(run().getByText('ToolError: parcel 10 is unknown'));
  });
});
