/** Returns whether the header `Accept-Encoding` names a coding and does not refuse it. */
export function takesCoding(header: string | undefined, coding: string): boolean {
  return (header ?? '').split(',').some((entry) => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
