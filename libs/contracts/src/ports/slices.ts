/** The members of an example by whose values rows are sliced, as callers are told. */
export const SLICE_MEMBER = 'split, metadata.<member> or inputs.<member>';

export function isSliceMember(text: string): boolean {
  return /^(split$|metadata\..|inputs\..)/s.test(text);
}
