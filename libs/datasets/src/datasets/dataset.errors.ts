import { BadRequest, Conflict, NotFound } from '@fairlead/schema';

export class DatasetNotFound extends NotFound {
  constructor(id: string) {
    super(`Dataset ID ${id} not found.`);
  }
}

export class NotExternallyManaged extends BadRequest {
  constructor(id: string) {
    super(
      `Dataset ${id} was not created through the upload of an experiment, so experiments cannot be uploaded to it.`,
    );
  }
}

export class DatasetMismatch extends BadRequest {
  constructor(because: string) {
    super(`dataset_id and dataset_name refer to different datasets: ${because}.`);
  }
}

/** The id cannot be used. Says nothing of why, because that is another tenant's matter. */
export class DatasetIdTaken extends Conflict {
  constructor() {
    super('This dataset_id cannot be used.');
  }
}

export class DatasetExists extends Conflict {
  constructor(
    what: string,
    readonly id: string,
  ) {
    super(`Dataset ${what} already exists. Its id is ${id}.`);
  }
}

export class OnlyUploads extends BadRequest {
  constructor(id: string) {
    super(`Dataset ${id} is filled by uploads of experiments: its examples cannot be changed in another way.`);
  }
}

export class OtherDataset extends BadRequest {
  constructor(experimentId: string, id: string) {
    super(`Session ${experimentId} is no experiment on dataset ${id}.`);
  }
}

export class NoSuchVersion extends NotFound {
  constructor(asOf: string) {
    super(`Dataset version '${asOf}' not found.`);
  }
}
