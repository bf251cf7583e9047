export const EARLIER: readonly string[];
export function endingOf(path: string): string | undefined;
