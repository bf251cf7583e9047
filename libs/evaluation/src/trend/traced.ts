import { BadRequest } from '@fairlead/schema';
import type { TrendMeasure } from './trend.answers.schema';

/** Score or measure that a trend follows. */
export type Traced = { readonly key: string } | { readonly measure: TrendMeasure };

/** @throws BadRequest unless it is either a key or a measure */
export function tracedOf({ key, measure }: { readonly key?: string; readonly measure?: TrendMeasure }): Traced {
  if (key !== undefined && measure === undefined) return { key };
  if (measure !== undefined && key === undefined) return { measure };
  throw new BadRequest('Name either a key or a measure.');
}
