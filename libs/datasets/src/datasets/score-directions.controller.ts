import { Answers, Area, Body, CommandContext, Context, Describe, Scope } from '@fairlead/api';
import { BadRequest, type Infer, list, note, object, optional, str } from '@fairlead/schema';
import { Controller, Get, Put } from '@nestjs/common';
import { Id } from '@fairlead/runs';
import { scoreDirections } from './datasets.answers.schema';
import { type ScoreDirections, setScoreDirections } from './dataset';
import { DatasetCommands } from './datasets.commands';

const LONGEST_KEY = 180;
const MOST_KEYS = 1000;

const keys = optional(list(str({ min: 1, max: LONGEST_KEY }), { max: MOST_KEYS }), [] as string[]);
const directionsBody = object('ScoreDirections', {
  lower_is_better: note(keys, 'Feedback keys whose lower scores are better.'),
  higher_is_better: note(keys, 'Feedback keys whose higher scores are better.'),
});

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/score-directions')
export class ScoreDirectionsController {
  constructor(private readonly datasets: DatasetCommands) {}

  @Get()
  @Scope('read')
  @Describe({ summary: 'Get which scores are better when lower or higher' })
  @Answers({ 200: scoreDirections })
  async find(@Context() context: CommandContext, @Id('dataset_id') id: string): Promise<ScoreDirections> {
    return (await this.datasets.find(context.tenantId, id)).state.directions;
  }

  @Put()
  @Scope('write')
  @Describe({
    summary: 'Say which scores are better when lower or higher',
    description: 'Replaces both lists.',
    takes: ['x-reason'],
  })
  @Answers({ 200: scoreDirections, 400: 'Both lists name a key.' })
  async set(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Body(directionsBody) body: Infer<typeof directionsBody>,
  ): Promise<ScoreDirections> {
    const both = body.lower_is_better.find((key) => body.higher_is_better.includes(key));
    if (both !== undefined) throw new BadRequest(`lower_is_better and higher_is_better both name ${both}.`);
    return (await this.datasets.change(context, id, setScoreDirections(body))).state.directions;
  }
}
