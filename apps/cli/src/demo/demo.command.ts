import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type Api, type Query, reasonHeader } from '../api/api';
import { type Context, does } from '../api/context';
import { Failure } from '../failure';
import { confirm } from '../output/confirm';
import { examples } from '../output/help';
import { fill } from './fill';
import type { Made } from './look';
import { DATASET, DEPLOYMENT } from './mark';
import { TASKS } from './next-steps';
import { remove } from './remove';
import { NotMade, type Service } from './service';
import { storyOf } from './story';

interface DemoOptions {
  readonly remove?: boolean;
  readonly yes?: boolean;
}

/** `demo`: fills the workspace with an example, or removes it. */
export function addDemo(all: Command): void {
  const demo = all
    .command('demo')
    .description(
      'fill the workspace with an example that is worth looking at: a dataset, four experiments, traces and a deployment; what is there already stays',
    )
    .option('--remove', 'remove what the demo has made, and nothing else')
    .option('--yes', 'do not ask before removing');
  examples(demo, 'demo', 'demo --remove');
  does<DemoOptions>(demo, async (context, _args, options) => {
    try {
      if (options.remove) await removed(context, options.yes);
      else await made(context);
    } catch (error) {
      throw error instanceof NotMade ? new Failure(error.message) : error;
    }
  });
}

async function made(context: Context): Promise<void> {
  const { out, api } = context;
  const began = Date.now();
  const result = await out.waiting('Making the demo', (tell) =>
    fill(
      serviceOf(api, ({ doing, done, of }) => tell(`${Math.floor((done / of) * 100)} %  ${doing}`)),
      storyOf,
    ),
  );
  if (out.json) return out.text(JSON.stringify(result));
  out.note(`The demo is there, after ${Math.max(1, Math.round((Date.now() - began) / 1000))} s:`);
  showMade(context, result);
}

function showMade({ out, api }: Context, { notDeployed, experiments }: Made): void {
  out.facts([
    ['dataset', DATASET],
    ['experiments', Object.keys(experiments).slice(0, 2).join(', ')],
    ['', Object.keys(experiments).slice(2).join(', ')],
    ['traces', DEPLOYMENT],
    ['deployment', notDeployed ?? DEPLOYMENT],
  ]);
  out.line();
  out.line('What to try next:');
  for (const { title, commands, deploys } of TASKS) {
    if (deploys && notDeployed !== undefined) continue;
    out.line(`  ${title}`);
    for (const line of commands) out.line(`    ${out.paint('cyan', line)}`);
  }
  out.line();
  out.line('The same in the console, with links:');
  out.line(`  ${api.connection.url}/o/-/demo`);
  out.line(`"fairlead demo --remove" removes all of it.`);
}

async function removed(context: Context, yes: boolean | undefined): Promise<void> {
  const { out, api } = context;
  await confirm(context, 'Remove the dataset, experiments, traces and deployment of the demo?', yes);
  const { count, kept } = await out.waiting('Removing the demo', () =>
    remove(
      serviceOf(api, () => undefined),
      storyOf,
    ),
  );
  if (out.json) return out.text(JSON.stringify({ removed: count, kept }));
  if (count + kept.length === 0) out.note('There is no demo here.');
  else out.note('Removed the demo. The audit log keeps what happened.');
  for (const name of kept) out.warn(`Kept "${name}": it holds what is not the demo's.`);
}

/** The service as the demo uses it. */
function serviceOf(api: Api, onStep: Service['onStep']): Service {
  return {
    onStep,
    pause: (ms) => api.pause(ms),
    get: (path, query: Query = {}) => api.get(path, query),
    async send<T>(method: string, path: string, { body, parts, reason }: Parameters<Service['send']>[2] = {}) {
      const headers = { ...reasonHeader(reason), ...(parts && { 'content-type': parts.type }) };
      const text = parts?.text ?? (body && JSON.stringify(body));
      const answer = await api.send({ method, path, body: text, headers, repeatable: true });
      return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
    },
    async upload(address, archive) {
      const headers = { 'content-type': 'application/gzip', 'content-length': String(archive.length) };
      const body = () => Readable.from([archive], { objectMode: false });
      await api.send({ method: 'PUT', path: address, body, headers, repeatable: true });
    },
  };
}
