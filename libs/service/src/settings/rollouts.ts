import { note, oneOf, optional, parseCommand, type Reading, setting, whole } from '@fairlead/schema';
import { KUBERNETES, kubernetesSettings } from './kubernetes';
import { MOST_SECONDS } from './texts';

const command = setting((text) => {
  parseCommand(text);
  return text;
});

export const ROLLOUTS = {
  EXECUTOR: note(
    optional(oneOf(['record', 'command', 'kubernetes', 'local'])),
    'What a rollout does ([rollouts](../guides/rollouts.md)). Unset: `local` for `npm start` on loopback, without `PUBLIC_URL` and `TRUST_PROXY`, with one workspace; everywhere else `record`.',
  ),
  ROLLOUT_TIME_LIMIT: note(
    optional(whole(1, 7 * 24 * 3600), 1800),
    'Seconds for one attempt at a revision; then it fails.',
  ),
  ON_FAILURE: note(
    optional(oneOf(['rollback', 'keep']), 'rollback'),
    'What becomes of what a revision leaves in the cluster that was not deployed, for the executor `kubernetes`. `rollback`: the active revision takes its place again. `keep`: it stays until the next revision.',
  ),
  ON_DRIFT: note(
    optional(oneOf(['report', 'repair']), 'report'),
    'What is done when somebody else has changed what runs, for the executor `kubernetes`. `report`: the deployment is `UNKNOWN`, with the reason. `repair`: the active revision is applied again.',
  ),
  COMMAND_BUILD: note(optional(command), 'Command of the executor `command` that builds; unset: nothing is built.'),
  COMMAND_DEPLOY: note(optional(command), 'Command of the executor `command` that deploys.'),
  COMMAND_DELETE: note(optional(command), 'Command of the executor `command` that removes a deployment.'),
  COMMAND_PASS_ENV: note(
    optional(setting(names), []),
    'Variables of the service that its commands see too, separated by commas.',
  ),
  LOCAL_AWAKE: note(
    optional(whole(1, 10_000)),
    'Processes of programs of the executor `local` that run at a time; unset: one for each 768 MiB of memory, at least two ([sleep](../guides/local-running.md#sleep)).',
  ),
  LOCAL_SLEEP_AFTER: note(
    optional(whole(1, MOST_SECONDS), 1800),
    'Seconds without a request after which a program of the executor `local` sleeps until the next one.',
  ),
  LOCAL_DISK_BYTES: note(
    optional(whole(100_000_000, 1_000_000_000_000_000), 4_294_967_296),
    'Bytes that the files of a deployment of the executor `local` may take, builds and caches included, or its container may write, and that its image may have ([disk](../guides/local-running.md#disk)).',
  ),
  LOCAL_LOG_BYTES: note(
    optional(whole(100_000, 16_777_216), 1_048_576),
    'Bytes that the last lines of each program of the executor `local` may take in memory; each line counts 100 bytes more than its text ([logs](../guides/local-logs-and-commands.md#logs)).',
  ),
  LOCAL_LOG_RATE: note(
    optional(whole(1, 10_000), 500),
    'Most lines of a program of the executor `local` that are kept in a second; a line says how many others were dropped.',
  ),
  ...KUBERNETES,
};

export type RolloutSettings = ReturnType<typeof rolloutSettings>;

/** Returns the settings of rollouts; times are in milliseconds. Adds mistakes to `mistakes`. */
export function rolloutSettings(read: Reading<typeof ROLLOUTS>, mistakes: string[]) {
  const named = read('EXECUTOR');
  const executor = named ?? 'record';
  return {
    executor,
    /** False when no setting names the executor: a standalone installation may then choose another one. */
    isExecutorSet: named !== undefined,
    commands: {
      build: read('COMMAND_BUILD'),
      deploy: read('COMMAND_DEPLOY'),
      delete: read('COMMAND_DELETE'),
      passEnv: read('COMMAND_PASS_ENV'),
    },
    timeLimit: 1000 * read('ROLLOUT_TIME_LIMIT'),
    onFailure: read('ON_FAILURE'),
    onDrift: read('ON_DRIFT'),
    kubernetes: kubernetesSettings(read, executor === 'kubernetes', mistakes),
    local: {
      awake: read('LOCAL_AWAKE'),
      sleepAfter: 1000 * read('LOCAL_SLEEP_AFTER'),
      disk: read('LOCAL_DISK_BYTES'),
      logs: { bytes: read('LOCAL_LOG_BYTES'), rate: read('LOCAL_LOG_RATE') },
    },
  };
}

function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) return list;
  throw new Error(`must be names of variables separated by commas, not ${JSON.stringify(text)}`);
}
