import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { EventStore, fold, type Recorded, streamName } from '@fairlead/eventing';
import {
  bool,
  type Infer,
  int,
  list,
  literal,
  NotFound,
  note,
  nullable,
  num,
  object,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { type GateJudged, type Judgements, judgementsModel } from './held-revision';
import { type HeldRevision, HeldRevisions } from './held-revisions.store';
import { RepeatedVerdicts } from './repeated-verdicts.service';

const OUTCOMES = ['promote', 'hold', 'refuse'] as const;
const OUTCOME =
  '`promote`: every limit is shown to hold. `refuse`: one is shown to be broken. `hold`: too little evidence.';

const criterion = object('GateCriterion', {
  of: note(str(), 'What is limited: a feedback key, a measure, the error rate, or a difference.'),
  slice: note(
    nullable(str()),
    'The rows that it holds for, as `<member>=<value>` of their example; null for all rows.',
  ),
  limit: note(str(), 'Kind of the limit.'),
  threshold: note(num(), 'The limit.'),
  outcome: note(literal(OUTCOMES), OUTCOME),
  rows: note(int(), 'Rows with a value.'),
  mean: note(nullable(num()), 'Mean of the rows; null for fewer than two.'),
  lower: note(
    nullable(num()),
    'The mean of all such rows is not below this, except with the probability of an error; null without a mean.',
  ),
  upper: note(
    nullable(num()),
    'The mean of all such rows is not above this, except with the probability of an error; null without a mean.',
  ),
  detectable: note(
    nullable(num()),
    'Distance beyond the limit that 80 % of such looks would find; null without a mean.',
  ),
});

const gates = note(
  list(
    object('GateVerdict', {
      gate: note(str(), 'Name of the gate.'),
      tested: note(bool(), 'True when there were enough rows to test its limits.'),
      outcome: note(literal(OUTCOMES), OUTCOME),
      reasons: note(list(str()), 'Sentences.'),
      criteria: note(list(criterion), 'Its limits.'),
    }),
  ),
  'The verdict of each gate.',
);
const reasons = note(list(str()), 'What is missing, or which limits are broken, in sentences.');
const look = note(int(), 'Number of looks at enough rows.');

const verdict = object('RevisionVerdict', {
  deployment_id: note(uuid(), 'Identifier of the deployment.'),
  revision_id: note(uuid(), 'Identifier of the revision.'),
  held: note(bool(), 'True while the revision waits for evidence.'),
  until: note(nullable(timestamp()), 'The end of the wait; null when it is over.'),
  outcome: note(literal(OUTCOMES), OUTCOME),
  reasons,
  look,
  looked_at: note(nullable(timestamp()), 'Time of the last look at changed evidence; null before the first one.'),
  method: note(nullable(str()), 'Name and version of the method of the last look; null before the first one.'),
  data: note(nullable(str()), 'SHA-256 (hex) of the scores that were looked at last; null before the first look.'),
  gates,
  experiments: note(
    list(
      object('GateExperiment', {
        id: note(uuid(), 'Identifier of the experiment.'),
        name: note(str(), 'Name of the experiment when it was counted.'),
        actor: note(nullable(str()), 'Id of the API key that made the experiment; null when that is not known.'),
        writers: note(
          list(str()),
          'Ids of the API keys that wrote what counted of it, the one that made it first; 20 at most.',
        ),
        scores_left_out: note(int(), 'Scores that did not count, because of the key that gave them.'),
        role: note(literal(['baseline', 'revision']), 'Side of the comparison.'),
        gate: note(str(), 'Name of the gate that it counts for.'),
      }),
    ),
    'The experiments that counted.',
  ),
});

const computed = object('ComputedVerdict', { outcome: note(literal(OUTCOMES), OUTCOME), look, reasons, gates });

const repetition = object('RepeatedVerdict', {
  deployment_id: note(uuid(), 'Identifier of the deployment.'),
  revision_id: note(uuid(), 'Identifier of the revision.'),
  event_id: note(uuid(), 'Identifier of the event in the log that says the verdict.'),
  looked_at: note(timestamp(), 'Time of the event.'),
  method: note(str(), 'Name and version of the method.'),
  data: note(str(), 'SHA-256 (hex) of the scores; empty when the end of the wait has decided.'),
  recorded: note(computed, 'The verdict of the log.'),
  repeated: note(nullable(computed), 'The verdict computed now from the same scores; null when that cannot be done.'),
  reason: note(nullable(str()), 'Why it cannot be computed, in a sentence; null when it can.'),
});

const path = object({
  deployment_id: note(uuid(), 'The `id` of a deployment of this workspace.'),
  revision_id: note(uuid(), 'The `id` of a revision of the deployment.'),
});

/** Tells what the gates of a revision have found, and computes it again. */
@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions/:revision_id/verdict')
export class VerdictController {
  constructor(
    private readonly store: EventStore,
    private readonly held: HeldRevisions,
    private readonly verdicts: RepeatedVerdicts,
  ) {}

  @Get()
  @Scope('read')
  @Describe({ summary: 'Get the verdict of the gates of a revision' })
  @Answers({ 200: verdict })
  async find(@Context() { tenantId }: CommandContext, @Path(path) ids: Infer<typeof path>) {
    const { looks, held } = await this.looksAt(tenantId, ids);
    return { ...ids, ...shown(fold(judgementsModel, looks), held) };
  }

  @Get('repeat')
  @Scope('read', { strict: true })
  @Describe({
    summary: 'Compute the verdict of the gates of a revision again',
    description:
      'Computes the last verdict of the log from the scores that it names. Equal `recorded` and `repeated` show that these scores, and no others, gave it. Nothing is changed.',
  })
  @Answers({ 200: repetition })
  async repeat(@Context() { tenantId }: CommandContext, @Path(path) ids: Infer<typeof path>) {
    const { looks } = await this.looksAt(tenantId, ids);
    const last = looks.at(-1);
    if (!last) throw noVerdict(ids);
    const { repeated, reason } = await this.verdicts.repeat(tenantId, looks);
    const about = { event_id: last.id, looked_at: last.time, method: last.data.method, data: last.data.data };
    return { ...ids, ...about, recorded: computedOf(last.data), repeated: repeated && computedOf(repeated), reason };
  }

  /** Everything that was found about a revision of the workspace. @throws NotFound when its gates have not held it */
  private async looksAt(tenantId: string, ids: Infer<typeof path>) {
    const looks = (await this.store.read(streamName('gate', ids.revision_id))) as Recorded<GateJudged>[];
    const held = await this.held.find(tenantId, ids.revision_id);
    const tenant = looks[0] ? looks[0].metadata.tenant : held?.tenant_id;
    const deployment = held?.deployment_id ?? looks[0]?.data.deployment_id;
    if (tenant !== tenantId || deployment !== ids.deployment_id) throw noVerdict(ids);
    return { looks, held };
  }
}

function noVerdict({ revision_id }: Infer<typeof path>): NotFound {
  return new NotFound(`A verdict on revision ID ${revision_id} not found.`);
}

function computedOf({
  outcome,
  look,
  reasons,
  verdicts,
}: Pick<GateJudged['data'], 'outcome' | 'look' | 'reasons' | 'verdicts'>) {
  return { outcome, look, reasons, gates: verdicts };
}

/** The looks so far, and what is known of the wait. */
function shown({ last, looks }: Judgements, held: HeldRevision | undefined) {
  const { time, method = null, data = null, outcome = 'hold', verdicts = [], experiments = [] } = last ?? {};
  const waits = held !== undefined && outcome === 'hold';
  return {
    ...{ held: waits, until: waits ? held.until : null, outcome, look: looks, looked_at: time ?? null, method, data },
    ...{ reasons: last?.reasons ?? ['Nothing has been looked at yet.'], gates: verdicts, experiments },
  };
}
