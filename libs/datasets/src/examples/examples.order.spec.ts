import { v4 as newId } from 'uuid';
import { startUploading } from '@fairlead/evaluation/testing';
import { experiment, row, type Uploading } from '@fairlead/experiments/testing';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

const COUNT = 60;
const turns = Array.from({ length: COUNT }, (_, turn) => turn);

async function listed(dataset: string, search = ''): Promise<number[]> {
  const { json } = await service.get(`/api/v1/examples?dataset=${dataset}&limit=100&${search}`);
  return (json as { inputs: { turn: number } }[]).map(({ inputs }) => inputs.turn);
}

/** The turns of the rows in the order `row`, in pages, as previews show them. */
async function compared(dataset: string, experiments: string): Promise<number[]> {
  const found: number[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const path = `/api/v1/datasets/${dataset}/compare?experiments=${experiments}&sort=row&limit=25&offset=${offset}`;
    const { page } = (await service.get(path)).json as {
      page: { next_offset: number | null; rows: { inputs_preview: string }[] };
    };
    for (const one of page.rows) found.push((JSON.parse(one.inputs_preview) as { turn: number }).turn);
    offset = page.next_offset;
  }
  return found;
}

async function exported(dataset: string, experiments: string): Promise<number[]> {
  const path = `/api/v1/datasets/${dataset}/compare/export?experiments=${experiments}&format=jsonl`;
  const lines = (await service.get(path)).text.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { inputs: { turn: number } }).inputs.turn);
}

const uploaded = async (name: string, rows: readonly unknown[]) => {
  const { status, json, text } = await service.upload(experiment({ dataset_name: name }, rows));
  expect([status, text.slice(0, 200)]).toMatchObject([200, expect.anything()]);
  await service.settled();
  return { id: json.experiment.id as string, dataset: json.dataset.id as string };
};

describe('Examples of one upload', () => {
  it('keep its order in lists, comparisons and exports', async () => {
    const name = `upload ${newId()}`;
    const rows = turns.map((turn) => row({ inputs: { turn } }));
    const { id, dataset } = await uploaded(name, rows);
    expect(await listed(dataset)).toEqual(turns);
    expect(await listed(dataset, 'order=recently_created')).toEqual(turns);
    expect(await listed(dataset, 'descending=false')).toEqual(turns);
    expect(await listed(dataset, 'limit=10&offset=20')).toEqual(turns.slice(20, 30));
    expect(await compared(dataset, id)).toEqual(turns);
    expect(await exported(dataset, id)).toEqual(turns);

    // Sent the other way round by a second upload, with rows that are new and rows that have changed.
    const changed = rows.toReversed().map((one, at) => (at % 7 === 0 ? { ...one, expected_outputs: { at } } : one));
    const more = [COUNT, COUNT + 1].map((turn) => row({ inputs: { turn } }));
    const second = await uploaded(name, [...more, ...changed]);
    const all = [...turns, COUNT, COUNT + 1];
    expect(await compared(dataset, `${id},${second.id}`)).toEqual(all);
    expect(await compared(dataset, `${second.id},${id}`)).toEqual(all);
    expect(await compared(dataset, second.id)).toEqual(all);
    const [versions] = (await service.get(`/api/v1/datasets/${dataset}/versions?limit=1`)).json as { as_of: string }[];
    expect(versions).toBeDefined();
    expect(await listed(dataset, 'order=recently_created')).toEqual([COUNT, COUNT + 1, ...turns]);
  });
});

describe('Examples that one request adds', () => {
  it('keep its order, also after one of them has changed', async () => {
    const made = await service.send('POST', '/api/v1/datasets', [JSON.stringify({ name: `made ${newId()}` })]);
    const dataset = made.json.id as string;
    const body = turns.map((turn) => ({ dataset_id: dataset, id: newId(), inputs: { turn } }));
    expect((await service.send('POST', '/api/v1/examples/bulk', [JSON.stringify(body)])).status).toBe(200);
    await service.settled();
    expect(await listed(dataset)).toEqual(turns);
    const patched = await service.send('PATCH', `/api/v1/examples/${body[5]!.id}`, [
      JSON.stringify({ outputs: { a: 1 } }),
    ]);
    expect(patched.status).toBe(200);
    await service.settled();
    expect(await listed(dataset)).toEqual([5, ...turns.filter((turn) => turn !== 5)]);
    expect(await listed(dataset, 'order=recently_created')).toEqual(turns);
  });

  it('keep the order of a file of CSV', async () => {
    const form = new FormData();
    form.append('file', new Blob([`turn,text\n${turns.map((turn) => `${turn},t`).join('\n')}\n`]), 'rows.csv');
    form.append('name', `csv ${newId()}`);
    form.append('input_keys', 'turn');
    form.append('output_keys', 'text');
    const sent = new Response(form);
    const bytes = Buffer.from(await sent.arrayBuffer());
    const headers = { 'content-type': sent.headers.get('content-type')! };
    const made = await service.send('POST', '/api/v1/datasets/upload', [bytes], headers);
    expect([made.status, made.text]).toMatchObject([200, expect.anything()]);
    await service.settled();
    expect((await listed(made.json.id as string)).map(Number)).toEqual(turns);
  });
});
