import type { Schemas } from '../../api/client';

type NewLink = Schemas['NewShareLink'];
export type Shareable = Omit<NewLink, 'hide' | 'expires_at'>;
export type Hideable = NonNullable<NewLink['hide']>[number];

/** Names of the parts that a link can hide. */
export const NAMES: Readonly<Record<Hideable, string>> = {
  inputs: 'Inputs',
  reference_outputs: 'Reference outputs',
  outputs: 'Outputs',
  errors: 'Texts of errors',
  metadata: 'Metadata',
  feedback: 'Scores and all that follows from them',
  comments: 'Comments of scores',
};

/** Says which parts a link hides. */
export function hides(hidden: readonly Hideable[]): string {
  if (hidden.length === 0) return 'nothing hidden';
  return `hidden: ${hidden.map((member) => NAMES[member].toLowerCase()).join(', ')}`;
}

/** Day of a time, for a person. */
export function day(time: string): string {
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}
