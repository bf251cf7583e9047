import { type ParkedSubject, ParkedSubjects } from '@fairlead/eventing';
import { Access, Area, Describe, path, query } from '@fairlead/api';
import { Forbidden, int, NotFound, object, optional, uuid } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { parkedSubject, parkedSubjectsPage } from './access.answers.schema';
import { OPERATOR_KEY_ID } from './api-key';

const page = object({ limit: optional(int({ ge: 1, le: 1000 }), 100), after: optional(uuid()) });
const named = object({ parked_subject_id: uuid() });

/**
 * What consumers gave up on, for the operator of the installation: reasons tell of its inside, and the subjects are those
 * of every tenant.
 */
@Area('Operation')
@Controller('/v1/parked-subjects')
export class ParkedSubjectsController {
  constructor(private readonly parked: ParkedSubjects) {}

  @Get()
  @Access('admin')
  @Describe({
    summary: 'List what consumers gave up on',
    description:
      'With the key of the operator only. `after` of the answer asks for the next page; it is null on the last one.',
    query: page,
    answers: { 200: parkedSubjectsPage },
  })
  async list(@Req() request: FastifyRequest): Promise<{ resources: ParkedSubject[]; after: string | null }> {
    onlyOperator(request);
    const { limit, after } = query(page, request);
    const resources = await this.parked.list(limit, after);
    return { resources, after: resources.length === limit ? resources.at(-1)!.id : null };
  }

  @Get(':parked_subject_id')
  @Access('admin')
  @Describe({ summary: 'Get a parked subject', path: named, answers: { 200: parkedSubject } })
  async show(@Req() request: FastifyRequest): Promise<ParkedSubject> {
    return this.found(request, (id) => this.parked.find(id));
  }

  /** Tries it again at once; what it led to is shown by the subject, or by its absence. */
  @Post(':parked_subject_id/retry')
  @HttpCode(202)
  @Access('admin')
  @Describe({ summary: 'Try a parked subject again', path: named, answers: { 202: parkedSubject } })
  async retry(@Req() request: FastifyRequest): Promise<ParkedSubject> {
    return this.found(request, (id) => this.parked.retry(id));
  }

  private async found(
    request: FastifyRequest,
    find: (id: string) => Promise<ParkedSubject | undefined>,
  ): Promise<ParkedSubject> {
    onlyOperator(request);
    const { parked_subject_id: id } = path(named, request);
    const subject = await find(id);
    if (!subject) throw new NotFound(`Parked subject ${id} not found.`);
    return subject;
  }
}

/** @throws Forbidden unless the request carries the installation's own admin key. */
function onlyOperator({ actor }: FastifyRequest): void {
  if (actor.keyId !== OPERATOR_KEY_ID) throw new Forbidden();
}
