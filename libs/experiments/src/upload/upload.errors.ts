import { AppendTooLarge, QuotaReached, WorkspaceStopped } from '@fairlead/eventing';
import {
  BadRequest,
  Conflict,
  HttpProblem,
  mapError,
  PayloadTooLarge,
  Unavailable,
  Unprocessable,
  Forbidden,
} from '@fairlead/schema';
import { DatasetIdTaken, DatasetMismatch, NotExternallyManaged } from '../datasets/dataset';
import { LimitExceeded } from '../limits';
import { PayloadGone } from '../storage/payload.draft';
import { SessionExists } from '../sessions/session-names';
import { IdTaken } from './upload.service';

/** Says how refused uploads are answered. */
export function mapUploadErrors(): void {
  mapError(AppendTooLarge, ({ message }) => new HttpProblem(413, message));
  mapError(QuotaReached, ({ message }) => new Conflict(message));
  mapError(WorkspaceStopped, ({ message }) => new Forbidden(message));
  mapError(SessionExists, ({ message }) => new Conflict(message));
  mapError(DatasetIdTaken, ({ message }) => new Conflict(message));
  mapError(DatasetMismatch, ({ message }) => new BadRequest(message));
  mapError(NotExternallyManaged, ({ message }) => new BadRequest(message));
  mapError(PayloadGone, () => new Unavailable(1));
  mapError(IdTaken, () => new Unavailable(1));
  mapError(LimitExceeded, ({ limit, message }) =>
    limit === 'depth' ? Unprocessable.at(['body'], message) : new PayloadTooLarge(message),
  );
}
