export function text(value: string | null | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : 'null';
}

const UTC_TIME = /^(.{19})(?:\.(\d{1,6}))?(?:Z|\+00:00)$/;

/** JSON text of a time in UTC in the spelling that all times have here, `2026-01-02T03:04:05.123456+00:00`; or `null`. */
export function time(iso: string | null | undefined): string {
  const [, seconds, fraction = ''] = UTC_TIME.exec(iso ?? '') ?? [];
  return seconds === undefined ? text(iso) : `"${seconds}.${fraction.padEnd(6, '0')}+00:00"`;
}

/** JSON text of a number, or `null`; what JSON cannot say (infinities, NaN) is `null` too. */
export function number(value: number | null | undefined): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : 'null';
}

/** JSON that was stored as text, handed on byte for byte; `null` when there is none. */
export function raw(json: string | null | undefined): string {
  return json ?? 'null';
}

/** The characters of a JSON string, also of one that was cut short; other JSON as it is. */
export function unquoted(json: string): string {
  if (!json.startsWith('"')) return json;
  try {
    return String(JSON.parse(json));
  } catch {
    return json.slice(1);
  }
}

export function object(members: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(members)) parts.push(`${JSON.stringify(name)}:${value}`);
  return `{${parts.join(',')}}`;
}

export function array(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}

export function pick(members: Readonly<Record<string, string>>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.has(name)));
}

/** All members, with null for those that are not named: clients read members that they have not selected. */
export function nulled(members: Readonly<Record<string, string>>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, names.has(name) ? value : 'null']));
}

/** The first part of a text that takes at most `bytes` bytes as a JSON string. */
export function preview(text: string | null, bytes: number): string | null {
  if (text === null) return null;
  let shown = text.slice(0, bytes);
  for (let size = sizeOf(shown); size > bytes; size = sizeOf(shown)) {
    shown = shown.slice(0, Math.floor(Math.min(shown.length - 1, (shown.length * bytes) / size)));
  }
  // A pair of surrogates is not cut in two.
  return /[\ud800-\udbff]$/.test(shown) && shown.length < text.length ? shown.slice(0, -1) : shown;
}

function sizeOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
