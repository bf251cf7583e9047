import type { Installation } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { ConsoleWalk, inBrowser, settled, tabTo } from '../testing/console/console-walk';
import { upload } from '../testing/tenant-things';

const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const LONG = 'a description that is as long as people make them when they want to be sure what a key is for';
const MARKDOWN =
  '# Found\n\n- **one**\n- `two`\n\n|a|b|\n|-|-:|\n|left|right|\n\n[go](javascript:alert(1)) <b>bold</b>';

let walk: ConsoleWalk;
let installation: Installation;
let page: Page;
let dataset: string;
let ids: Record<'first' | 'second', string>;

type Uploaded = { dataset: { id: string }; experiment: { id: string } };

/** An experiment of six rows, with scores by key. */
async function send(name: string, on: object, score: number, keys: readonly string[]): Promise<Uploaded> {
  const { results, ...body } = upload(name);
  const rows = [1, 2, 3, 4, 5, 6].map((n) => ({
    ...results[0]!,
    row_id: `f0000000-0000-4000-8000-00000000000${n}`,
    inputs: { question: `question ${n}` },
    actual_outputs: { answer: `${MARKDOWN}\n\nsaid by ${name} to ${n}` },
    evaluation_scores: keys.map((key, at) => ({ key, score: at === 0 ? score : n % 2 })),
  }));
  return (await installation.ask('POST', '/api/v1/datasets/upload-experiment', {
    ...{ ...body, dataset_name: undefined, ...on, results: rows },
  })) as Uploaded;
}

/** True when a person sees an element and can press it where it is. */
const isReached = (target: Locator) =>
  target.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const found = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    return found !== null && element.contains(found);
  });

