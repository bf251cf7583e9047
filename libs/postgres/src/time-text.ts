import type { ValueTransformer } from 'typeorm';

/** For a column of type timestamptz: entities have its value as ISO text in UTC, with milliseconds. */
export const timeText: ValueTransformer = {
  from: (time: Date | null) => time && time.toISOString(),
  to: (time: unknown) => time,
};
