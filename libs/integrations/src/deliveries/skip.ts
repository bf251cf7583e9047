import type { Provider } from '../integration/integration';

const OF_ACTIONS = ['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]'];
const USUAL = ['[skip ci]', '[ci skip]'];

/** Marks in the message of a commit that let a host's own CI leave out the push whose newest commit has one. */
const MARKS: Readonly<Record<Provider, (message: string) => boolean>> = {
  github: (message) => holds(message, OF_ACTIONS) || /\n\n\n(?:[\w-]+:.*\n)*skip-checks: ?true\s*$/.test(message),
  gitea: (message) => holds(message, OF_ACTIONS),
  // In upper or lower case.
  gitlab: (message) => holds(message.toLowerCase(), USUAL),
  bitbucket: (message) => holds(message, USUAL),
};

/** Returns whether the CI of a provider leaves out a push whose newest commit has this message. */
export function isSkipped(provider: Provider, message: string): boolean {
  return MARKS[provider](message.replaceAll('\r\n', '\n'));
}

function holds(message: string, marks: readonly string[]): boolean {
  return marks.some((mark) => message.includes(mark));
}
