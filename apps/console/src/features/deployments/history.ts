import type { MemberChange } from '../../ui/changes';
import type { HistoryEntry } from './words';

/** Entries that follow each other and that one request, or one rollout, caused. */
export interface Step {
  /** The entry that began it. */
  readonly cause: HistoryEntry;
  /** All of it, the newest first. */
  readonly entries: readonly HistoryEntry[];
}

/** Members that only follow from others. */
const DERIVED = ['latest_revision_id', 'active_revision_id', 'updated_at', 'image_version', 'created_at'];
const REVISION_STATUS = /^revisions\.(.+)\.status$/;

/** The entries of a history, the newest first, folded by what caused them. */
export function folded(entries: readonly HistoryEntry[]): Step[] {
  const steps: HistoryEntry[][] = [];
  for (const entry of entries) {
    const last = steps.at(-1);
    if (last && isSameCause(last.at(-1)!, entry)) last.push(entry);
    else steps.push([entry]);
  }
  return steps.map((all) => ({ cause: all.at(-1)!, entries: all }));
}

function isSameCause(newer: HistoryEntry, older: HistoryEntry): boolean {
  // Somebody who looked at a value stands alone; that a rollout used it is a part of the rollout.
  if ([newer, older].some(({ type, actor }) => type === 'SecretsRead' && !actor?.startsWith('system:'))) return false;
  if (newer.request_id !== null) return newer.request_id === older.request_id;
  return older.request_id === null && newer.actor === older.actor;
}

/** Changes of one or more entries in the members that people set; without those that merely follow from them. */
export function changesOf(entries: readonly HistoryEntry[]): MemberChange[] {
  const changed = new Map<string, MemberChange>();
  for (const { changes } of [...entries].sort((a, b) => a.version - b.version)) {
    for (const { member, before, after } of changes) {
      if (DERIVED.includes(member) || REVISION_STATUS.test(member)) continue;
      const first = changed.get(member);
      changed.set(member, { member, before: first ? first.before : before, after });
    }
  }
  return [...changed.values()]
    .filter(({ before, after }) => JSON.stringify(before ?? null) !== JSON.stringify(after ?? null))
    .sort((a, b) => a.member.localeCompare(b.member));
}

/** Differences between two versions, from the entries of a history that reaches back to the earlier one. */
export function between(entries: readonly HistoryEntry[], from: number, to: number): MemberChange[] {
  const [first, last] = from < to ? [from, to] : [to, from];
  const changes = changesOf(entries.filter(({ version }) => version > first && version <= last));
  return from <= to ? changes : changes.map(({ member, before, after }) => ({ member, before: after, after: before }));
}

/** The statuses that entries tell of revisions, the oldest first. */
export function statuses(entries: readonly HistoryEntry[]): { revision: string; status: string }[] {
  return [...entries].reverse().flatMap(({ changes }) =>
    changes.flatMap(({ member, after }) => {
      const [, revision] = REVISION_STATUS.exec(member) ?? [];
      return revision === undefined ? [] : [{ revision, status: String(after) }];
    }),
  );
}

/** When each secret was last set, by its name. */
export function secretChanges(entries: readonly HistoryEntry[]): ReadonlyMap<string, HistoryEntry> {
  const found = new Map<string, HistoryEntry>();
  for (const entry of entries) {
    for (const { member } of entry.changes) {
      if (member.startsWith('secrets.') && !found.has(member.slice(8))) found.set(member.slice(8), entry);
    }
  }
  return found;
}
