import { readFileSync } from 'node:fs';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Locator, Page } from 'playwright-core';
import { appears, ConsoleWalk, settled, tabTo } from '../testing/console/console-walk';
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
    await appears(page.getByRole('columnheader', { name: 'correct' }));
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
    await appears(page.getByRole('columnheader', { name: 'p99' }));
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
    await appears(page.getByRole('columnheader', { name: 'correct' }));
    expect(await heads()).not.toContain('only here');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'elsewhere', exact: true }) });
    expect(await row.locator('td[data-label="Other scores"]').textContent()).toBe('only here 1');
    await page.getByRole('button', { name: 'Columns …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Show only here' }).click();
    await page.keyboard.press('Escape');
    await appears(page.getByRole('columnheader', { name: 'only here' }));
  });

  it('mark differences from the baseline, which is named and chosen there', async () => {
    await page.goto(`/o/-/datasets/${dataset}`);
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    const difference = row('second').locator('td[data-label="correct"] [data-clear]');
    await appears(difference);
    expect(await difference.textContent()).toBe('▲better +0.5');
    expect(await difference.getAttribute('title')).toBe('better than the baseline first');
    await appears(row('first').getByText('baseline', { exact: true }));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByLabel('Compare second').check();
    await page.getByRole('button', { name: 'Make it the baseline' }).click();
    await appears(row('second').getByText('baseline', { exact: true }));
    await appears(row('first').getByText('▼'));
    const { baseline_experiment_id } = await installation.ask('GET', `/api/v1/datasets/${dataset}`);
    expect(baseline_experiment_id).toBe(ids.second);
  });

  it('are kept under a name for the whole workspace, and shown by an address with that name alone', async () => {
    await page.goto(`/o/-/datasets/${dataset}?score=correct>0.5&columns=|Errors,Rows`);
    await appears(page.getByRole('link', { name: 'second', exact: true }));
    await page.getByRole('button', { name: 'Views …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Views' });
    const name = dialog.getByLabel('Name for what the list shows now');
    await name.fill('good ones');
    expect(await walk.looks(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    const { resources } = (await installation.ask('GET', '/v1/views?page=experiments')) as {
      resources: { id: string; name: string; parameters: object }[];
    };
    const [{ id, parameters }] = resources as [(typeof resources)[number]];
    expect(parameters).toEqual({ score: 'correct>0.5', columns: '|Errors,Rows' });
    await asked('view', id);
    const chosen = page.getByLabel('View', { exact: true });
    await page.goto(`/o/-/datasets/${dataset}?view=${id}`);
    await asked('score', 'correct>0.5');
    await page.getByRole('link', { name: 'first', exact: true }).waitFor({ state: 'detached' });
    expect(await heads()).toEqual(['Compare', 'Name', 'Errors', 'Rows']);
    await page.getByLabel('Filter by a score').fill('correct<0.5');
    await chosen.getByText('good ones (changed)').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Views …' }).click();
    await dialog.getByRole('button', { name: 'Save the changes' }).click();
    await dialog.waitFor({ state: 'detached' });
    await chosen.selectOption('No view');
    await asked('score', null);
    await appears(page.getByRole('link', { name: 'second', exact: true }));
    await chosen.selectOption('good ones');
    await asked('score', 'correct<0.5');
    await page.getByRole('button', { name: 'Views …' }).click();
    await dialog.getByRole('button', { name: 'Delete the view good ones' }).click();
    await page.getByRole('button', { name: 'Delete it' }).click();
    await dialog.getByRole('listitem').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await asked('view', null);
  });

  it('do something with all that is ticked: tag, export, delete', async () => {
    const gone = await send('to be deleted', { dataset_id: dataset }, 0, ['correct']);
    await page.goto(`/o/-/datasets/${dataset}`);
    await page.getByLabel('Compare second').check();
    await page.getByRole('button', { name: 'Tag …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the metadata').fill('release');
    await dialog.getByLabel('Value').fill('of May');
    expect(await walk.looks(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await appears(page.getByRole('link', { name: 'of May' }));
    await page.getByLabel('Compare to be deleted').check();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8').split('\r\n')).toEqual([
      expect.stringMatching(/^id,name,dataset,.*,score:correct,score:overall/),
      expect.stringMatching(/,to be deleted,listed,/),
      '',
    ]);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete them' }).click();
    await page.getByLabel('Compare to be deleted').waitFor({ state: 'detached' });
    expect((await installation.send('GET', `/api/v1/sessions/${gone.experiment.id}`)).status).toBe(404);
  });

  it('of deployments, datasets and the audit log have columns and views too', async () => {
    await walk.deploy('kept in a view');
    const lists: readonly (readonly [string, string, string, readonly string[]])[] = [
      [
        'host/deployments',
        'deployments',
        'Id',
        ['Name', 'Status', 'Live', 'Latest revision', 'From', 'Type', 'Changed'],
      ],
      ['audit', 'audit', 'Operation', ['What happened', 'When', 'From', 'Entry']],
      ['datasets', 'datasets', 'Changed', ['Name', 'Examples', 'Experiments', 'Last experiment', 'Made']],
    ];
    for (const [path, name, column, usual] of lists) {
      await page.goto(`/o/-/${path}`);
      await appears(page.getByRole('columnheader').first());
      expect(await heads()).toEqual(usual);
      await page.getByRole('button', { name: 'Columns …' }).click();
      const columns = page.getByRole('dialog', { name: 'Columns' });
      await columns.getByRole('button', { name: `Show ${column}`, exact: true }).click();
      await columns.getByRole('button', { name: `Pin ${column}`, exact: true }).click();
      await page.keyboard.press('Escape');
      expect((await heads()).slice(0, 2)).toEqual([usual[0], column]);
      await settled(page);
      expect(await walk.looks(page)).toEqual([]);
      await page.getByRole('button', { name: 'Views …' }).click();
      const views = page.getByRole('dialog', { name: 'Views' });
      await views.getByLabel('Name for what the list shows now').fill('mine');
      await page.keyboard.press('Enter');
      await views.waitFor({ state: 'detached' });
      const { resources } = await installation.ask('GET', `/v1/views?page=${name}`);
      await page.goto(`/o/-/${path}?view=${resources[0].id}`);
      await asked('columns', resources[0].parameters.columns);
      await appears(page.getByRole('columnheader', { name: column }));
      expect((await heads()).slice(0, 2)).toEqual([usual[0], column]);
    }
  });

  it('of examples are searched, changed, put into splits, and compared in two versions', async () => {
    const { id } = (await installation.ask('POST', '/api/v1/datasets', { name: 'own' })) as { id: string };
    const example = (n: number) => ({ dataset_id: id, inputs: { question: `question ${n}` }, outputs: { answer: n } });
    await installation.ask(
      'POST',
      '/api/v1/examples/bulk',
      Array.from({ length: 60 }, (_, n) => example(n)),
    );
    await page.goto(`/o/-/datasets/${id}?tab=examples`);
    const list = page.getByRole('region', { name: 'Examples' });
    await appears(page.getByText('1–50 of 60'));
    await page.getByRole('link', { name: 'Next' }).click();
    await appears(page.getByText('51–60 of 60'));
    await page.getByLabel('Text in inputs or outputs').fill('question 41');
    await appears(page.getByText('1 example', { exact: true }));
    await list.getByRole('button', { name: /^Edit example/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reference output').fill('{"answer": 12345678901234567890}');
    await dialog.getByLabel('Splits, separated by commas').fill('hard, night');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await appears(list.getByText('12345678901234567890'));
    await appears(list.getByText('hard, night'));
    await page.getByRole('button', { name: 'Drop all filters' }).click();
    await page.getByLabel('Split', { exact: true }).selectOption('hard');
    await appears(page.getByText('1 example', { exact: true }));
    await page.getByRole('button', { name: 'Add an example …' }).click();
    await dialog.getByLabel('Input').fill('{"question": "a new one"}');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Drop all filters' }).click();
    await page.getByLabel('Text in inputs or outputs').fill('a new one');
    await appears(page.getByText('1 example', { exact: true }));
    await list.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Put into a split …' }).click();
    await dialog.getByLabel('Split', { exact: true }).selectOption('night');
    await dialog.getByRole('button', { name: 'Put into it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await appears(list.getByText('night'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete them' }).click();
    await appears(page.getByText('No example passes these filters.'));

    await page.getByRole('link', { name: 'Versions' }).click();
    const versions = page.getByRole('region', { name: 'Versions' });
    await versions.getByRole('link', { name: 'What changed' }).last().click();
    const differing = page.getByRole('list', { name: 'Examples that differ' });
    await appears(page.getByRole('heading', { name: '0 added, 1 changed, 0 removed' }));
    await appears(differing.getByText('12345678901234567890'));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByLabel('Later version').selectOption('with the newest');
    await appears(page.getByRole('heading', { name: '0 added, 1 changed, 0 removed' }));
    await page.setViewportSize(PHONE.viewport);
    await settled(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize(DESK.viewport);
  });

  it('say of each score whether higher or lower is better', async () => {
    await page.goto(`/o/-/datasets/${dataset}?tab=directions`);
    await page.getByLabel('Direction of steps').selectOption('Lower is better');
    await until(
      () => installation.ask('GET', `/api/v1/datasets/${dataset}/score-directions`),
      ({ lower_is_better }) => (lower_is_better as string[]).includes('steps'),
    );
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    await page.goto(`/o/-/datasets/${dataset}?tab=examples`);
    await appears(page.getByText('Only uploads of experiments change this dataset.'));
    expect(await page.getByRole('button', { name: 'Add an example …' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Copy …' }).click();
    await page.getByLabel('Name of the copy').fill('a copy of ours');
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await appears(page.getByRole('heading', { name: 'a copy of ours' }));
    expect(await page.getByRole('button', { name: 'Add an example …' }).isEnabled()).toBe(true);
    const [copy] = await installation.ask('GET', '/api/v1/datasets?name=a%20copy%20of%20ours');
    expect(copy).toMatchObject({ externally_managed: false, metadata: { copied_from: { dataset_id: dataset } } });
  });

  it('follow a score or a measure through the experiments, as a graph and a table', async () => {
    await page.goto(`/o/-/datasets/${dataset}?tab=trend`);
    await appears(page.getByRole('region', { name: 'Trend' }).getByRole('link'));
    await page.getByLabel('Followed').selectOption('Errors');
    await page.waitForURL(/measure=errors/);
    await appears(page.getByRole('img', { name: /^\d+ experiments, from .*; the table below has the numbers$/ }));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
  });

  it('leave nothing outside the window without a way to it', async () => {
    await installation.ask('POST', '/api/v1/api-key', { description: LONG, scopes: ['read', 'write', 'invoke'] });
    await page.goto('/o/-/keys');
    const revoke = page.getByRole('button', { name: `Revoke ${LONG}` });
    await appears(revoke);
    expect(await isReached(revoke)).toBe(true);
    await page.setViewportSize({ width: 760, height: 900 });
    const further = page.getByRole('button', { name: 'Show the columns after these' }).first();
    await appears(further);
    expect(await isReached(revoke)).toBe(true);
    expect(await walk.looks(page)).toEqual([]);
    await further.click();
    await appears(page.getByRole('button', { name: 'Show the columns before these' }));
    await page.setViewportSize(DESK.viewport);
  });

  it('show times as they are chosen to be', async () => {
    await page.goto('/o/-/keys');
    const time = page.getByRole('region', { name: 'API keys' }).locator('time').first();
    await appears(time.getByText(/ago$|^just now$/));
    await time.click();
    await appears(time.getByText(/^\d+ \w+ \d{4}, /));
    await page.getByLabel('Times').selectOption('utc');
    await appears(time.getByText(/ UTC$/));
    await page.reload();
    await appears(time.getByText(/ UTC$/));
    await page.getByLabel('Times').selectOption('relative');
  });

  it('find one of many scores', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `${n % 2 ? 'judge' : 'metric'}.criterion ${n}`);
    const { dataset: many, experiment } = await send('of many scores', { dataset_name: 'many' }, 1, keys);
    await page.goto(`/o/-/datasets/${many.id}/compare?selectedSessions=${experiment.id}`);
    await page.getByRole('button', { name: 'All 30 scores …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Scores' });
    await appears(dialog.getByRole('region', { name: 'judge' }));
    await dialog.getByLabel('Find a score').fill('criterion 29');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show judge.criterion 29' }).click();
    await asked('key', 'judge.criterion 29');
    await appears(page.getByRole('button', { name: /^judge.criterion 29/, pressed: true }));
  });

  it('and rows are all there on a phone: menu, search, next and previous', async () => {
    const phone = await walk.open(PHONE);
    await walk.signIn(phone);
    await settled(phone);
    const places = phone.getByRole('navigation', { name: 'Pages' });
    expect(await places.isVisible()).toBe(false);
    await phone.getByRole('button', { name: 'Go to …' }).tap();
    await phone.getByRole('combobox', { name: 'Name' }).fill('second');
    await appears(phone.getByRole('option', { name: 'second' }));
    await phone.keyboard.press('Escape');
    await phone.getByRole('button', { name: 'Menu' }).tap();
    await appears(phone.getByLabel('Times'));
    expect(await walk.looks(phone)).toEqual([]);
    await places.getByRole('link', { name: 'Keys' }).tap();
    await appears(phone.getByRole('heading', { level: 1, name: 'Keys' }));
    await places.waitFor({ state: 'hidden' });
    await phone.goto(`/o/-/datasets/${dataset}/compare?selectedSessions=${ids.first},${ids.second}&sort=row`);
    await phone.getByRole('button', { name: 'Open row 1:' }).tap();
    const panel = phone.getByRole('complementary', { name: 'Row' });
    await appears(panel.getByRole('heading', { name: /^Row 1 / }));
    const [previous, next] = ['Previous row', 'Next row'].map((name) => panel.getByRole('button', { name })) as [
      Locator,
      Locator,
    ];
    await appears(previous.and(phone.locator('[aria-disabled=true]')));
    await next.tap();
    await appears(panel.getByRole('heading', { name: /^Row 2 / }));
    await appears(next.and(phone.locator(':focus')));
    expect(await walk.looks(phone)).toEqual([]);
    await phone.context().close();
  });

  it('and rows show texts as Markdown when that is wanted, without links and markup of theirs', async () => {
    await page.goto(`/o/-/datasets/${dataset}/compare?selectedSessions=${ids.first}&sort=row`);
    await page.getByRole('button', { name: 'Open row 1:' }).click();
    const output = page.getByRole('complementary', { name: 'Row' }).getByRole('group', { name: 'Output' });
    await appears(output.getByText('# Found'));
    await page.getByRole('button', { name: 'Rendered' }).click();
    await appears(output.getByRole('cell', { name: 'right' }));
    expect(await output.getByRole('listitem').allTextContents()).toEqual(['one', 'two']);
    await appears(output.getByText('go (javascript:alert(1)) <b>bold</b>'));
    expect(await output.locator('a, b, img').count()).toBe(0);
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Next row' }).click();
    await appears(output.getByRole('cell', { name: 'right' }));
    await page.reload();
    await appears(output.getByRole('cell', { name: 'right' }));
    await page.getByRole('button', { name: 'Raw' }).click();
    await appears(output.getByText('# Found'));
  });
});
