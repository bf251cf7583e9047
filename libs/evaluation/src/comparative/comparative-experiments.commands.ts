import { AggregateCommands, EventStore } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import {
  comparativeExperimentAggregate,
  type ComparativeExperiment,
  type ComparativeExperimentEvent,
} from './comparative-experiment';

@Injectable()
export class ComparativeExperimentCommands extends AggregateCommands<
  ComparativeExperiment,
  ComparativeExperimentEvent
> {
  constructor(store: EventStore) {
    super(store, comparativeExperimentAggregate);
  }
}
