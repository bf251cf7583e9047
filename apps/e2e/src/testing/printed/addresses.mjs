// Prints the addresses that the SDK for JavaScript gives out: evaluations print theirs themselves, and each other one
// stands behind the name of what its page shows. Arguments: the package of the SDK, the name of a dataset, the names of
// two experiments on it.
import { randomUUID } from 'node:crypto';

const [sdk, dataset, base, next] = process.argv.slice(2);
const { Client } = await import(sdk);
const { evaluate } = await import(`${sdk}/evaluation`);
const client = new Client();
const say = (shown, address) => console.log(`${shown}\t${address}`);

await evaluate(() => ({ answer: 'the live answer' }), {
  ...{ client, data: dataset, experimentPrefix: 'live' },
  evaluators: [() => ({ key: 'correct', score: 1 })],
});
const preferred = ({ runs }) => ({ key: 'preferred', scores: Object.fromEntries(runs.map(({ id }, n) => [id, n])) });
await evaluate([base, next], { client, experimentPrefix: 'pairwise', evaluators: [preferred] });

const project = `traced by ${sdk}`;
const id = randomUUID();
const now = new Date().toISOString();
const traced = { id, name: 'traced', run_type: 'chain', inputs: { q: 1 }, outputs: { a: 2 }, project_name: project };
await client.createRun({ ...traced, start_time: now, end_time: now });
await client.awaitPendingTraceBatches();
const run = await client.readRun(id);

say(base, await client.getProjectUrl({ projectName: base }));
say(project, await client.getProjectUrl({ projectName: project }));
say(dataset, await client.getDatasetUrl({ datasetName: dataset }));
say('traced', await client.getRunUrl({ runId: id }));
say('traced', await client.getRunUrl({ run }));
const { url } = await client.runs.getURL(id, { project_id: run.session_id, trace_id: run.trace_id });
say('traced', url);
say('traced', await client.shareRun(id));
say(dataset, (await client.shareDataset(undefined, dataset)).url);
