import type { ValueTransformer } from 'typeorm';

/** Transformer for columns of type timestamptz: an entity has the value as ISO 8601 text in UTC, with milliseconds. */
export const timeText: ValueTransformer = {
  from: (time: Date | null) => time && time.toISOString(),
  to: (time: unknown) => time,
};
