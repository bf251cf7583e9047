export const LINE_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

export type LineLevel = (typeof LINE_LEVELS)[number];

/** A line that a program wrote, without values of secrets. */
export interface ProgramLine {
  /** Grows with every line of the deployment. */
  readonly id: number;
  /** When it was written (ms since 1970). */
  readonly at: number;
  readonly level: LineLevel;
  readonly message: string;
}

/** Names of levels as programs write them, in lower case. */
const NAMES: ReadonlyMap<string, LineLevel> = new Map(
  (
    [
      ['DEBUG', 'debug trace verbose'],
      ['INFO', 'info information notice'],
      ['WARNING', 'warning warn'],
      ['ERROR', 'error err severe'],
      ['CRITICAL', 'critical fatal panic alert emergency'],
    ] as const
  ).flatMap(([level, names]) => names.split(' ').map((name) => [name, level] as const)),
);
/** Characters of a line among which its level is looked for. */
const BEGINNING = 200;
const WORD = `(${[...NAMES.keys()].join('|')})`;
/** Brackets, times and numbers: what stands before the level. No text matches in two ways, so that no line takes long. */
const BEFORE = String.raw`^[\s[(<|]*(?:\d[\dTZ:.,+/-]*[\s\])|][\s\])|[(<]*)*`;
const FIRST = new RegExp(`${BEFORE}${WORD}(?=\\s*[:\\])>|]|\\s+-\\s)`, 'i');
const FIRST_LOUD = new RegExp(`${BEFORE}${WORD.toUpperCase()}(?=\\s|$)`);
/** As Python writes `%(asctime)s - %(name)s - %(levelname)s - %(message)s`. */
const BETWEEN = new RegExp(`\\s-\\s${WORD.toUpperCase()}\\s-\\s`);
/** As in `time=… level=warn msg=…`. */
const MEMBER = new RegExp(`(?:^|\\s)(?:level|lvl|severity)="?${WORD}\\b`, 'i');

/**
 * The severity that a line tells of itself: the member `level`, `severity`, `levelname` or `log.level` of a JSON object,
 * also as a number of pino and bunyan; else a usual beginning. `otherwise`: that of a line that does not say.
 */
export function levelOf(line: string, otherwise: LineLevel): LineLevel {
  if (line.startsWith('{')) return levelOfJson(line) ?? otherwise;
  const beginning = line.slice(0, BEGINNING);
  for (const pattern of [FIRST, FIRST_LOUD, BETWEEN, MEMBER]) {
    const name = pattern.exec(beginning)?.[1];
    if (name !== undefined) return NAMES.get(name.toLowerCase())!;
  }
  return otherwise;
}

function levelOfJson(line: string): LineLevel | undefined {
  try {
    const { level, severity, levelname, 'log.level': ecs } = JSON.parse(line) as Record<string, unknown>;
    const said = level ?? severity ?? levelname ?? ecs;
    if (typeof said === 'number') return LINE_LEVELS[Math.min(4, Math.max(0, Math.ceil(said / 10) - 2))];
    return typeof said === 'string' ? NAMES.get(said.trim().toLowerCase()) : undefined;
  } catch {
    return undefined;
  }
}
