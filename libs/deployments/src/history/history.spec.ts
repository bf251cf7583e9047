import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fold, type Recorded } from '@fairlead/eventing';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { deploymentModel } from '../model/deployment';
import { listenerModel } from '../listener/listener';
import { revisionsModel } from '../model/revision';

interface History {
  readonly description: string;
  readonly events: readonly Recorded[];
  readonly revisions?: unknown;
}

const folder = join(__dirname, 'recorded');
const histories = readdirSync(folder)
  .map((file) => ({ file, ...(JSON.parse(readFileSync(join(folder, file), 'utf8')) as History) }))
  .filter(({ revisions }) => revisions !== undefined);

historyTests(
  folder,
  { deployment: deploymentModel, listener: listenerModel },
  renamed('DeploymentCreated', 'name', 'title'),
);

it.each(histories)('the revisions of $file are still understood: $description', ({ events, revisions }) => {
  const seen = [...fold(revisionsModel, events).values()];
  expect(seen.map(({ id, status, updated_at }) => ({ id, status, updated_at }))).toEqual(revisions);
});
