import { type ParkedSubject, ParkedSubjects } from '@fairlead/eventing';
import { Answers, Area, Describe, Path, Query, Scope } from '@fairlead/api';
import { type Infer, NotFound } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { parkedSubject, parkedSubjectPath, parkedSubjectsPage, parkedSubjectsQuery } from './parked-subjects.schema';

/**
 * Subjects that consumers gave up on. Only the operator of the installation sees them: reasons tell of its inside, and
 * the subjects are those of every tenant.
 */
@Area('Operation')
@Controller('/v1/parked-subjects')
export class ParkedSubjectsController {
  constructor(private readonly parked: ParkedSubjects) {}

  @Get()
  @Scope('admin', { operator: true, strict: true })
  @Describe({
    summary: 'List what consumers gave up on',
    description:
      'With the key of the operator only. `after` of the answer asks for the next page; it is null on the last one.',
  })
  @Answers({ 200: parkedSubjectsPage })
  async list(
    @Query(parkedSubjectsQuery) { limit, after }: Infer<typeof parkedSubjectsQuery>,
  ): Promise<{ resources: ParkedSubject[]; after: string | null }> {
    const resources = await this.parked.list(limit, after);
    return { resources, after: resources.length === limit ? resources.at(-1)!.id : null };
  }

  @Get(':parked_subject_id')
  @Scope('admin', { operator: true, strict: true })
  @Describe({ summary: 'Get a parked subject' })
  @Answers({ 200: parkedSubject })
  async show(
    @Path(parkedSubjectPath) { parked_subject_id: id }: Infer<typeof parkedSubjectPath>,
  ): Promise<ParkedSubject> {
    return found(id, await this.parked.find(id));
  }

  /** Retries a parked subject at once. Afterwards it shows the result, or no longer exists. */
  @Post(':parked_subject_id/retry')
  @HttpCode(202)
  @Scope('admin', { operator: true, strict: true })
  @Describe({ summary: 'Try a parked subject again' })
  @Answers({ 202: parkedSubject })
  async retry(
    @Path(parkedSubjectPath) { parked_subject_id: id }: Infer<typeof parkedSubjectPath>,
  ): Promise<ParkedSubject> {
    return found(id, await this.parked.retry(id));
  }
}

/** @throws NotFound when there is no such subject. */
function found(id: string, subject: ParkedSubject | undefined): ParkedSubject {
  if (!subject) throw new NotFound(`Parked subject ${id} not found.`);
  return subject;
}
