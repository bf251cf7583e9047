import { examples } from '../output/help';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { type Kept, keptOf, type Verified } from '../api/exported-history';
import { type Cryptography, type KeptSeal, keptSealsOf, type SigningKey } from '../api/exported-seals';
import { type VerifiedWorkspace, verifyExport } from '../api/exported-workspace';
import { textOf } from '../body/body-file';
import { brokenFile, EXIT, Usage } from '../failure';
import { namesOf } from '../api/kinds';
import { type ListOptions, listed, type PageQuery, time } from '../api/lists';
import { addLines, filters, reaches } from '../table/group';
import { deploymentId } from '../api/lookups';
import type { Activity } from '../api/records';
import { save } from '../upload/saved';
import { addAuditVerdict } from './audit-verdict.command';
import { clean, when } from '../output/text';

const KEYS = '/v1/audit/keys';
const WORKSPACE = '/v1/audit/export';
const NO_KEYS =
  'whose signature it is. No keys were given (--keys): those of the service are used, which whoever can write to its database can replace.';
const NOTHING_KEPT =
  'whether the history was rewritten before it was exported: the service signs what its database says. Give an earlier export or its version:hash (--head), or seals that were sent out (--seal).';

export function addAudit(all: Command): void {
  const group = all.command('audit').description('who did what, and histories that others can verify');
  addLog(group);
  const history = group
    .command('export')
    .description('everything of the workspace, or the history of a deployment, signed, for somebody else to verify')
    .argument('[deployment]', 'id or name; without it the whole workspace, which takes a key with the scope admin')
    .option('-o, --output <file>', 'where to (default: standard output)');
  examples(history, 'audit export -o workspace.jsonl', 'audit export support-agent -o support-agent.jsonl');
  reaches(history, 'GET /v2/deployments/{deployment_id}/history/export', `GET ${WORKSPACE}`);
  does<{ output?: string }>(history, async (context, [name], { output }) => {
    const path =
      name === undefined ? WORKSPACE : `/v2/deployments/${await deploymentId(context.api, name)}/history/export`;
    await save(context, await context.api.open({ method: 'GET', path }), output);
  });
  const keys = group.command('keys').description('the public keys that histories are signed with, to be kept');
  examples(keys, 'audit keys > keys.json');
  reaches(keys, `GET ${KEYS}`);
  does(keys, async (context) => context.out.text(await context.api.read(KEYS)));
  addVerify(group);
  addAuditVerdict(group);
  addLines(group, {
    choices: {
      route: 'GET /v1/audit/choices',
      about: 'the operations, actors and resources that the log can be filtered by',
    },
  });
}

interface LogOptions extends ListOptions {
  readonly since?: string;
  readonly until?: string;
  readonly operation?: string;
  readonly request?: string;
  readonly resource?: string;
  readonly refused?: boolean;
}

const LOG = '/api/v1/audit-logs';

function addLog(group: Command): void {
  const log = group
    .command('log')
    .description('who did what in the workspace, the newest first; takes a key with the scope admin')
    .option('--since <time>', 'from this time on', time)
    .option('--until <time>', 'up to this time', time)
    .option('--operation <name,…>', 'only these, as delete_deployment')
    .option('--resource <id>', 'only about this thing')
    .option('--request <id>', 'only of this request')
    .option('--refused', 'only requests that were answered 401 or 403');
  examples(log, 'audit log --since 2026-01-31 --operation delete_deployment');
  const other = ['start_time', 'end_time', 'operations', 'resource_id', 'request_id', 'outcome', 'workspace_id'];
  const query = filters(log, `GET ${LOG}`, 'audit', { without: other });
  does<LogOptions>(log, async (context, _args, options) => {
    const { api, out } = context;
    const filter = {
      ...(await query(context, options)),
      start_time: options.since,
      end_time: options.until,
      operations: options.operation,
      resource_id: options.resource,
      request_id: options.request,
      outcome: options.refused ? 'refused' : undefined,
    };
    const read = ({ limit, cursor }: PageQuery) => api.page(LOG, { ...filter, limit, cursor });
    const { items, json } = await listed<Activity>(context, options, read);
    if (out.json) return out.text(json);
    if (items.length === 0) return out.note('Nothing.');
    await showLog(context, items);
  });
}

async function showLog({ api, out }: Context, entries: readonly Activity[]): Promise<void> {
  const names = await namesOf(
    api,
    'deployment',
    entries.flatMap(({ resources }) => resources[0]?.uid ?? []),
  );
  out.table(
    [
      { title: 'TIME' },
      { title: 'OPERATION', whole: true },
      { title: 'RESOURCE', whole: true },
      { title: 'BY', whole: true },
      { title: 'REASON', flexible: true },
    ],
    entries.map((entry) => {
      const { code } = entry.http_response;
      const operation = code === null ? entry.api.operation : `${code} ${entry.http_request.http_method}`;
      const reason = entry.unmapped.original_audit_log.enrichments.reason ?? '';
      const resource = entry.resources[0]?.uid ?? entry.http_request.url.path;
      const { name, credential_uid } = entry.actor.user;
      const by = (name || credential_uid) ?? entry.src_endpoint.ip ?? '-';
      return [
        when(new Date(entry.time).toISOString()),
        out.cell(code === null ? 'bold' : 'red', clean(operation)),
        clean(names.get(resource) ?? resource),
        clean(by),
        clean(entry.count > 1 ? `${entry.count} times ${reason}`.trim() : reason),
      ];
    }),
  );
}

