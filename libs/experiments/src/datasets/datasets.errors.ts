import { BadRequest, Conflict, mapError, NotFound } from '@fairlead/schema';
import { AttachmentMismatch } from '../examples/example-attachments';
import { DatasetExists, NoSuchVersion, OnlyUploads } from './dataset-write';

/** Says how refused changes of datasets and examples are answered. */
export function mapDatasetErrors(): void {
  mapError(DatasetExists, ({ message }) => new Conflict(message));
  mapError(OnlyUploads, ({ message }) => new BadRequest(message));
  mapError(NoSuchVersion, ({ message }) => new NotFound(message));
  mapError(AttachmentMismatch, ({ message }) => new BadRequest(message));
}
