import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { HttpProblem } from '@fairlead/schema';

const LIBS = join(__dirname, '../..');

/** Every file of errors, whichever library and folder it is in. */
const FILES = readdirSync(LIBS).flatMap((library) =>
  readdirSync(join(LIBS, library, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.errors.ts'))
    .map((file) => `${library}/src/${file}`),
);

it.each(FILES)('%s holds errors that carry their answer', (file) => {
  const exported = Object.values(jest.requireActual<Record<string, unknown>>(join(LIBS, file)));
  const classes = exported.filter((one) => /^class\b/.test(String(one))) as (abstract new () => unknown)[];
  expect(classes.map(({ prototype }) => prototype instanceof HttpProblem)).toEqual(classes.map(() => true));
});

it.each(['access', 'auth-providers', 'datasets', 'deployments', 'integrations', 'rollouts', 'runs', 'webhooks'])(
  'The domain %s keeps its errors in such files',
  (domain) => expect(FILES.filter((file) => file.startsWith(`${domain}/`))).not.toEqual([]),
);
