import { Answers, Area, asText, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import { BadRequest, type Infer, int, note, object, optional, refine, str, uuid } from '@fairlead/schema';
import { Controller, Get, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import {
  array,
  EXPERIMENTS_VIEWS,
  JSON_TEXT,
  oneOrMany,
  SCORE_FORM,
  SCORE_OPERATORS,
  scoreBound,
  searchedObject,
} from '@fairlead/runs';
import { experiments } from './sessions.answers.schema';
import { EXPERIMENT_ORDERS, listExperiments } from './sessions.queries';

const MOST_TEXT = 256;
const MOST_SCORES = 10;
const SORT_FORM = `${EXPERIMENT_ORDERS.join(', ')}, score:<key> or metadata:<member>, with - in front for the largest first`;

const experimentsQuery = object({
  q: optional(
    note(
      str({ min: 1, max: MOST_TEXT }),
      'Only experiments that hold this text in their name, their description or the name of their dataset, in upper or lower case.',
    ),
  ),
  dataset_id: note(optional(oneOrMany(uuid())), 'Only experiments on these datasets; repeatable.'),
  metadata: note(optional(str()), 'Only experiments whose metadata contain this JSON object.'),
  score: optional(
    note(
      oneOrMany(refine(str(), (text) => (scoreBound(text) ? undefined : `give ${SCORE_FORM}`))),
      `${SCORE_FORM}: only experiments whose mean score, or whose score of the whole experiment, fulfils it (${SCORE_OPERATORS.join(' ')}); repeatable.`,
    ),
  ),
  sort: optional(
    note(
      refine(str(), (text) => (orderOf(text) ? undefined : `give ${SORT_FORM}`)),
      `${SORT_FORM}. Default: -start_time, the newest first.`,
    ),
  ),
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of experiments in the answer.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the first page.'),
});

@Area('Experiments')
@Controller('v1/experiments')
export class ExperimentsController {
  constructor(private readonly pool: Pool) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'List the experiments of all datasets',
    description: 'With the name of the dataset, the number of all that match, and the datasets that they are on.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: asText(experiments), 304: null })
  async list(
    @Context() { tenantId }: CommandContext,
    @Query(experimentsQuery) asked: Infer<typeof experimentsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const query = queryOf(asked);
    const { resources, total, datasets } = await listExperiments(this.pool, tenantId, query);
    const next = query.offset + resources.length;
    const next_cursor = next < total && resources.length > 0 ? cursorOf(next) : null;
    const rest = JSON.stringify({ next_cursor, total, facets: { datasets } });
    return unlessKnown(reply, `{"resources":${array(resources)},${rest.slice(1)}`);
  }
}

function queryOf({ q, dataset_id, score = [], limit, cursor, ...asked }: Infer<typeof experimentsQuery>) {
  if (score.length > MOST_SCORES) throw new BadRequest(`At most ${MOST_SCORES} bounds of scores can be given.`);
  const offset = cursor === undefined ? 0 : offsetOf(cursor);
  const metadata = searchedObject('metadata', asked.metadata);
  const scores = score.map((text) => scoreBound(text)!);
  return { q, dataset_id, metadata, scores, ...orderOf(asked.sort ?? '-start_time')!, limit, offset };
}

function orderOf(text: string) {
  const descending = text.startsWith('-');
  const name = descending ? text.slice(1) : text;
  const [, kind, member] = /^(score|metadata):(.+)$/s.exec(name) ?? [];
  if (kind !== undefined) return { descending, sort: kind === 'score' ? { score: member! } : { metadata: member! } };
  const sort = EXPERIMENT_ORDERS.find((one) => one === name);
  return sort && { descending, sort };
}

function cursorOf(offset: number): string {
  return Buffer.from(`experiments ${offset}`).toString('base64url');
}

function offsetOf(cursor: string): number {
  const [, offset] = /^experiments (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (offset === undefined) throw new BadRequest('The cursor is not one that this list has given out.');
  return Number(offset);
}
