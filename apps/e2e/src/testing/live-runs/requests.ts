import type { Request } from '../courier';
import { sentMembers } from './model';
import type { Change, Place, Sent } from './vary';

/** Members that a multipart request holds in parts of their own. */
const APART = ['inputs', 'outputs', 'extra', 'error', 'tags', 'events', 'serialized'];
const BOUNDARY = 'frontier-of-live-runs';

/** Ids and names for the numbers in a trial. */
export interface Names {
  readonly runs: readonly string[];
  readonly sessions: readonly string[];
  readonly sessionIds: readonly string[];
}

/** Puts the ids of runs and the long texts of a trial in their places. */
export function filled(text: string, { runs }: Names): string {
  return text
    .replace(/\$(\d)/g, (_, at: string) => runs[Number(at)]!)
    .replace(/#(\d+)/g, (_, n: string) => 'x'.repeat(Number(n)));
}

/** Returns the request as a client sends it, byte for byte the same each time. */
export function requestOf({ form, changes, attachments }: Sent, names: Names): Request {
  const id = (run: number) => names.runs[run]!;
  const members = (change: Change) => ({ ...placeMember(change.place, names), ...sentMembers(change) });
  const object = (parts: Readonly<Record<string, string>>) =>
    `{${Object.entries(parts)
      .map(([name, json]) => `${JSON.stringify(name)}: ${filled(json, names)}`)
      .join(' ,')}}`;
  const whole = (change: Change) => object({ id: JSON.stringify(id(change.run)), ...members(change) });
  const [first] = changes as [Change];
  if (form === 'run') return { method: 'POST', path: '/api/v1/runs', body: whole(first) };
  if (form === 'patch') return { method: 'PATCH', path: `/api/v1/runs/${id(first.run)}`, body: object(members(first)) };
  if (form === 'batch') {
    const list = (method: string) =>
      changes
        .filter((one) => one.method === method)
        .map(whole)
        .join();
    return {
      method: 'POST',
      path: '/api/v1/runs/batch',
      body: `{"patch": [${list('patch')}], "post":[${list('post')}]}`,
    };
  }
  const parts = changes.flatMap((change) => {
    const { method, run } = change;
    const all = Object.entries({ id: JSON.stringify(id(run)), ...members(change) });
    const own = all.filter(([name]) => APART.includes(name));
    const rest = Object.fromEntries(all.filter(([name]) => !APART.includes(name)));
    const name = `${method}.${id(run)}`;
    return [
      part(name, 'application/json', object(rest)),
      ...own.map(([member, json]) => part(`${name}.${member}`, 'application/json', filled(json, names))),
    ];
  });
  const attached = attachments.map(({ run, name, text }) =>
    part(`attachment.${id(run)}.${name}`, 'text/plain', filled(text, names)),
  );
  return {
    method: 'POST',
    path: '/api/v1/runs/multipart',
    body: `${[...parts, ...attached].join('')}--${BOUNDARY}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  };
}

function part(name: string, type: string, data: string): string {
  const head = `Content-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}`;
  return `--${BOUNDARY}\r\n${head}\r\n\r\n${data}\r\n`;
}

function placeMember(place: Place | undefined, { sessions, sessionIds }: Names): Record<string, string> {
  if (!place) return {};
  const { by, session } = place;
  return by === 'name'
    ? { session_name: JSON.stringify(sessions[session]) }
    : { session_id: JSON.stringify(sessionIds[session]) };
}
