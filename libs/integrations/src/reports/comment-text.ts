/** Characters of a comment that every host takes. */
export const LONGEST_COMMENT = 30_000;
/** Deployments that one comment tells of. */
export const MOST_SECTIONS = 10;

const LEFT_OUT = '\n\nThe rest is in Fairlead.';

/**
 * Returns the line by which a comment is found again. It is a link that nothing refers to, which no host shows: some show
 * comments of HTML.
 */
export function markerLine(marker: string): string {
  return `[//]: # (fairlead ${marker})`;
}

/** Returns a comment with what is said of each deployment, cut so that hosts take it. */
export function commentText(marker: string, sections: readonly string[]): string {
  const shown = sections.slice(0, MOST_SECTIONS);
  const head = markerLine(marker);
  const more = sections.length - shown.length;
  const foot = more > 0 ? [`${more} more deployments of this commit are in Fairlead.`] : [];
  const each = Math.floor((LONGEST_COMMENT - head.length - 200) / Math.max(1, shown.length));
  return [head, ...shown.map((section) => cutText(section, each)), ...foot].join('\n\n');
}

/** Returns the whole lines of a text that fit. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf('\n', most - LEFT_OUT.length);
  return text.slice(0, Math.max(0, end)).trimEnd() + LEFT_OUT;
}
