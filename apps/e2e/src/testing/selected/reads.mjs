// Prints as JSON, by routes that take a selection, the members of a record that the SDK for JavaScript reads. Arguments:
// the package of the SDK, the name of a dataset, the names of two experiments on it.
import { randomUUID } from 'node:crypto';

const [sdk, dataset, ...experiments] = process.argv.slice(2);
const read = {};

/** Where the records of an answer are, by their routes. */
const RECORDS = {
  '/examples': (answer) => answer,
  '/runs/query': ({ runs }) => runs,
  '/v2/runs/query': ({ items }) => items,
};

/** The record; every member that is read of it, or looked for, is noted. A copy of all members reads none of them. */
function recording(route, record) {
  const copied = new Set();
  const note = (name) => {
    if (typeof name === 'string') (read[route] ??= new Set()).add(name);
  };
  return new Proxy(record, {
    getOwnPropertyDescriptor(target, name) {
      copied.add(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get(target, name) {
      if (!copied.delete(name)) note(name);
      return Reflect.get(target, name);
    },
    has(target, name) {
      note(name);
      return Reflect.has(target, name);
    },
  });
}

const send = globalThis.fetch;
globalThis.fetch = async (address, init) => {
  const response = await send(address, init);
  const path = new URL(address).pathname.replace(/^\/api\/v1|^\/api(?=\/v2)/, '');
  const records = RECORDS[path];
  if (!records || !response.ok) return response;
  const parse = response.json.bind(response);
  response.json = async () => {
    const answer = await parse();
    const list = records(answer);
    list.forEach((record, nth) => (list[nth] = recording(path, record)));
    return answer;
  };
  return response;
};

const { Client } = await import(sdk);
const { evaluate } = await import(`${sdk}/evaluation`);
// What these methods give is a copy, of which the rest of the SDK reads.
for (const [name, route] of [
  ['listExamples', '/examples'],
  ['listRuns', '/runs/query'],
]) {
  const method = Client.prototype[name];
  Client.prototype[name] = async function* (...args) {
    for await (const record of method.apply(this, args)) yield recording(route, record);
  };
}
const client = new Client();
const log = console.log;
console.log = () => undefined;
async function all(items) {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
}

const score = () => ({ key: 'correct', score: 1 });
const target = () => ({ answer: 'the live answer' });
const { id: dataset_id, name: pictures } = await client.createDataset(`pictures for ${sdk}`);
const attachments = { dot: { mimeType: 'image/png', data: Buffer.from('89504e470d0a1a0a', 'hex') } };
await client.createExamples([{ dataset_id, inputs: { q: 1 }, outputs: { a: 2 }, attachments }]);
for (const includeAttachments of [true, false]) {
  for (const data of [dataset, pictures]) {
    const given = [];
    const seeing = (_, config) => {
      given.push(...Object.keys(config?.attachments ?? {}));
      return target();
    };
    const { results } = await evaluate(seeing, { client, data, includeAttachments, evaluators: [score] });
    if (!results.length || results.some(({ run }) => run.error)) throw new Error('A row was not evaluated.');
    const wanted = includeAttachments && data === pictures ? ['dot'] : [];
    if (String(given) !== String(wanted)) throw new Error(`The target was given ${given} in place of ${wanted}.`);
  }
}
await evaluate(target, { client, data: client.listExamples({ datasetName: dataset, select: ['id'] }) });
const preferred = ({ runs }) => ({ key: 'preferred', scores: Object.fromEntries(runs.map(({ id }, n) => [id, n])) });
await evaluate(experiments, { client, experimentPrefix: 'pairwise', evaluators: [preferred] });

const now = new Date().toISOString();
const project_name = `selected by ${sdk}`;
await client.createRun({
  ...{ id: randomUUID(), name: 'asked', run_type: 'chain', inputs: { q: 1 }, outputs: { a: 2 }, project_name },
  ...{ extra: { metadata: { thread_id: 'talk' } }, start_time: now, end_time: now },
});
await client.awaitPendingTraceBatches();
const project = await client.readProject({ projectName: project_name });
const [run] = await all(client.listRuns({ projectId: project.id, select: ['id'] }));
await client.getRunUrl({ run });
await client.readRun(run.id, { loadChildRuns: true });
if ((await client.listThreads({ projectId: project.id })).length !== 1) throw new Error('The thread was not found.');
await all(client.readThread({ threadId: 'talk', projectId: project.id, select: ['id'] }));

console.log = log;
console.log(
  `made ${JSON.stringify(Object.fromEntries(Object.entries(read).map(([route, names]) => [route, [...names].sort()])))}`,
);
