import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import {
  type Infer,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { pageOf100 } from '../common/reading';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { REFUSED_KINDS, type RefusedKind } from './refusal';
import { KEPT_DAYS, RefusedItems } from './refused-items.store';

const query = object({
  session_id: note(optional(uuid()), 'Only what was refused for this project or experiment.'),
  ...pageOf100,
});
const refused = object('RefusedItems', {
  resources: note(
    list(
      object('RefusedItemsOfOneReason', {
        session_id: note(nullable(uuid()), 'Project or experiment that they were sent to; null when there is none.'),
        session_name: note(nullable(str()), 'Its name, or the name that was sent; null when none was sent.'),
        kind: note(literal(REFUSED_KINDS), 'Kind of the items.'),
        place: note(str(), 'Member of the item that is wrong; empty: the item as a whole.'),
        reason: note(str(), 'Reason in one sentence, as the latest of them was told.'),
        count: note(int(), 'Number of items that were refused for it, each time that they were sent.'),
        item_ids: note(list(str()), 'Identifiers of the latest of them, as they were sent, at most ten.'),
        first_at: note(timestamp(), 'When the first of them was refused.'),
        last_at: note(timestamp(), 'When the latest of them was refused.'),
      }),
    ),
    'Reasons for which items were refused, the latest first.',
  ),
  offset: note(int(), 'Value for `offset` to get the next page.'),
});

@Area('Runs')
@Controller('v1/refused')
export class RefusedItemsController {
  constructor(private readonly items: RefusedItems) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, strict: true })
  @Describe({
    summary: 'List refused runs and feedback',
    description: `One row for each project and reason, with the number of items. Rows are kept for ${KEPT_DAYS} days; at most 1000 of a workspace and 50 of a project, the latest.`,
  })
  @Answers({ 200: refused })
  async list(@Context() { tenantId }: CommandContext, @Query(query) asked: Infer<typeof query>) {
    const { session_id, limit, offset } = asked;
    const rows = await this.items.list(tenantId, session_id, limit, offset);
    const resources = rows.map((row) => ({ ...row, kind: row.kind as RefusedKind }));
    return { resources, offset: offset + rows.length };
  }
}
