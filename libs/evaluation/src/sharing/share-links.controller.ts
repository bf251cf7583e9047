import { Answers, Area, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import {
  BadRequest,
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  object,
  optional,
  refine,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { EXPERIMENTS_VIEWS, Id, pageOf100 } from '@fairlead/runs';
import { HIDEABLE, type Hideable, LINK_KINDS } from './share';
import { ShareCommands } from './share.commands';
import { ShareQueries } from './share.queries';
import { linkMembers } from './share.schema';

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;
const MOST_DAYS = 90;
const MOST_EXPERIMENTS = 20;

// A member that is misspelt would hide nothing.
const newLink = refine(
  object(
    'NewShareLink',
    {
      kind: note(literal(LINK_KINDS), 'What the link shows.'),
      dataset_id: note(optional(uuid()), 'Of a comparison: the dataset of the experiments.'),
      experiments: note(
        optional(list(uuid(), { min: 1, max: MOST_EXPERIMENTS })),
        'Of a comparison: the experiments, the baseline first.',
      ),
      run_id: note(optional(uuid()), 'Of a run: which one.'),
      hide: note(
        optional(list(literal(HIDEABLE), { max: HIDEABLE.length }), [] as Hideable[]),
        'What the link does not show.',
      ),
      expires_at: note(
        optional(datetime()),
        `When the link ends, at most ${MOST_DAYS} days from now. Default: in ${USUAL_DAYS} days.`,
      ),
    },
    { closed: true },
  ),
  ({ kind, dataset_id, experiments, run_id }) => {
    const ofComparison = dataset_id !== undefined && experiments !== undefined && run_id === undefined;
    const ofRun = dataset_id === undefined && experiments === undefined && run_id !== undefined;
    if (kind === 'comparison') return ofComparison ? undefined : 'a comparison has dataset_id and experiments';
    return ofRun ? undefined : 'a run has run_id';
  },
);
const createdLink = object('CreatedShareLink', {
  ...linkMembers,
  token: note(uuid(), 'Part of the addresses at which it can be read without a key. It is told here only.'),
  path: note(str(), 'Address of the page in the web console, below that of the service.'),
});
const links = object('ShareLinks', {
  resources: note(list(object('ShareLink', linkMembers)), 'Links that have not expired, the newest first.'),
  offset: note(int(), 'Value for `offset` to get the next page.'),
});
const page = object(pageOf100);
const OPTIONS = { views: EXPERIMENTS_VIEWS, strict: true };

@Area('Sharing')
@Controller('v1/shares')
export class ShareLinksController {
  constructor(
    private readonly commands: ShareCommands,
    private readonly queries: ShareQueries,
  ) {}

  @Post()
  @HttpCode(201)
  @Scope('write', OPTIONS)
  @Describe({
    summary: 'Create a share link',
    description:
      'Whoever has the link may read the comparison or the run until it expires, without a key, but for what is hidden.',
    takes: ['x-reason'],
  })
  @Answers({
    201: createdLink,
    400: 'It cannot be compared, the time is wrong, or the workspace has too many links.',
    404: 'There is no such experiment or run.',
  })
  async create(@Context() context: CommandContext, @Body(newLink) asked: Infer<typeof newLink>) {
    const { kind, dataset_id = null, experiments = [], run_id = null } = asked;
    const expires_at = endOf(asked.expires_at?.iso);
    const hidden = HIDEABLE.filter((member) => asked.hide.includes(member));
    const link = { kind, dataset_id, experiments, run_id, hidden, expires_at };
    const { token, ...created } = await this.commands.createLink(context, link);
    return { ...created, token, path: `/public/${token}/${kind === 'run' ? 'shared-run' : 'compare'}` };
  }

  @Get()
  @Scope('read', OPTIONS)
  @Describe({ summary: 'List share links', description: 'Without their tokens, and without those that have expired.' })
  @Answers({ 200: links })
  async list(@Context() { tenantId }: CommandContext, @Query(page) asked: Infer<typeof page>) {
    const found = await this.queries.links(tenantId, asked);
    return { resources: found, offset: asked.offset + found.length };
  }

  @Delete(':share_id')
  @HttpCode(204)
  @Scope('write', OPTIONS)
  @Describe({ summary: 'Delete a share link', description: 'Its token gives nothing any more.', takes: ['x-reason'] })
  @Answers({ 204: null })
  async delete(@Context() context: CommandContext, @Id('share_id') share_id: string) {
    await this.commands.deleteLink(context, share_id);
  }
}

/** Returns when a link ends. @throws BadRequest for a time that is past, or too far ahead */
function endOf(asked: string | undefined): string {
  const now = Date.now();
  const end = asked === undefined ? now + USUAL_DAYS * DAY_MS : Date.parse(asked);
  if (end > now && end <= now + MOST_DAYS * DAY_MS) return new Date(end).toISOString();
  throw new BadRequest(`A link ends in the future, at most ${MOST_DAYS} days from now.`);
}