function addVerify(group: Command): void {
  const command = group
    .command('verify')
    .description('verify an exported workspace or history: with --keys no service is asked')
    .argument('<file>', 'as audit export wrote it; - for standard input')
    .option('--keys <file>', 'as audit keys printed them when the installation was trusted')
    .option('--head <head>', 'an earlier export of the same, or the version:hash or events:hash that it ends with')
    .option('--seal <file>', 'seals that were sent out, one a line, or position:hash of the log')
    .option('--of <workspace>', 'id of the workspace that it must be an export of');
  examples(
    command,
    'audit verify workspace.jsonl --keys keys.json --head kept.jsonl --seal seals.jsonl',
    'audit verify support-agent.jsonl --keys keys.json --head kept.jsonl',
    'audit verify support-agent.jsonl --keys keys.json --seal seals.jsonl',
  );
  does<{ keys?: string; head?: string; seal?: string; of?: string }>(command, async (context, [file], options) => {
    const keys = keysOf(options.keys === undefined ? await context.api.read(KEYS) : textOf(options.keys), options.keys);
    const kept = await keptBy(options);
    const lines = linesOf(file!, file === '-' ? process.stdin : createReadStream(file!));
    const found = await verifyExport(lines, keys, ofNode, kept, options.of);
    const isKept = kept.head !== undefined || kept.seals !== undefined;
    const unchecked = [
      ...(options.keys === undefined ? [NO_KEYS] : []),
      ...(isKept ? found.unchecked : [NOTHING_KEPT]),
    ];
    if (context.out.json) context.out.text(JSON.stringify({ ...found, unchecked }));
    else {
      context.out.line(`${told(found)}, as ${found.signedBy} signed them at ${found.exportedAt}`);
      for (const reason of unchecked) context.out.note(`Not checked: ${reason}`);
      for (const reason of 'notCovered' in found ? found.notCovered : []) context.out.note(`Not in it: ${reason}`);
    }
    // Nobody outside of the service has said whose key it is, or what the history was before.
    return unchecked.length > 0 ? EXIT.unchecked : EXIT.ok;
  });
}

function told(found: Verified | VerifiedWorkspace): string {
  if (!('workspace' in found)) return `${found.stream}: ${found.events} events`;
  const { workspace, events, streams, seals, position } = found;
  return `workspace ${workspace}: ${events} events in ${streams} streams under ${seals} seals, up to position ${position} of the log`;
}

/** The lines of a file while it is read. @throws Usage when it cannot be read */
async function* linesOf(file: string, input: Readable): AsyncGenerator<string> {
  const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
  // Some errors of a file end no loop over its lines by itself, and others end it as errors of the loop.
  const unreadable = new Promise<never>((_, reject) =>
    input.once('error', (error: unknown) => reject(new Usage(`${file} cannot be read: ${brokenFile(error)}.`))),
  );
  unreadable.catch(() => undefined);
  for (;;) {
    const next = lines.next().catch((error: unknown) => {
      if (input.errored) return unreadable;
      throw error;
    });
    const line = await Promise.race([next, unreadable]);
    if (line.done) return;
    yield line.value;
  }
}

const ofNode: Cryptography = {
  sha256: (text) => createHash('sha256').update(text).digest('base64url'),
  isSigned(text, signature, key) {
    try {
      const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' });
      return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
    } catch {
      return false;
    }
  },
};

/** The head as it is given, or head and seals as the last line of an earlier export says them. */
async function keptBy({ head, seal }: { head?: string; seal?: string }): Promise<Kept> {
  const kept = head === undefined ? {} : await headOf(head);
  if (seal === undefined) return kept;
  return { ...kept, seals: [...(kept.seals ?? []), ...sealsOf(seal)] };
}

async function headOf(text: string): Promise<Kept> {
  const [, version, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
  if (version !== undefined && hash !== undefined) return { head: { version: Number(version), hash } };
  let last = '';
  for await (const line of linesOf(text, createReadStream(text))) last = line || last;
  const kept = keptOf(last);
  if (kept) return kept;
  throw new Usage(`--head must be version:hash or an export, whose last line says both, not ${text}.`);
}

function sealsOf(text: string): readonly KeptSeal[] {
  const seals = keptSealsOf(/^\d+:/.test(text) ? text : textOf(text));
  if (seals) return seals;
  throw new Usage(`--seal must be a file with seals, one a line, or position:hash, not ${text}.`);
}

function keysOf(text: string, file = KEYS): readonly SigningKey[] {
  try {
    const { keys } = JSON.parse(text) as { keys: SigningKey[] };
    if (Array.isArray(keys)) return keys;
  } catch {
    // Told below.
  }
  throw new Usage(`${file} holds no keys.`);
}
