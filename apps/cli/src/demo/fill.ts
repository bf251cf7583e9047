import { AGENTS } from './agents';
import { deploy } from './deploy';
import { type Dataset, DATASETS, found, type Made, type Session, SESSIONS } from './look';
import { DATASET, DEPLOYMENT, MARK } from './mark';
import { sendTraces } from './sending';
import { NotMade, type Service, type Step } from './service';
import type { Experiment, Seed, Story, storyOf } from './story';

const PROJECT = {
  name: DEPLOYMENT,
  description: 'Conversations of customers with the support agent.',
  extra: { metadata: MARK },
};
/** Examples of one request. */
const EXAMPLES = 100;
const POLL_MS = 400;
/** Time after which the service is no longer waited for (ms). */
const PATIENCE_MS = 120_000;

/**
 * Makes the demo, or what is missing of it. @throws NotMade when something that is not the demo's has a name that it
 * needs, or the service does not get on. The story is given, because a console loads it apart.
 */
export async function fill(service: Service, tellStory: typeof storyOf): Promise<Made> {
  const names = [...AGENTS.map(({ name }) => name), DEPLOYMENT];
  const [known, ...sessions] = await Promise.all([
    found<Dataset>(service, DATASETS, DATASET, 'dataset'),
    ...names.map((name) => found<Session>(service, SESSIONS, name, 'tracing project or experiment')),
  ]);
  const dataset = known ?? (await makeDataset(service));
  const seed: Seed = { dataset: dataset.id, until: Date.parse(dataset.created_at) };
  const story = tellStory(seed);
  const tell = progress(service, story);
  await fillDataset(service, dataset, story);
  tell.add('Sent the questions', 1);
  // The deployment traces into the project of its name, which carries the mark because it is there before.
  const project = sessions.pop() ?? (await service.send<Session>('POST', SESSIONS, { body: PROJECT }));
  const send = async (session: Session, traces: Experiment['traces'], doing: string) => {
    if (isComplete(session, traces)) return tell.add(doing, traces.length);
    await sendTraces(service, session.id, traces, (count) => tell.add(doing, count));
    await readable(service, session.id, traces);
  };
  const experiments = await Promise.all(
    story.experiments.map(async (one, at) => sessions[at] ?? (await makeExperiment(service, dataset, one))),
  );
  const sendAll = async () => {
    for (const [at, { name, traces }] of story.experiments.entries()) {
      await send(experiments[at]!, traces, `Sent the experiment ${name}`);
    }
    await send(project, story.conversations, 'Sent the conversations');
  };
  const [deployment] = await Promise.all([deploy(service, (doing) => tell.add(doing, 1)), sendAll()]);
  await chooseBaseline(service, dataset.id, story);
  const ids = Object.fromEntries(AGENTS.map(({ name }, at) => [name, experiments[at]!.id]));
  return { dataset: dataset.id, experiments: ids, project: project.id, ...deployment };
}

/** Counts what is done of everything. */
function progress(service: Service, { experiments, conversations }: Story) {
  const traces = experiments.reduce((sum, { traces }) => sum + traces.length, conversations.length);
  const of = traces + 1;
  let done = 0;
  return {
    add(doing: string, steps: number): void {
      const step: Step = { doing, done: Math.min((done += steps), of), of };
      service.onStep(step);
    },
  };
}

async function makeDataset(service: Service): Promise<Dataset> {
  const description = `300 questions that customers of a shop ask, in ten topics, with what a correct answer has to say. Made by “fairlead demo”.`;
  return service.send('POST', DATASETS, { body: { name: DATASET, description, metadata: MARK } });
}

async function fillDataset(service: Service, { id, example_count }: Dataset, { examples }: Story): Promise<void> {
  if (example_count >= examples.length) return;
  const stored = new Set<string>();
  for (let offset = 0; offset < example_count; offset += EXAMPLES) {
    const query = { dataset: id, limit: EXAMPLES, offset };
    for (const one of await service.get<{ id: string }[]>('/api/v1/examples', query)) stored.add(one.id);
  }
  const missing = examples.filter((one) => !stored.has(one.id));
  for (let at = 0; at < missing.length; at += EXAMPLES) {
    await service.send('POST', '/api/v1/examples/bulk', { body: missing.slice(at, at + EXAMPLES) });
  }
}

function makeExperiment(service: Service, dataset: Dataset, experiment: Experiment): Promise<Session> {
  const { id, name, description, start_time, end_time, metadata } = experiment;
  const body = { id, name, description, start_time, end_time, reference_dataset_id: dataset.id, extra: { metadata } };
  return service.send('POST', SESSIONS, { body });
}

function isComplete({ run_count, feedback_stats }: Session, traces: Experiment['traces']): boolean {
  const scores = traces.reduce((sum, { feedback }) => sum + feedback.length, 0);
  const stored = Object.values(feedback_stats ?? {}).reduce((sum, { n }) => sum + n, 0);
  return (run_count ?? 0) >= traces.length && stored >= scores;
}

async function readable(service: Service, id: string, traces: Experiment['traces']): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_MS) {
    if (isComplete(await service.get<Session>(`${SESSIONS}/${id}`), traces)) return;
    await service.pause(POLL_MS);
  }
  throw new NotMade('The service has taken everything, and is slow to show it. Running it again looks once more.');
}

/** Names the baseline, and that lower costs are better, unless somebody has chosen another one meanwhile. */
async function chooseBaseline(service: Service, id: string, { experiments }: Story): Promise<void> {
  const path = `${DATASETS}/${id}`;
  const { baseline_experiment_id } = await service.get<Dataset>(path);
  if (baseline_experiment_id !== null) return;
  await service.send('PUT', `${path}/score-directions`, { body: { lower_is_better: ['cost'] } });
  await service.send('PUT', `${path}/baseline`, { body: { experiment_id: experiments[0]!.id } });
}
