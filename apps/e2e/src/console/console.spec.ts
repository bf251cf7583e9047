import { readFileSync } from 'node:fs';
import { inBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { type Installation, OPERATOR } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { appears, ConsoleWalk, settled, tabTo } from '../testing/console/console-walk';
import { askUntil } from '../testing/route-service';
import { newDeployment, upload } from '../testing/tenant-things';

let walk: ConsoleWalk;
let installation: Installation;
let page: Page;

/** An experiment of two rows on a dataset of its own, or on that of a former one, of which the second one has a score. */
async function uploadRows(name: string, second: number, dataset?: string, set = 'c', more: object = {}) {
  const { results, ...body } = upload(name);
  const rows = [1, 2].map((n) => ({
    ...results[0]!,
    row_id: `${set}0000000-0000-4000-8000-00000000000${n}`,
    inputs: { question: `question ${n}` },
    expected_outputs: { answer: `the answer to ${n}` },
    actual_outputs: { answer: `the ${name} answer to ${n}`, steps: [{ ms: 100 * n + second }] },
    evaluation_scores: [
      {
        ...{ key: 'correct', score: n === 1 ? 1 : second },
        ...(name === 'next' && { comment: `because of ${n}`, correction: `what ${n} should have been` }),
        feedback_source: { type: 'model', metadata: { model: 'judge' } },
      },
    ],
  }));
  const named =
    dataset === undefined ? { dataset_name: `compared ${set}` } : { dataset_name: undefined, dataset_id: dataset };
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const sent = { ...body, ...named, ...more, results: rows };
  return (await installation.ask('POST', '/api/v1/datasets/upload-experiment', sent)) as Uploaded;
}

const deploy = (name: string, images?: number) => walk.deploy(name, images);
const faults = () => walk.faults(page);

inBrowser('The console', () => {
  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    page = await walk.open();
  });

  afterAll(() => walk?.stop());

  beforeEach(() => walk.signIn(page));
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  it('is signed in to by a link, once, and shows the first experiment by itself', async () => {
    const link = await walk.newLink();
    await page.goto(link);
    await page.waitForURL('**/o/-/experiments');
    await appears(page.getByText('No experiment yet'));
    expect(await page.locator('pre').textContent()).toContain(`${installation.url}/api/v1/datasets/upload-experiment`);
    expect(await faults()).toEqual([]);
    await installation.ask('POST', '/api/v1/datasets/upload-experiment', upload('first'));
    await appears(page.getByRole('link', { name: 'first' }));
    // The cell of the score comes when the rows are stored.
    await appears(page.locator('td[data-label="correct"]'));

    const second = await walk.open();
    await second.goto(link);
    await appears(second.getByText('This link was used already'));
    expect(second.url()).toBe(`${installation.url}/login`);
    await second.context().close();
  });

  it('is signed in to with a key, which is kept nowhere in the browser, and signed out of', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill('a-key-that-is-not-known');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await appears(page.getByText('This key is not known here.'));
    expect(await faults()).toEqual([]);
    await page.getByLabel('API key').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await appears(page.getByRole('link', { name: 'first' }));
    const kept = await page.evaluate(
      'JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.toContain(OPERATOR);
    const cookies = await page.context().cookies();
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
    await appears(page.getByText('the base answer to 2'));
    await page.getByRole('button', { name: '1 worse' }).click();
    await appears(page.getByText('Only rows:'));
    expect(page.url()).toContain(`rows=${next.experiment.id}:worse:correct`);
    await expectRows(1);
    await appears(page.getByRole('status').getByText('1 of 2 rows'));
    await page.getByRole('button', { name: 'Open row 1' }).click();
    const panel = page.getByRole('complementary', { name: 'Row' });
    await appears(panel.getByRole('region', { name: 'Differences of the output' }).getByText('steps[0].ms'));
    expect(await panel.locator('del').allTextContents()).toContain('base');
    expect(await panel.locator('ins').allTextContents()).toContain('next');
    await appears(panel.getByText('because of 2'));
    await appears(panel.getByText('what 2 should have been'));
    await appears(panel.getByText('by a model (model judge)'));
    await appears(page.getByRole('gridcell').getByText('because of 2'));
    expect(await faults()).toEqual([]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await expectRows(2);
    await page.getByLabel('Rows that hold this text').fill('answer to 2');
    await expectRows(1);
    await page.getByLabel('Rows that hold this text').fill('');
    await expectRows(2);
    await page.getByLabel('Rows that hold this text').fill('in no row');
    await appears(page.getByText('No row passes this filter'));
    await page.getByLabel('Rows that hold this text').fill('');
    await expectRows(2);
    await page.goBack();
    await appears(page.getByText('Only rows:'));

    const alone = `/o/-/datasets/${dataset.id}/compare?selectedSessions=${experiment.id}`;
    await page.goto(alone);
    await appears(page.getByRole('heading', { name: 'base' }));
    await appears(page.getByText('the base answer to 1'));
  });

  it('says what changed between experiments and how their scores are distributed, and exports the rows', async () => {
    const said = (model: string, tone: object = {}) => ({ experiment_metadata: { model, k: 8, ...tone } });
    const { dataset, experiment } = await uploadRows('was', 1, undefined, 'e', said('small'));
    const next = (await uploadRows('is', 0, dataset.id, 'e', said('large', { tone: 'calm' }))).experiment;
    const ids = [experiment.id, next.id];
    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${ids.join()}`);
    await page.getByRole('button', { name: 'What changed' }).click();
    const changed = page.getByRole('main').locator('dl');
    await appears(changed.getByText('metadata.model'));
    expect(await changed.locator('del').allTextContents()).toEqual(['small']);
    expect(await changed.locator('ins').allTextContents()).toEqual(['large', 'calm']);
    expect(await faults()).toEqual([]);
    await page.getByRole('button', { name: 'Distribution' }).click();
    const matrix = page.getByRole('region', { name: 'From the baseline to the candidate' });
    await appears(matrix.getByRole('row', { name: 'pass ▼ 1 1' }));
    await appears(page.getByRole('img', { name: /^was: p50 .*; is: p50 / }));
    expect(await faults()).toEqual([]);
    await page.getByRole('button', { name: 'make it the baseline of the dataset' }).click();
    await appears(page.getByText('baseline of the dataset', { exact: true }));
    const { baseline_experiment_id } = await installation.ask('GET', `/api/v1/datasets/${dataset.id}`);
    expect(baseline_experiment_id).toBe(experiment.id);

    await page.getByLabel('Rows that hold this text').fill('answer to 2');
    await expectRows(1);
    const exported = page.waitForEvent('download');
    await page.getByRole('link', { name: 'JSON Lines' }).click();
    const lines = readFileSync(await (await exported).path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { inputs: object }).inputs)).toEqual([{ question: 'question 2' }]);

    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${next.id}`);
    const against = page.getByText('the baseline of the dataset');
    await appears(against.getByText('no clear difference'));
    await against.getByRole('link', { name: 'Compare' }).click();
    await page.waitForURL(({ searchParams }) => searchParams.get('selectedSessions') === ids.join());
  });

  it('tests slices by what runs took as well when that is chosen, and keeps it in the address', async () => {
    const time = new Date().toISOString();
    const sent = (name: string, tokens: (place: number) => number, dataset: object) => ({
      ...{ experiment_name: name, experiment_start_time: time, experiment_end_time: time, ...dataset },
      results: Array.from({ length: 40 }, (_, place) => ({
        ...{ row_id: `f0000000-0000-4000-8000-${String(place).padStart(12, '0')}`, start_time: time, end_time: time },
        inputs: { topic: place % 2 === 0 ? 'billing' : 'refunds', question: place },
        actual_outputs: { answer: place, usage_metadata: { total_tokens: tokens(place) } },
        evaluation_scores: [{ key: 'correct', score: 1 }],
      })),
    });
    const ask = (body: object) => installation.ask('POST', '/api/v1/datasets/upload-experiment', body);
    const { dataset, experiment } = await ask(sent('short', () => 100, { dataset_name: 'with topics' }));
    const long = sent('long', (place) => (place % 2 === 0 ? 100 : 900), { dataset_id: dataset.id });
    const ids = [experiment.id, (await ask(long)).experiment.id];
    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${ids.join()}`);
    await page.getByRole('button', { name: 'Slices' }).click();
    const panel = page.getByRole('complementary', { name: 'Slices' });
    await appears(panel.getByText('2 slices, 0 tests.'));
    const choice = panel.getByRole('button', { name: 'Also by latency, tokens and cost' });
    await tabTo(choice);
    await page.keyboard.press('Enter');
    await appears(panel.getByText('2 slices, 1 test.'));
    await appears(panel.getByRole('listitem').filter({ hasText: 'topic: refunds' }).getByText('tokens +800'));
    await appears(page.getByRole('button', { name: 'Worse in refunds: tokens +800' }));
    expect(await walk.looks(page)).toEqual([]);
    await page.reload();
    await appears(panel.getByText('2 slices, 1 test.'));
    expect(await choice.getAttribute('aria-pressed')).toBe('true');
  });

  it('says what means are over, shows labels, scores of the whole and what a gate says, and keeps the order', async () => {
    const labels = ['calm', 'rude', 'calm', 'odd'];
    const rows = (judged: number, times = 1) =>
      [4, 2, 3, 1].flatMap((n, at) =>
        Array.from({ length: times }, (_, time) => ({
          ...upload('whole').results[0]!,
          row_id: `a1000000-0000-4000-8000-00000000000${n}`,
          inputs: { question: `turn ${n}` },
          actual_outputs: { answer: `answer ${n}` },
          evaluation_scores: [
            ...(at < judged ? [{ key: 'judge', score: (n + time) % 2 }] : []),
            ...(times > 1 ? [] : [{ key: 'tone', value: labels[(at + judged) % 4] }]),
          ],
        })),
      );
    const send = async (name: string, results: object[], score: number, dataset?: string) => {
      const named =
        dataset === undefined ? { dataset_name: 'whole' } : { dataset_name: undefined, dataset_id: dataset };
      const whole = [
        { key: 'f1', score },
        { key: 'grade', value: score > 0.5 ? 'A' : 'C' },
      ];
      const body = { ...upload(name), ...named, summary_experiment_scores: whole, results };
      return installation.ask('POST', '/api/v1/datasets/upload-experiment', body);
    };
    const { dataset, experiment: base } = await send('all judged', rows(4), 0.9);
    const { experiment: crashed } = await send('judge crashed', rows(1), 0.3, dataset.id);
    const { experiment: repeated } = await send('repeated', rows(4, 3), 0.9, dataset.id);
    const twice = rows(4).map((row) => ({
      ...row,
      evaluation_scores: [0, 1].map((score) => ({ key: 'judge', score })),
    }));
    const { experiment: double } = await send('two judges', twice, 0.9, dataset.id);
    await installation.ask('PUT', `/api/v1/datasets/${dataset.id}/baseline`, { experiment_id: base.id });

    await page.goto(`/o/-/datasets/${dataset.id}`);
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await appears(row('judge crashed').getByText('(1 of 4 scored)'));
    await appears(row('two judges').getByText('(8 scores)'));
    await appears(row('all judged').getByText('calm 2, odd 1, …'));
    expect(await row('judge crashed').locator('td[data-label="f1"]').textContent()).toBe('0.3 ▽worse, not clear −0.6');
    expect(await row('judge crashed').locator('td[data-label="grade"]').textContent()).toBe('C');
    expect(await walk.looks(page)).toEqual([]);
    await page.getByLabel('Filter by a score').fill('f1<');
    await appears(page.getByText('A score is filtered by its key'));
    await page.getByLabel('Filter by a score').fill('f1<0.5');
    await row('all judged').waitFor({ state: 'detached' });
    await appears(row('judge crashed'));

    const compared = [base, crashed, repeated, double].map(({ id }) => id as string);
    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${compared.join()}&sort=row`);
    const gap = '3 of 4 rows could not be compared on judge';
    await page.getByRole('button', { name: 'Statistics', exact: true }).click();
    await appears(page.getByRole('listitem').filter({ hasText: 'judge crashed' }).getByText(gap));
    const whole = page.getByRole('region', { name: 'Scores of the whole experiments' });
    await appears(whole.getByRole('row', { name: /^judge crashed 0\.3.*worse −0\.6 C$/ }));
    const statistics = page.getByRole('region', { name: 'Statistics by experiment' });
    await appears(statistics.getByRole('row', { name: /^judge crashed/ }).getByText('(1 of 4 scored)'));
    await appears(statistics.getByRole('row', { name: /^repeated/ }).getByText('± 0.577'));
    await appears(statistics.getByRole('row', { name: /^two judges/ }).getByText('(8 scores)'));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: /^Warnings/ }).click();
    await appears(page.getByText('two judges has 8 scores of judge on 4 runs'));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Labels' }).click();
    const tones = page.getByRole('region', { name: 'Values of tone' });
    await appears(tones.getByRole('columnheader', { name: 'calm' }));
    await appears(tones.getByRole('row', { name: /^judge crashed/ }).getByText('4 of 4 rows, p 1.000'));
    expect(await walk.looks(page)).toEqual([]);
    await appears(page.getByRole('button', { name: 'Open row 4' }));
    await tones.getByRole('button', { name: 'calm to rude 1' }).click();
    await appears(page.getByText('calm → rude'));
    await expectRows(1);
    await appears(page.getByRole('gridcell', { name: 'changed to rude' }));
    await page.getByRole('button', { name: 'Open row 1' }).click();
    await appears(page.getByRole('complementary').getByRole('row', { name: 'tone calm rude ≠ changed' }));
    expect(await walk.looks(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await tones.getByRole('button', { name: '4 changed' }).click();
    await expectRows(4);
    await page.getByRole('button', { name: 'Show all rows' }).click();
    await appears(page.getByRole('button', { name: 'Open row 4' }));
    const order = await page.getByRole('button', { name: /^Open row/ }).allTextContents();
    expect(order.map((text) => /turn \d/.exec(text)?.[0])).toEqual(['turn 4', 'turn 2', 'turn 3', 'turn 1']);
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Gate' }).click();
    await appears(page.getByText('Undecided', { exact: true }));
    await appears(page.getByText('3 of 4 rows could not be compared on judge').last());
    expect(await walk.looks(page)).toEqual([]);
    await page.goto(
      `/o/-/datasets/${dataset.id}/compare?selectedSessions=${compared.slice(0, 2).join()}&panel=distribution&of=tone`,
    );
    const matrix = page.getByRole('region', { name: 'From the baseline to the candidate' });
    await appears(matrix.getByRole('row', { name: /^calm/ }));
    expect(await walk.looks(page)).toEqual([]);

    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${repeated.id}`);
    await page.getByRole('button', { name: 'Open row 1' }).click();
    await appears(page.getByText('Scores are means of 3 runs'));
    await page.keyboard.press('f');
    const repetitions = page.getByRole('region', { name: 'Repetitions' });
    await appears(repetitions.getByRole('row', { name: 'Mean ± spread 0.333 ± 0.577' }));
    await repetitions.getByRole('button', { name: 'Run 3' }).click();
    await appears(repetitions.getByRole('button', { name: 'Run 3', pressed: true }));
    expect(await walk.looks(page)).toEqual([]);
  });

  it('says how many runs of a project were refused and why, and names runs without a name', async () => {
    const { id: session_id } = await installation.ask('POST', '/api/v1/sessions', { name: 'refused in part' });
    const run = (id: string, more: object = {}) => ({
      ...{ id, trace_id: id, dotted_order: `20260101T000001000000Z${id}`, name: '', run_type: 'agent', session_id },
      ...{ inputs: { question: 'asked' }, start_time: '2026-01-01T00:00:01Z', end_time: '2026-01-01T00:00:02Z' },
      ...more,
    });
    const [trace, child] = [crypto.randomUUID(), crypto.randomUUID()];
    const below = { trace_id: trace, parent_run_id: trace };
    const kept = [
      run(trace),
      run(child, { ...below, dotted_order: `${run(trace).dotted_order}.${run(child).dotted_order}` }),
    ];
    const refused = Array.from({ length: 12 }, () => run(crypto.randomUUID(), { trace_id: 'none' }));
    await installation.ask('POST', '/api/v1/runs/batch', { post: [...kept, ...refused] });
    const whole = page.getByRole('listitem').filter({ hasText: /^12 runs were refused, because trace_id: / });
    await page.goto(`/o/-/projects/p/${session_id}`);
    await appears(whole);
    await page.getByText('The last 10 ids').click();
    await appears(page.getByText(refused.at(-1)!.id).or(page.getByText(refused[0]!.id)));
    expect(await walk.looks(page)).toEqual([]);
    await page.goto('/o/-/health');
    await page.getByRole('link', { name: 'refused in part' }).click();
    await appears(whole);
    await page.goto(`/o/-/projects/p/${session_id}/r/${trace}`);
    await appears(page.getByRole('heading', { level: 1, name: '(no name)' }));
    const { share_token } = await installation.ask('PUT', `/api/v1/runs/${trace}/share`, {});
    const stranger = await walk.open();
    await stranger.goto(`/public/${share_token}/r`);
    await appears(stranger.getByRole('heading', { level: 1, name: '(no name)' }));
    await stranger.getByRole('tree', { name: 'Runs' }).getByRole('link', { name: '(no name)' }).nth(1).click();
    await stranger.waitForURL(`**/r?run=${child}`);
    await stranger.context().close();
  });

  it('shares a comparison without what is hidden, until the link is deleted', async () => {
    const { dataset, experiment } = await uploadRows('shown', 1, undefined, 'f');
    const { id } = (await uploadRows('beside', 0, dataset.id, 'f')).experiment;
    await page.goto(`/o/-/datasets/${dataset.id}/compare?selectedSessions=${experiment.id},${id}`);
    await appears(page.getByText('the shown answer to 2'));
    await page.getByRole('button', { name: 'Share …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Inputs', { exact: true }).check();
    expect(await faults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const address = (await dialog.locator('code').textContent())!;
    const stranger = await walk.open();
    await stranger.goto(address);
    await appears(stranger.getByText('the shown answer to 2'));
    await appears(stranger.getByText('hidden: inputs'));
    await stranger.getByRole('button', { name: '1 worse' }).click();
    await stranger.getByRole('button', { name: 'Open row 1' }).click();
    const panel = stranger.getByRole('complementary', { name: 'Row' });
    await appears(panel.getByRole('region', { name: 'Differences of the output' }).getByText('steps[0].ms'));
    expect(await walk.faults(stranger)).toEqual([]);
    expect(await stranger.content()).not.toContain('question 2');
    await dialog.getByRole('button', { name: /^Delete the link/ }).click();
    await appears(dialog.getByText('None.'));
    await stranger.reload();
    await appears(stranger.getByText('not found'));

    const { runs } = await installation.ask('POST', '/api/v1/runs/query', { session: [experiment.id] });
    await page.goto(`/o/-/projects/p/${experiment.id}/r/${(runs as { id: string }[])[0]!.id}`);
    await page.getByRole('button', { name: 'Share …' }).click();
    await dialog.getByLabel('Outputs', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    await stranger.goto((await dialog.locator('code').textContent())!);
    await appears(stranger.getByRole('group', { name: 'Input' }).getByText('question'));
    expect(await stranger.content()).not.toContain('the shown answer');
    expect(await walk.faults(stranger)).toEqual([]);
    await stranger.context().close();
  });

  it('keeps the experiments that it shows, and what is ticked, when they cannot be asked for again', async () => {
    const following = page.waitForRequest(/\/v1\/changes\?after=/);
    await page.reload();
    await following;
    await page.getByLabel('Compare first').check();
    const refused = { status: 404, json: { detail: 'not just now' } };
    await page.route('**/v1/experiments?*', (route) => route.fulfill(refused));
    await installation.ask('POST', '/api/v1/datasets/upload-experiment', upload('unheard of'));
    await appears(page.getByRole('alert').getByText('not just now'));
    expect(await page.getByLabel('Compare first').isChecked()).toBe(true);
    await page.unroute('**/v1/experiments?*');
    const unheard = page.getByRole('link', { name: 'unheard of' }).first();
    // An event that comes meanwhile lets the page try again by itself: then the button is gone.
    await Promise.any([page.getByRole('button', { name: 'Try again' }).click(), appears(unheard)]);
    await appears(unheard);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('is used by keyboard from the list of experiments to a row', async () => {
    const first = await uploadRows('one by keyboard', 1, undefined, 'd');
    const { id } = first.dataset;
    const [two, three] = [
      (await uploadRows('two by keyboard', 1, id, 'd')).experiment.id,
      (await uploadRows('three by keyboard', 0, id, 'd')).experiment.id,
    ];
    await page.goto(`/o/-/datasets/${id}`);
    for (const name of ['one', 'two', 'three']) await appears(page.getByLabel(`Compare ${name} by keyboard`));
    for (const key of ['j', 'x', 'j', 'x', 'j', 'x', 'c']) await page.keyboard.press(key);
    const asked = (name: string, value: string | null) =>
      page.waitForURL(({ searchParams }) => searchParams.get(name) === value);
    await asked('selectedSessions', [first.experiment.id, two, three].join());
    await appears(page.getByText('the one by keyboard answer to 2'));
    await page.keyboard.press(']');
    await asked('candidate', three);
    await page.keyboard.press('1');
    await asked('key', 'correct');
    await page.keyboard.press('w');
    await asked('rows', `${three}:worse:correct`);
    await expectRows(1);
    await page.keyboard.press('d');
    await asked('texts', 'whole');
    await page.keyboard.press('s');
    const statistics = page.getByRole('region', { name: 'Statistics by experiment' });
    await statistics.waitFor({ state: 'detached' });
    await page.keyboard.press('s');
    await appears(statistics);
    await page.keyboard.press('w');
    await asked('rows', null);
    await expectRows(2);
    await page.keyboard.press('[');
    await asked('candidate', two);
    await page.keyboard.press('b');
    await asked('baseline', two);
    await appears(page.getByRole('grid').getByRole('columnheader').nth(2).getByText('two by keyboard'));
    await appears(page.getByRole('button', { name: 'Open row 1' }));
    await page.keyboard.press(']');
    await asked('candidate', three);
    await page.keyboard.press('n');
    const panel = page.getByRole('complementary', { name: 'Row' });
    await appears(panel.getByText('1 of 1'));
    await appears(panel.getByText('question 2'));
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    const opener = page.getByRole('button', { name: 'Open row 1' });
    await appears(opener.and(page.locator(':focus')));
    await page.keyboard.press('j');
    await appears(panel.getByText('question 2'));
    await page.keyboard.press('j');
    await appears(panel.getByText('question 1'));
    expect(await faults()).toEqual([]);
    await page.keyboard.press('f');
    await page.waitForURL(`**/datasets/${id}/e/d0000000-0000-4000-8000-000000000001?selectedSessions=*`);
    const results = page.getByRole('region', { name: 'Results' });
    await appears(results.getByText('the three by keyboard answer to 1'));
    await appears(results.getByRole('heading', { level: 3, name: 'two by keyboard baseline' }));
    await results.getByRole('link', { name: 'Compare all 3' }).click();
    await asked('baseline', two);
  });

  it('plans a roll-back, and carries it out on top of what somebody else changed meanwhile', async () => {
    const { id } = await deploy('rolled', 2);
    await page.goto('/o/-/host/deployments?name_contains=rolled');
    await page.getByRole('link', { name: 'rolled' }).click();
    await page.getByRole('link', { name: 'Revisions' }).click();
    await page.getByRole('button', { name: 'Roll back to v1' }).click();
    const dialog = page.getByRole('dialog');
    const plan = dialog.getByRole('region', { name: 'Plan' });
    await appears(plan.getByText('Makes a revision'));
    expect(await plan.locator('del').allTextContents()).toEqual(['registry.example/rolled:2']);
    expect(await plan.locator('ins').allTextContents()).toEqual(['registry.example/rolled:1']);
    expect(await faults()).toEqual([]);
    await walk.changeImage(id, 'registry.example/rolled:3');
    await dialog.getByLabel('Reason').fill('2 was slow – “very”');
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await appears(dialog.getByText('The deployment changed while this plan was open'));
    await appears(plan.getByText('registry.example/rolled:3'));
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await dialog.waitFor({ state: 'detached' });
    await appears(page.getByText('2 was slow – “very”'));
    await appears(page.getByText('again v1'));
    await page.getByRole('link', { name: 'Diff of v2' }).click();
    await appears(page.getByText('What v2 changed'));
    expect(page.url()).toContain('diff=');
  });

  it('changes a deployment by a form, and merges what somebody else changed meanwhile', async () => {
    const { id } = await deploy('merged');
    await page.goto(`/o/-/host/deployments/${id}`);
    await page.getByRole('button', { name: 'Change …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Memory, MB').fill('512');
    await dialog.getByLabel('New value of TOKEN').fill('canary-written-here');
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await appears(dialog.getByText('another value'));
    expect(await faults()).toEqual([]);
    await installation.ask('PATCH', `/v2/deployments/${id}`, { source_config: { custom_url: 'https://a.example' } });
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await appears(dialog.getByText('Somebody else changed this deployment meanwhile'));
    await appears(dialog.locator('ins').getByText('https://a.example'));
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { source_config } = await installation.ask('GET', `/v2/deployments/${id}`);
    expect(source_config).toMatchObject({ custom_url: 'https://a.example', resource_spec: { cpu: 1, memory_mb: 512 } });
    await walk.deployed(id);

    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'Reveal TOKEN' }).click();
    expect(await page.content()).not.toContain('canary-written-here');
    await dialog.getByLabel('Reason').fill('the provider asks for it');
    await dialog.getByRole('button', { name: 'Reveal', exact: true }).click();
    await appears(dialog.getByText('canary-written-here'));
    await page.keyboard.press('Escape');
    // A closed dialog has no role any more, and is removed a moment later.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('canary-written-here');
    await page.getByRole('link', { name: 'History' }).click();
    await appears(page.getByText('the provider asks for it'));

    await page.getByRole('link', { name: 'Logs' }).click();
    await appears(page.getByRole('log').getByText('Recorded', { exact: false }));
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Delete merged …' }).click();
    const last = dialog.getByRole('button', { name: 'Delete for good' });
    expect(await last.isDisabled()).toBe(true);
    await dialog.getByLabel('Type its name').fill('merged');
    await last.click();
    await page.waitForURL('**/host/deployments');
  });

  it('travels to an earlier version by keyboard, and says what changed since', async () => {
    const { id } = await deploy('travelled', 2);
    await page.goto(`/o/-/host/deployments/${id}`);
    await page.getByRole('slider', { name: 'Version' }).focus();
    await page.keyboard.press('Home');
    await appears(page.getByText('What changed since'));
    await appears(page.getByRole('region', { name: 'Time travel' }).getByText('registry.example/travelled:2'));
    expect(page.url()).toContain('version=1');
    expect(await faults()).toEqual([]);
  });

  it('is walked by keyboard, but for what is typed into a field or when the shortcuts are switched off', async () => {
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const palette = page.getByRole('dialog', { name: 'Go to' });
    const button = page.getByRole('button', { name: 'Keyboard shortcuts' });
    await button.click();
    await appears(help.getByText('Go to a page or a thing by its name'));
    expect(await faults()).toEqual([]);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });

    await pressBoth('g', 'd');
    await page.waitForURL('**/host/deployments');
    await appears(page.getByLabel('Name contains'));
    await page.keyboard.press('/');
    await page.keyboard.type('g a?');
    await page.waitForURL(({ searchParams }) => searchParams.get('name_contains') === 'g a?');
    expect(await help.count()).toBe(0);

    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Control+k');
    await appears(palette);
    await page.keyboard.type('t');
    await appears(palette.getByText('are found by two letters'));
    await page.route('**/v1/search?*', (route) => route.fulfill({ status: 404, json: { detail: 'not just now' } }));
    await page.keyboard.type('ra');
    await appears(palette.getByText('Only pages are listed: not just now'));
    await page.unroute('**/v1/search?*');
    await page.keyboard.type('vell');
    await appears(palette.getByRole('option', { name: 'travelled' }));
    await page.keyboard.press('Enter');
    await appears(page.getByRole('heading', { level: 1, name: 'travelled' }));
    await page.keyboard.press('Control+k');
    await appears(palette);
    await page.keyboard.type('audit');
    await until(
      () => palette.getByRole('option').count(),
      (count) => count === 2,
    );
    expect(await faults()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/audit/verify');
    expect(await palette.count()).toBe(0);

    await page.keyboard.press('?');
    await appears(help);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    for (const key of ['?', 'Control+k', 'g', 'e']) await page.keyboard.press(key);
    expect([await help.count(), await palette.count()]).toEqual([0, 0]);
    await page.reload();
    await button.focus();
    await page.keyboard.press('Enter');
    const used = help.getByLabel('Use shortcuts in this browser');
    expect({ at: page.url(), used: await used.isChecked() }).toEqual({
      at: `${installation.url}/o/-/audit/verify`,
      used: false,
    });
    await used.check();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await pressBoth('g', 'e');
    await page.waitForURL('**/experiments');
  });

  it('filters the audit log, shows an entry, and verifies an exported history without the service', async () => {
    const { id } = await deploy('audited');
    await installation.send('DELETE', `/v2/deployments/${id}`, undefined, { 'x-reason': 'not needed any more' });
    await page.goto('/o/-/audit');
    await page.getByLabel('Operation').selectOption('delete_deployment');
    await appears(page.getByText('deleted', { exact: false }));
    await appears(page.getByText('not needed any more'));
    await page.waitForURL('**/audit?operations=delete_deployment');
    await page.getByRole('link', { name: 'Entry: Delete deployment' }).first().click();
    await appears(page.getByRole('link', { name: 'All of this request' }));
    expect(await faults()).toEqual([]);

    const export_ = await (
      await fetch(`${installation.url}/v2/deployments/${id}/history/export`, { headers: { 'x-api-key': OPERATOR } })
    ).text();
    const keys = JSON.stringify(await installation.ask('GET', '/v1/audit/keys'));
    await page.getByRole('link', { name: 'Verify an export' }).click();
    const file = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByLabel('Keys, keys.json').setInputFiles(file('keys.json', keys));
    await page.getByLabel('Export, a .jsonl file').setInputFiles(file('history.jsonl', export_));
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('It is as it was exported, and not all is proven'));
    await page.getByLabel('Kept seals or export (optional)').setInputFiles(file('kept.jsonl', export_));
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('It is as it was written'));
    const { head } = JSON.parse(export_.trimEnd().split('\n').at(-1)!) as { head: { version: number; hash: string } };
    const ofHead = page.getByLabel('Head that was kept');
    await ofHead.fill(`${head.version}:${head.hash.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('it is not the history that the head was kept of'));
    expect(await walk.looks(page)).toEqual([]);
    await ofHead.fill('none');
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('has the form version:hash'));
    await ofHead.fill(`${head.version}:${head.hash}`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('It is as it was written'));
    const changed = export_.replace('registry.example/audited:1', 'registry.example/audited:2');
    await page.getByLabel('Export, a .jsonl file').setInputFiles(file('history.jsonl', changed));
    await page.getByRole('button', { name: 'Verify' }).click();
    await appears(page.getByText('It does not hold'));

    // Everything of the workspace, from one export.
    await page.goto('/o/-/audit');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export, signed' }).click();
    const workspace = readFileSync(await (await saving).path(), 'utf8');
    await page.getByRole('link', { name: 'Verify an export' }).click();
    const verifies = async (text: string, verdict: string) => {
      await page.getByLabel('Export, a .jsonl file').setInputFiles(file('workspace.jsonl', text));
      await page.getByRole('button', { name: 'Verify' }).click();
      await appears(page.getByText(verdict));
    };
    await page.getByLabel('Keys, keys.json').setInputFiles(file('keys.json', keys));
    await verifies(workspace, 'It is as it was exported, and not all is proven');
    await appears(page.getByText('only the operator can check, with npm run audit'));
    await page.getByLabel('Kept seals or export (optional)').setInputFiles(file('kept.jsonl', workspace));
    await verifies(workspace, 'It is as it was written');
    expect(await walk.looks(page)).toEqual([]);
    const own = workspace.split('\n').filter((line) => !line.includes(`"stream":"deployment-${id}"`));
    await verifies(own.filter((line) => !line.startsWith('{"seal"')).join('\n'), 'were exported.');
    await verifies(workspace.slice(0, workspace.trimEnd().lastIndexOf('\n')), 'It is not complete');
    const { workspace: named } = JSON.parse(workspace.split('\n')[0]!) as { workspace: string };
    await verifies(workspace.replace(named, named.replace(/^./, 'f')), 'It is an export of the workspace f');
  });

  it('creates a key, shows it once, and revokes it with the browsers that are signed in with it', async () => {
    await page.goto('/o/-/keys');
    await page.getByRole('button', { name: 'Create a key …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What it is for').fill('for the test');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const key = (await dialog.locator('code').textContent())!;
    const authorised = { 'x-api-key': key };
    expect((await installation.send('GET', '/v2/deployments', undefined, authorised)).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(key);
    await appears(page.getByText('this browser'));
    await page.getByRole('button', { name: 'Revoke for the test' }).click();
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('link', { name: 'for the test' }).waitFor({ state: 'detached' });
    await dialog.waitFor({ state: 'detached' });
    expect((await installation.send('GET', '/v2/deployments', undefined, authorised)).status).toBe(401);
  });

  it('has no fault that axe finds, in either theme and on a narrow page', async () => {
    const { dataset, experiment } = await uploadRows('third', 1);
    const { id } = await deploy('looked-at');
    const hostile = '<img src=x onerror=alert(1)> \u202e'.padEnd(200, 'x');
    await installation.ask('POST', '/v2/deployments', { ...newDeployment('hostile'), name: hostile });
    const looks = [
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 390 },
    ] as const;
    for (const path of [
      'experiments',
      'datasets',
      `datasets/${dataset.id}`,
      `datasets/${dataset.id}?tab=examples`,
      `datasets/${dataset.id}/compare?selectedSessions=${experiment.id}`,
      'host/deployments',
      ...['overview', 'revisions', 'history', 'secrets', 'logs', 'settings'].map(
        (tab) => `host/deployments/${id}?tab=${tab}`,
      ),
      'audit',
      'audit/verify',
      'keys',
      'health',
      'integrations',
      'providers',
      'listeners',
      'webhooks',
      'monitors',
    ]) {
      await page.goto(`/o/-/${path}`);
      await settled(page);
      for (const { colorScheme, width } of looks) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        expect({ path, colorScheme, width, faults: await faults() }).toMatchObject({ path, faults: [] });
        const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect({ path, width, wide }).toEqual({ path, width, wide: false });
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('opens the addresses that SDKs and command lines print', async () => {
    const { dataset, experiment } = await uploadRows('printed', 1);
    const { id } = await deploy('printed');
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
      [`/api-host/host/deployments/${id}`, 'printed'],
      [`/datasets/${dataset.id}/e/c0000000-0000-4000-8000-000000000001`, 'Row'],
      [`/o/-/projects/p/${experiment.id}/r/${run}?poll=true`, 'printed'],
      ['/hub/some/prompt', 'This is not offered here'],
    ] as const) {
      await page.goto(printed);
      const heading = page.getByRole('heading', { level: 1, name: shown });
      await appears(heading).catch(() => undefined);
      expect({ printed, at: page.url(), found: await heading.count() }).toMatchObject({ printed, found: 1 });
    }
  });
});

/** Presses two keys without waiting between them: a shortcut of two has 1.5 seconds, also on a busy machine. */
async function pressBoth(first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
}

async function expectRows(count: number): Promise<void> {
  await appears(page.getByRole('region', { name: new RegExp(`^${count} rows`) }));
}
