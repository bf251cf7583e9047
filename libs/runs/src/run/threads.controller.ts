import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { bool, type Infer, literal, note, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { Pool } from 'pg';
import { found, oneOrMany } from '../common/reading';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { readThread } from './threads.queries';

const threadPath = object({ thread_id: note(str(), 'Name of a thread, as the metadata of runs have it.') });
const threadQuery = object({
  session_id: note(optional(uuid()), 'Only runs of this session.'),
  select: note(
    optional(oneOrMany(literal(['all_messages']))),
    'Accepted because clients send it; all messages are answered.',
  ),
});
const answered = object('Thread', {
  thread_id: note(str(), 'Name of the thread.'),
  previews: note(
    object('ThreadPreviews', {
      all_messages: note(str(), 'The messages as JSON objects, with an empty line between two of them.'),
    }),
    'Texts of the thread.',
  ),
  is_complete: note(bool(), 'False: the thread has more runs than were read, 1,000 or 16 MiB.'),
});

@Area('Runs')
@Controller('api/v1/runs/threads/:thread_id')
export class ThreadsController {
  constructor(private readonly pool: Pool) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get the messages of a thread' })
  @Answers({ 200: answered })
  async find(
    @Context() context: CommandContext,
    @Path(threadPath) { thread_id }: Infer<typeof threadPath>,
    @Query(threadQuery) { session_id }: Infer<typeof threadQuery>,
  ) {
    const read = await readThread(this.pool, context.tenantId, thread_id, session_id);
    const { messages, isComplete } = found(read, 'Thread ID', thread_id.slice(0, 200));
    const text = messages.map((message) => JSON.stringify(message)).join('\n\n');
    return { thread_id, previews: { all_messages: text }, is_complete: isComplete };
  }
}
