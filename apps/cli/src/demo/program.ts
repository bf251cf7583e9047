/** A revision of the demo's deployment: its files, and why it was made. */
export interface Version {
  readonly reason: string;
  readonly files: Readonly<Record<string, string>>;
}

/** A small program that needs no packages and no model: it answers from its policies. */
const PROGRAM = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const version = VERSION;
const manner = MANNER;
const policies = JSON.parse(readFileSync('policies.json', 'utf8'));

function answer(question) {
  const topic = Object.keys(policies).find((name) => question.toLowerCase().includes(name.replace(/s$/, '')));
  if (topic === undefined) return 'A colleague will write to you today.';
  const text = \`\${topic}: \${policies[topic]}.\`;
  return manner === 'polite' ? \`Thank you for your message. \${text}\` : text;
}

const server = createServer((request, response) => {
  const question = new URL(request.url, 'http://agent').searchParams.get('question') ?? '';
  const body = { version, question, answer: answer(question) };
  console.log(JSON.stringify({ level: 'info', ...body }));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(process.env.PORT, '127.0.0.1', () => console.log(\`support agent \${version}: ready, \${manner} answers\`));
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;

const POLICIES = { express: 'two working days', returns: '30 days, free of charge', warranty: 'two years' };

/** The versions that are deployed, one after the other. */
export const VERSIONS: readonly Version[] = [
  version(1, 'The first version: it answers from the help centre.', POLICIES, 'polite'),
  version(2, 'Answers begin with the point: customers read the first line only.', POLICIES, 'short'),
  version(
    3,
    'The prompt that names the policies: better in the experiment demo-new-prompt.',
    { ...POLICIES, returns: '14 days, label 4.90' },
    'short',
  ),
];

/** The last act: the version before the last one runs again. */
export const ROLL_BACK = {
  /** Place among the versions. */
  to: 1,
  reason: 'It tells customers that returns end after 14 days: our policy is 30. See the topic in demo-new-prompt.',
} as const;

function version(number: number, reason: string, policies: object, manner: string): Version {
  const files = {
    'package.json': `${JSON.stringify({ name: 'support-agent', version: `${number}.0.0`, scripts: { start: 'node agent.mjs' } }, null, 2)}\n`,
    'policies.json': `${JSON.stringify(policies, null, 2)}\n`,
    'agent.mjs': PROGRAM.replace('VERSION', String(number)).replace('MANNER', JSON.stringify(manner)),
  };
  return { reason, files };
}
