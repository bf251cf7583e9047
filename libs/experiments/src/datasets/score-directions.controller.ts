import { EventStore, handle, load, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, metadataOf, path as pathOf, validateRequest } from '@fairlead/api';
import { BadRequest, list, NotFound, object, optional, str } from '@fairlead/schema';
import { Controller, Get, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { scoreDirections } from './datasets.answers.schema';
import { datasetModel, type DatasetState, type ScoreDirections, setScoreDirections } from './dataset';
import { idPath } from '../reading.http';

const LONGEST_KEY = 180;
const MOST_KEYS = 1000;

const keys = optional(list(str({ min: 1, max: LONGEST_KEY }), { max: MOST_KEYS }), [] as string[]);
const directionsBody = object({ lower_is_better: keys, higher_is_better: keys }, 'ScoreDirections');
const datasetPath = idPath('dataset_id');

/** What counts as better for the scores of a dataset, where the configurations of their keys say otherwise or nothing. */
@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/score-directions')
export class ScoreDirectionsController {
  constructor(private readonly store: EventStore) {}

  @Get()
  @Access('read')
  @Describe({
    summary: 'Get which scores are better when lower or higher',
    path: datasetPath,
    answers: { 200: scoreDirections },
  })
  async find(@Req() request: FastifyRequest): Promise<ScoreDirections> {
    const { dataset_id: id } = pathOf(datasetPath, request);
    const { state } = await load(this.store, datasetModel, streamName('dataset', id));
    return owned(request, id, ({ directions }) => directions)(state);
  }

  /** Replaces both lists. */
  @Put()
  @Access('write')
  @Describe({
    summary: 'Say which scores are better when lower or higher',
    description: 'Replaces both lists.',
    path: datasetPath,
    body: directionsBody,
    answers: { 200: scoreDirections, 400: 'Both lists name a key.' },
    takes: ['x-reason'],
  })
  async set(@Req() request: FastifyRequest): Promise<ScoreDirections> {
    const { path, body } = validateRequest(request, { path: datasetPath, body: directionsBody });
    const { dataset_id: id } = path;
    const both = body.lower_is_better.find((key) => body.higher_is_better.includes(key));
    if (both !== undefined) throw new BadRequest(`lower_is_better and higher_is_better both name ${both}.`);
    const decide = owned(request, id, setScoreDirections(body));
    const stream = streamName('dataset', id);
    const { state } = await handle(this.store, datasetModel, stream, decide, metadataOf(request));
    return state.directions;
  }
}

/** What `decide` says of the caller's dataset. @throws NotFound when there is none of this id */
function owned<T>({ actor }: FastifyRequest, id: string, decide: (state: DatasetState) => T) {
  return (state: DatasetState): T => {
    if (!state.exists || state.tenant !== actor.tenantId) throw new NotFound(`Dataset ID ${id} not found.`);
    return decide(state);
  };
}
