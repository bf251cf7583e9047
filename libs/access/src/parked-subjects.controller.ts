import { type ParkedSubject, ParkedSubjects } from '@fairlead/eventing';
import { Answers, Area, Describe, Path, Query, Scope } from '@fairlead/api';
import { type Infer, int, note, NotFound, object, optional, uuid } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { parkedSubject, parkedSubjectsPage } from './access.answers.schema';

const page = object({
  limit: note(optional(int({ ge: 1, le: 1000 }), 100), 'Largest number of parked subjects in the answer.'),
  after: note(optional(uuid()), 'The `after` of the previous page; absent: the first page.'),
});
const named = object({ parked_subject_id: note(uuid(), 'The `id` of an element of the list.') });

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
    @Query(page) { limit, after }: Infer<typeof page>,
  ): Promise<{ resources: ParkedSubject[]; after: string | null }> {
    const resources = await this.parked.list(limit, after);
    return { resources, after: resources.length === limit ? resources.at(-1)!.id : null };
  }

  @Get(':parked_subject_id')
  @Scope('admin', { operator: true, strict: true })
  @Describe({ summary: 'Get a parked subject' })
  @Answers({ 200: parkedSubject })
  async show(@Path(named) { parked_subject_id: id }: Infer<typeof named>): Promise<ParkedSubject> {
    return found(id, await this.parked.find(id));
  }

  /** Retries a parked subject at once. Afterwards it shows the result, or no longer exists. */
  @Post(':parked_subject_id/retry')
  @HttpCode(202)
  @Scope('admin', { operator: true, strict: true })
  @Describe({ summary: 'Try a parked subject again' })
  @Answers({ 202: parkedSubject })
  async retry(@Path(named) { parked_subject_id: id }: Infer<typeof named>): Promise<ParkedSubject> {
    return found(id, await this.parked.retry(id));
  }
}

/** @throws NotFound when there is no such subject. */
function found(id: string, subject: ParkedSubject | undefined): ParkedSubject {
  if (!subject) throw new NotFound(`Parked subject ${id} not found.`);
  return subject;
}