inBrowser('Lists of the console', () => {
  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    const first = await send('first', { dataset_name: 'listed' }, 0.25, ['correct', 'steps']);
    dataset = first.dataset.id;
    const second = await send('second', { dataset_id: dataset }, 0.75, ['correct', 'steps']);
    ids = { first: first.experiment.id, second: second.experiment.id };
    await send('elsewhere', { dataset_name: 'other' }, 1, ['only here']);
    await installation.ask('PUT', `/api/v1/datasets/${dataset}/baseline`, { experiment_id: ids.first });
    page = await walk.open(DESK);
    await walk.signIn(page);
  });

  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  const heads = async () =>
    (await page.locator('thead th').allTextContents()).map((text) => text.replace(/ [↓↑]$/, ''));
  const asked = (name: string, value: string | null) =>
    page.waitForURL(({ searchParams }) => searchParams.get(name) === value);

  it('have the columns that are chosen, in their order, and the pinned ones first', async () => {
    await page.goto(`/o/-/datasets/${dataset}`);
    await page.getByRole('columnheader', { name: 'correct' }).waitFor();
    const usual = ['Compare', 'Name', 'correct', 'overall', 'steps', 'p50', 'Errors', 'Rows', 'Started'];
    expect(await heads()).toEqual(usual);
    await tabTo(page.getByRole('button', { name: 'Columns …' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    for (const name of ['Hide p50', 'Hide steps', 'Pin Errors', 'Move Started up', 'Show p99', 'Make Errors wider']) {
      await tabTo(dialog.getByRole('button', { name }));
      await page.keyboard.press('Enter');
    }
    expect(await walk.looks(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const chosen = ['Compare', 'Name', 'Errors', 'correct', 'overall', 'Started', 'Rows', 'p99'];
    expect(await heads()).toEqual(chosen);
    await asked('columns', 'Errors|score:correct,score:overall,Started,Rows,p99');
    await page.reload();
    await page.getByRole('columnheader', { name: 'p99' }).waitFor();
    expect(await heads()).toEqual(chosen);
    const errors = page.getByRole('columnheader', { name: 'Errors' });
    const { width, x, height, y } = (await errors.boundingBox())!;
    expect(width).toBe(144);
    await page.mouse.move(x + width - 3, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width + 47, y + height / 2);
    await page.mouse.up();
    expect((await errors.boundingBox())!.width).toBe(194);
    await page.getByRole('button', { name: 'Columns …' }).click();
    await dialog.getByRole('button', { name: 'As they usually are' }).click();
    await page.keyboard.press('Escape');
    await asked('columns', null);
    expect(await heads()).toEqual(usual);
  });

  it('of all experiments have no columns for the scores of few of them', async () => {
    await page.goto('/o/-/experiments');
    await page.getByRole('columnheader', { name: 'correct' }).waitFor();
    expect(await heads()).not.toContain('only here');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'elsewhere', exact: true }) });
    expect(await row.locator('td[data-label="Other scores"]').textContent()).toBe('only here 1');
    await page.getByRole('button', { name: 'Columns …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Show only here' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'only here' }).waitFor();
  });

  it('mark differences from the baseline, which is named and chosen there', async () => {
    await page.goto(`/o/-/datasets/${dataset}`);
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    const difference = row('second').locator('td[data-label="correct"] [data-clear]');
    await difference.waitFor();
    expect(await difference.textContent()).toBe('▲better +0.5');
    expect(await difference.getAttribute('title')).toBe('better than the baseline first');
    await row('first').getByText('baseline', { exact: true }).waitFor();
    expect(await walk.looks(page)).toEqual([]);
    await page.getByLabel('Compare second').check();
    await page.getByRole('button', { name: 'Make it the baseline' }).click();
    await row('second').getByText('baseline', { exact: true }).waitFor();
    await row('first').getByText('▼').waitFor();
    const { baseline_experiment_id } = await installation.ask('GET', `/api/v1/datasets/${dataset}`);
    expect(baseline_experiment_id).toBe(ids.second);
  });

  it('leave nothing outside the window without a way to it', async () => {
    await installation.ask('POST', '/api/v1/api-key', { description: LONG, scopes: ['read', 'write', 'invoke'] });
    await page.goto('/o/-/keys');
    const revoke = page.getByRole('button', { name: `Revoke ${LONG}` });
    await revoke.waitFor();
    expect(await isReached(revoke)).toBe(true);
    await page.setViewportSize({ width: 760, height: 900 });
    const further = page.getByRole('button', { name: 'Show the columns after these' }).first();
    await further.waitFor();
    expect(await isReached(revoke)).toBe(true);
    expect(await walk.looks(page)).toEqual([]);
    await further.click();
    await page.getByRole('button', { name: 'Show the columns before these' }).first().waitFor();
    await page.setViewportSize(DESK.viewport);
  });

  it('show times as they are chosen to be', async () => {
    await page.goto('/o/-/keys');
    const time = page.getByRole('region', { name: 'API keys' }).locator('time').first();
    await time.getByText(/ago$|^just now$/).waitFor();
    await time.click();
    await time.getByText(/^\d+ \w+ \d{4}, /).waitFor();
    await page.getByLabel('Times').selectOption('utc');
    await time.getByText(/ UTC$/).waitFor();
    await page.reload();
    await time.getByText(/ UTC$/).waitFor();
    await page.getByLabel('Times').selectOption('relative');
  });

  it('find one of many scores', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `${n % 2 ? 'judge' : 'metric'}.criterion ${n}`);
    const { dataset: many, experiment } = await send('of many scores', { dataset_name: 'many' }, 1, keys);
    await page.goto(`/o/-/datasets/${many.id}/compare?selectedSessions=${experiment.id}`);
    await page.getByRole('button', { name: 'All 30 scores …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Scores' });
    await dialog.getByRole('region', { name: 'judge' }).waitFor();
    await dialog.getByLabel('Find a score').fill('criterion 29');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show judge.criterion 29' }).click();
    await asked('key', 'judge.criterion 29');
    await page.getByRole('button', { name: /^judge.criterion 29/, pressed: true }).waitFor();
  });

  it('and rows are all there on a phone: menu, search, next and previous', async () => {
    const phone = await walk.open(PHONE);
    await walk.signIn(phone);
    await settled(phone);
    const places = phone.getByRole('navigation', { name: 'Pages' });
    expect(await places.isVisible()).toBe(false);
    await phone.getByRole('button', { name: 'Go to …' }).tap();
    await phone.getByRole('combobox', { name: 'Name' }).fill('second');
    await phone.getByRole('option', { name: 'second' }).waitFor();
    await phone.keyboard.press('Escape');
    await phone.getByRole('button', { name: 'Menu' }).tap();
    await phone.getByLabel('Times').waitFor();
    expect(await walk.looks(phone)).toEqual([]);
    await places.getByRole('link', { name: 'Keys' }).tap();
    await phone.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await places.waitFor({ state: 'hidden' });
    await phone.goto(`/o/-/datasets/${dataset}/compare?selectedSessions=${ids.first},${ids.second}&sort=row`);
    await phone.getByRole('button', { name: 'Open row 1:' }).tap();
    const panel = phone.getByRole('complementary', { name: 'Row' });
    await panel.getByRole('heading', { name: /^Row 1 / }).waitFor();
    const [previous, next] = ['Previous row', 'Next row'].map((name) => panel.getByRole('button', { name })) as [
      Locator,
      Locator,
    ];
    await previous.and(phone.locator('[aria-disabled=true]')).waitFor();
    await next.tap();
    await panel.getByRole('heading', { name: /^Row 2 / }).waitFor();
    await next.and(phone.locator(':focus')).waitFor();
    expect(await walk.looks(phone)).toEqual([]);
    await phone.context().close();
  });

  it('and rows show texts as Markdown when that is wanted, without links and markup of theirs', async () => {
    await page.goto(`/o/-/datasets/${dataset}/compare?selectedSessions=${ids.first}&sort=row`);
    await page.getByRole('button', { name: 'Open row 1:' }).click();
    const output = page.getByRole('complementary', { name: 'Row' }).getByRole('group', { name: 'Output' });
    await output.getByText('# Found').waitFor();
    await page.getByRole('button', { name: 'Rendered' }).click();
    await output.getByRole('cell', { name: 'right' }).waitFor();
    expect(await output.getByRole('listitem').allTextContents()).toEqual(['one', 'two']);
    await output.getByText('go (javascript:alert(1)) <b>bold</b>').waitFor();
    expect(await output.locator('a, b, img').count()).toBe(0);
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Next row' }).click();
    await output.getByRole('cell', { name: 'right' }).waitFor();
    await page.reload();
    await output.getByRole('cell', { name: 'right' }).waitFor();
    await page.getByRole('button', { name: 'Raw' }).click();
    await output.getByText('# Found').waitFor();
  });
});
