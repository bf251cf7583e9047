import { examples } from '../output/help';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { type Kept, keptOf, verifyHistory } from '../api/exported-history';
import { type Cryptography, type KeptSeal, keptSealsOf, type SigningKey } from '../api/exported-seals';
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
const NO_KEYS =
  'whose signature it is. No keys were given (--keys): those of the service are used, which whoever can write to its database can replace.';
const NOTHING_KEPT =
  'whether the history was rewritten before it was exported: the service signs what its database says. Give an earlier export or its version:hash (--head), or seals that were sent out (--seal).';

export function addAudit(all: Command): void {
  const group = all.command('audit').description('who did what, and histories that others can verify');
  addLog(group);
  const history = group
    .command('export')
    .description('the history of a deployment, signed, for somebody else to verify')
    .argument('<deployment>', 'id or name')
    .option('-o, --output <file>', 'where to (default: standard output)');
  examples(history, 'audit export support-agent -o support-agent.jsonl');
  reaches(history, 'GET /v2/deployments/{deployment_id}/history/export');
  does<{ output?: string }>(history, async (context, [name], { output }) => {
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}/history/export`;
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
    .description('verify an exported history: with --keys no service is asked')
    .argument('<file>', 'as audit export wrote it; - for standard input')
    .option('--keys <file>', 'as audit keys printed them when the installation was trusted')
    .option('--head <head>', 'version:hash that was kept of this history, or an earlier export of it')
    .option('--seal <file>', 'seals that were sent out, one a line, or position:hash of the log');
  examples(
    command,
    'audit verify support-agent.jsonl --keys keys.json --head kept.jsonl',
    'audit verify support-agent.jsonl --keys keys.json --seal seals.jsonl',
  );
  does<{ keys?: string; head?: string; seal?: string }>(command, async (context, [file], options) => {
    const keys = keysOf(options.keys === undefined ? await context.api.read(KEYS) : textOf(options.keys), options.keys);
    const kept = keptBy(options);
    const input = file === '-' ? process.stdin : createReadStream(file!);
    const lines = createInterface({ input, crlfDelay: Infinity });
    // An error of the file ends no loop over its lines by itself.
    const unreadable = new Promise<never>((_, reject) =>
      input.once('error', (error: unknown) => reject(new Usage(`${file} cannot be read: ${brokenFile(error)}.`))),
    );
    const found = await Promise.race([verifyHistory(lines, keys, ofNode, kept), unreadable]);
    const { stream, events, signedBy, exportedAt } = found;
    const isKept = kept.head !== undefined || kept.seals !== undefined;
    const unchecked = [
      ...(options.keys === undefined ? [NO_KEYS] : []),
      ...(isKept ? found.unchecked : [NOTHING_KEPT]),
    ];
    if (context.out.json) context.out.text(JSON.stringify({ ...found, unchecked }));
    else {
      context.out.line(`${stream}: ${events} events, as ${signedBy} signed them at ${exportedAt}`);
      for (const reason of unchecked) context.out.note(`Not checked: ${reason}`);
    }
    // Nobody outside of the service has said whose key it is, or what the history was before.
    return unchecked.length > 0 ? EXIT.unchecked : EXIT.ok;
  });
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
function keptBy({ head, seal }: { head?: string; seal?: string }): Kept {
  const kept = head === undefined ? {} : headOf(head);
  if (seal === undefined) return kept;
  return { ...kept, seals: [...(kept.seals ?? []), ...sealsOf(seal)] };
}

function headOf(text: string): Kept {
  const [, version, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [];
  if (version !== undefined && hash !== undefined) return { head: { version: Number(version), hash } };
  const kept = keptOf(textOf(text));
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
