import { type Answered, Asked, given, ids, many, type Of } from './asked';
import { contains, includes } from './matches';
import type { ScoreBound } from './query';
import { meansOf, sortedBy } from './statistics';
import { sessionSubject } from './subjects';
import type { Session } from './things';

const DATASETS = ['examples of queries', 'rows of uploads'] as const;

/** Queries of `GET /v1/experiments`, page by page. */
export class ExperimentAnswers extends Asked<Of<'experiments'>> {
  async actual(query: Of<'experiments'>): Promise<unknown> {
    const { limit: first, then = first } = query;
    const found: string[] = [];
    for (let pages = 0, cursor: string | undefined; ; pages++) {
      const limit = pages % 2 === 0 ? first : then;
      const { resources, next_cursor, total, facets } = await this.ask(
        'GET',
        `/v1/experiments?${this.parameters(query, limit, cursor)}`,
      );
      if (resources.length > limit) throw new Error(`A page of ${limit} has ${resources.length} experiments.`);
      found.push(...ids(resources));
      if (next_cursor === null) return { ids: found, total, datasets: namesOf(facets.datasets) };
      cursor = next_cursor;
    }
  }

  expected(query: Of<'experiments'>): unknown {
    const found = this.found(query);
    const counts = DATASETS.map(
      (name) => [name, found.filter((one) => nameOf(one, this.things.dataset) === name).length] as const,
    );
    return {
      ids: sortedBy(found, [(one) => this.keyOf(query, one), query.descending], [({ id }) => id, false]).map(
        ({ id }) => id,
      ),
      total: found.length,
      datasets: sortedBy(
        counts.filter(([, count]) => count > 0),
        [([, count]) => count, true],
        [([name]) => name, false],
      ),
    };
  }

  private found({ text, datasets, metadata, scores = [] }: Of<'experiments'>): Session[] {
    return this.sessions.filter((session) => {
      if (session.dataset === null) return false;
      const { name, description } = session;
      const dataset = nameOf(session, this.things.dataset);
      return (
        (text === undefined || [name, description ?? '', dataset].some((one) => contains(one, text))) &&
        (datasets?.some((place) => DATASETS[place] === dataset) ?? true) &&
        (metadata === undefined || includes(session.metadata, metadata)) &&
        scores.every((bound) => fulfils(scoreOf(session, bound.key), bound))
      );
    });
  }

  private keyOf({ sort = 'start_time' }: Of<'experiments'>, session: Session): string | number | null {
    const [kind, member] = sort.split(':', 2) as [string, string?];
    if (kind === 'score') return scoreOf(session, member!);
    if (kind === 'metadata') return memberKey(session, member!);
    if (kind === 'dataset_name') return nameOf(session, this.things.dataset);
    return sessionSubject(session).fields[kind] as string | number | null;
  }

  private parameters(
    { text, datasets, metadata, scores, sort, descending }: Of<'experiments'>,
    limit: number,
    cursor?: string,
  ) {
    const { dataset, uploads } = this.things;
    const chosen = datasets?.map((place) => [dataset, uploads[0]!.dataset!][place]!);
    const order = sort === undefined && descending ? undefined : `${descending ? '-' : ''}${sort ?? 'start_time'}`;
    const bounds = scores?.map(({ key, operator, bound }) => `${key}${operator}${bound}`);
    const plain = given({ q: text, metadata: metadata && JSON.stringify(metadata), sort: order, limit, cursor });
    return String(new URLSearchParams([...plain, ...many('dataset_id', chosen), ...many('score', bounds)]));
  }
}

function nameOf({ dataset }: Session, examples: string): string {
  return DATASETS[dataset === examples ? 0 : 1];
}

function namesOf(facets: Answered): unknown {
  return facets.map(({ dataset_name, count }: Answered) => [dataset_name, count]);
}

/** The mean over the runs; of a key without scores of runs, that of the whole experiment. */
function scoreOf({ runs, feedback }: Session, key: string): number | null {
  return meansOf(runs.flatMap((run) => run.feedback)).get(key) ?? meansOf(feedback).get(key) ?? null;
}

function fulfils(score: number | null, { operator, bound }: ScoreBound): boolean {
  if (score === null) return false;
  if (operator === '=') return score === bound;
  if (operator === '<' || operator === '<=') return score < bound || (operator === '<=' && score === bound);
  return score > bound || (operator === '>=' && score === bound);
}

/** Sort key of a member of the metadata, which is a number, a boolean or null where it is there. */
function memberKey({ metadata }: Session, member: string): number | null {
  return Object.hasOwn(metadata, member) ? Number(metadata[member]) : null;
}
