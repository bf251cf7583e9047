import css from './changes.module.css';
import { Sign, Text } from './parts';

/** A member that differs; null stands for none. */
export interface MemberChange {
  readonly member: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const SECRET = 'secrets.';
const SPEC = 'source_config.resource_spec.';
const CONFIG = /^source_(?:revision_)?config\./;

/** Differences, a line for each member. Secrets are compared by digest; no value is ever part of it. */
export function Changes({ changes, none = 'No member differs.' }: { changes: readonly MemberChange[]; none?: string }) {
  if (changes.length === 0) return <p className={css.none}>{none}</p>;
  return (
    <dl className={css.changes}>
      {changes.map(({ member, before, after }) => (
        <div key={member}>
          <dt title={member}>
            <Text>{shortMember(member)}</Text>
          </dt>
          <dd>{member.startsWith(SECRET) ? secret(before, after) : <Values before={before} after={after} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function Values({ before, after }: { before: unknown; after: unknown }) {
  return (
    <>
      {isNone(before) ? <span className={css.absent}>none</span> : <del>{<Text>{textOf(before)}</Text>}</del>}
      <span>
        {' '}
        <Sign sign="→">becomes</Sign>{' '}
      </span>
      {isNone(after) ? <span className={css.absent}>none</span> : <ins>{<Text>{textOf(after)}</Text>}</ins>}
    </>
  );
}

function secret(before: unknown, after: unknown): string {
  if (isNone(before)) return 'set';
  return isNone(after) ? 'removed' : 'another value';
}

function isNone(value: unknown): boolean {
  return value === null || value === undefined;
}

/** The member without the prefix that all of its kind have. */
function shortMember(member: string): string {
  return member.startsWith(SPEC) ? member.slice(SPEC.length) : member.replace(CONFIG, '').replace(SECRET, '');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
