import { EventStore, load } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { NamedDatasets } from '@fairlead/runs';
import { datasetModel, datasetStream, isThere } from './dataset';

@Injectable()
export class LoggedDatasets implements NamedDatasets {
  constructor(private readonly store: EventStore) {}

  async isThere(id: string): Promise<boolean> {
    return isThere((await load(this.store, datasetModel, datasetStream(id))).state);
  }
}
