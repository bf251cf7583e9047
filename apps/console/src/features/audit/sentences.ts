import type { Entry } from './data';

/** Entries that one request, or several sign-ins in a row, made: they are one line. */
export interface Told {
  /** The entry that began it: what followed from it is in the others. */
  readonly first: Entry;
  readonly entries: readonly Entry[];
  readonly isSignIn: boolean;
}

const SIGN_IN = /^(?:create_console_(?:session|code)|console_(?:session|code)_used|delete_console_session)$/;

/** The entries, the newest first, folded by request; sign-ins of one key that follow each other are one line. */
export function folded(entries: readonly Entry[]): Told[] {
  const found: Entry[][] = [];
  for (const entry of entries) {
    const last = found.at(-1);
    if (last && isTogether(last.at(-1)!, entry)) last.push(entry);
    else found.push([entry]);
  }
  return found.map((all) => ({ first: all.at(-1)!, entries: all, isSignIn: isSignIn(all[0]!) }));
}

function isTogether(newer: Entry, older: Entry): boolean {
  const [one, other] = [newer, older].map(({ actor }) => actor.user.credential_uid);
  if (one !== other || newer.http_response.code !== null || older.http_response.code !== null) return false;
  if (isSignIn(newer) && isSignIn(older)) return true;
  return newer.http_request.uid !== null && newer.http_request.uid === older.http_request.uid;
}

function isSignIn({ api }: Entry): boolean {
  return SIGN_IN.test(api.operation);
}

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  register: 'added',
  update: 'changed',
  delete: 'deleted',
  read: 'read',
  share: 'shared',
  unshare: 'took back the share of',
  suspend: 'suspended',
  resume: 'resumed',
  run: 'ran',
  end: 'ended',
  fill: 'filled',
  rename: 'renamed',
  hold: 'held a revision of',
  release: 'let a revision through of',
  judge: 'looked at the evidence for',
};
/** Verbs by the operation, where that is about a part of the thing that the entry names. */
const BY_OPERATION: Readonly<Record<string, string>> = {
  create_examples: 'added examples to',
  create_experiment_via_upload: 'uploaded',
  create_feedback: 'gave feedback in',
  create_runs: 'sent runs to',
  create_upload_path: 'asked to upload a source for',
  delete_examples: 'deleted examples of',
  delete_feedback: 'deleted feedback in',
  fill_experiment_via_upload: 'filled',
  read_secrets: 'read secrets of',
  update_dataset_baseline: 'chose the baseline of',
  update_dataset_splits: 'changed the splits of',
  update_examples: 'changed examples of',
  update_feedback: 'changed feedback in',
  update_score_directions: 'changed what is better in',
};
/** Verbs by the last part of the path of a request, where that says more than the operation. */
const BY_PATH: Readonly<Record<string, string>> = {
  redeploy: 'rolled back',
  interrupt: 'interrupted a revision of',
  override: 'overrode the gates of',
  gates: 'changed the gates of',
  stop: 'stopped',
  start: 'started',
  restart: 'restarted',
  tags: 'tagged',
  reveal: 'read a secret of',
  commands: 'ran a command beside',
};
const NOUNS: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  consoleSession: 'session',
  consoleCode: 'sign-in link',
  integration: 'code host',
  oauthProvider: 'OAuth provider',
  oauthToken: 'OAuth token',
  comparativeExperiment: 'comparative experiment',
  secretAccess: 'deployment or webhook',
};

/** The verb of the sentence about an entry; `thing` says what stands behind it when nothing has a name. */
export function verbOf({ api, http_request, http_response, count }: Entry): string {
  if (http_response.code !== null) return `was refused ${http_response.code}${count > 1 ? ` × ${count}` : ''}`;
  const operated = BY_OPERATION[api.operation];
  if (operated) return operated;
  const last = /\/([a-z-]+)$/.exec(http_request.url.path)?.[1];
  const said = last === undefined ? undefined : BY_PATH[last];
  if (said) return said;
  const [verb = '', ...rest] = api.operation.split('_');
  return VERBS[verb] ?? [verb, ...rest].join(' ');
}

/** A thing without a name of its own: `the dataset 0198c1f0`. */
export function thingOf({ type, uid }: Entry['resources'][number]): string {
  return `the ${nounOf(type)} ${uid.slice(0, 8)}`;
}

export function nounOf(type: string | null): string {
  const words = (type ?? 'thing').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return NOUNS[type ?? ''] ?? words;
}

/** An operation as a person reads it in a list of choices: `delete_deployment` as `Delete deployment`. */
export function spoken(operation: string): string {
  const words = operation.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The name of who did something, or of the key. */
export function who({ name, credential_uid }: Entry['actor']['user']): string {
  if (name) return name;
  return isKey(credential_uid!) ? `key ${credential_uid!.slice(0, 8)}` : credential_uid!.replace(/^system:/, '');
}

export function isKey(actor: string): boolean {
  return !actor.startsWith('system:');
}
