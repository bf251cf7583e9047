import { Asked, given, ids, listed, many, type Of, slice } from './asked';
import { contains, includes, matches, textsOf } from './matches';
import { written } from './query';
import { meansOf, sortedBy } from './statistics';
import { exampleSubject, sessionSubject, shownMetadata } from './subjects';
import type { Session } from './things';

export class SessionAnswers extends Asked<Of<'sessions'>> {
  async actual(query: Of<'sessions'>): Promise<unknown> {
    return listed(query, async (page) =>
      ids(await this.ask('GET', `/api/v1/sessions?${sessionParameters({ ...query, ...page })}`)),
    );
  }

  expected(query: Of<'sessions'>): unknown {
    return slice(query, this.found(query)).map(({ id }) => id);
  }

  private found(query: Of<'sessions'>): Session[] {
    const found = this.sessions.filter(
      (session) =>
        (query.filter === undefined || matches(query.filter, sessionSubject(session))) &&
        (query.contains === undefined || contains(session.name, query.contains)) &&
        (query.metadata === undefined || includes(session.metadata, query.metadata)) &&
        (query.free === undefined || (session.dataset === null) === query.free),
    );
    const fieldOf = (name: string) => (session: Session) =>
      sessionSubject(session).fields[name] as string | number | null;
    const keyOf = {
      ...{ name: fieldOf('name'), start_time: fieldOf('start_time'), runs_count: fieldOf('run_count') },
      ...{ latency_p50: fieldOf('latency_p50'), error_rate: fieldOf('error_rate') },
      feedback: ({ runs }: Session) => meansOf(runs.flatMap(({ feedback }) => feedback)).get(query.key) ?? null,
    }[query.sort];
    return sortedBy(found, [keyOf, query.descending], [({ id }) => id, false]);
  }
}

export class ExampleAnswers extends Asked<Of<'examples'>> {
  async actual(query: Of<'examples'>): Promise<unknown> {
    const parameters = exampleParameters(this.things.dataset, query);
    const descending = query.descending === undefined ? '' : `&descending=${query.descending}`;
    const found = await listed(query, async ({ offset, limit }) => {
      const page = `offset=${offset}&limit=${limit}&order=${query.order}`;
      return ids(await this.ask('GET', `/api/v1/examples?${parameters}&${page}${descending}`));
    });
    return { ids: found, count: await this.ask('GET', `/api/v1/examples/count?${parameters}`) };
  }

  expected(query: Of<'examples'>): unknown {
    const found = this.found(query);
    return { ids: slice(query, found), count: found.length };
  }

  private found(query: Of<'examples'>): string[] {
    const found = this.things.examples.filter((example) => {
      const { inputs, outputs, splits, writer } = example;
      const texts = [inputs, outputs].flatMap((json) => textsOf(json, writer));
      return (
        (query.filter === undefined || matches(query.filter, exampleSubject(example))) &&
        (query.texts ?? []).every((text) => texts.some((one) => contains(one, text))) &&
        (query.metadata === undefined || includes(shownMetadata(example), query.metadata)) &&
        (query.splits === undefined ||
          query.splits.some((split) => (splits.length === 0 ? split === 'base' : splits.includes(split))))
      );
    });
    if (query.order === 'id') return sortedBy(found, [({ id }) => id, query.descending ?? false]).map(({ id }) => id);
    const descending = query.descending ?? true;
    return sortedBy(found, [({ created }) => created, descending]).map(({ id }) => id);
  }
}

export class FeedbackAnswers extends Asked<Of<'feedback'>> {
  async actual(query: Of<'feedback'>): Promise<unknown> {
    return listed(query, async (page) =>
      ids(await this.ask('GET', `/api/v1/feedback?${this.parameters({ ...query, ...page })}`)),
    );
  }

  expected(query: Of<'feedback'>): string[] {
    const wanted = query.runs?.map((place) => this.named[place]!);
    const ofRuns = this.feedbackSessions(query).flatMap(({ runs }) =>
      runs.filter((run) => wanted === undefined || wanted.includes(run)).flatMap(({ feedback }) => feedback),
    );
    const ofSessions = wanted ? [] : this.feedbackSessions(query).flatMap(({ feedback }) => feedback);
    const all = [...(query.level === 'session' ? [] : ofRuns), ...(query.level === 'run' ? [] : ofSessions)];
    const found = all.filter(
      (one) =>
        (query.keys?.includes(one.key) ?? true) &&
        (query.sources?.some((source) => source === one.source) ?? true) &&
        (query.hasComment === undefined || (one.comment !== null) === query.hasComment) &&
        (query.hasScore === undefined || (one.score !== null) === query.hasScore) &&
        (query.from === undefined || one.created >= query.from) &&
        (query.to === undefined || one.created <= query.to),
    );
    const order = sortedBy(found, [({ created }) => created, true], [({ id }) => id, true]);
    return slice(query, order).map(({ id }) => id);
  }

  private parameters(query: Of<'feedback'>): string {
    const sessions = many('session', ids(this.feedbackSessions(query)));
    const runs = many(
      'run',
      query.runs?.map((place) => this.named[place]!.id),
    );
    const keys = many('key', query.keys);
    const sources = many('source', query.sources);
    const { hasComment, hasScore, level, from, to, offset, limit } = query;
    const more = {
      has_comment: hasComment,
      has_score: hasScore,
      level,
      min_created_at: from,
      max_created_at: to,
      offset,
      limit,
    };
    return String(new URLSearchParams([...sessions, ...runs, ...keys, ...sources, ...given(more)]));
  }

  /** Feedback of uploads has ids that the service makes, so that it is not asked for. */
  private feedbackSessions({ sessions }: Of<'feedback'>): Session[] {
    const own = [...this.things.projects, ...this.things.experiments];
    return sessions?.map((place) => own[place]!) ?? own;
  }
}

function sessionParameters({
  filter,
  contains: part,
  metadata,
  free,
  sort,
  key,
  descending,
  offset,
  limit,
}: Of<'sessions'>) {
  return String(
    new URLSearchParams(
      given({
        ...{ filter: filter && written(filter), name_contains: part, metadata: metadata && JSON.stringify(metadata) },
        ...{ reference_free: free, sort_by: sort, sort_by_desc: descending, offset, limit },
        ...(sort === 'feedback' && { sort_by_feedback_key: key }),
      }),
    ),
  );
}

function exampleParameters(dataset: string, { filter, texts, metadata, splits }: Of<'examples'>) {
  const plain = given({ dataset, filter: filter && written(filter), metadata: metadata && JSON.stringify(metadata) });
  return String(new URLSearchParams([...plain, ...many('full_text_contains', texts), ...many('splits', splits)]));
}
