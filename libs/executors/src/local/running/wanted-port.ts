import type { Endpoint } from '../isolation/process-use.client';

interface Wanted {
  readonly port: number;
  readonly health?: string;
  /** True when the port is that of a container, which its image names. */
  readonly isContainer?: boolean;
}

const MOST_NAMED = 5;

/** Says what a program that is being started has to do; without its port before that was chosen. */
export function waitingFor({ port, health, isContainer }: Partial<Wanted>): string {
  const own = port === undefined ? 'at the port that PORT names' : `at port ${port} (the value of PORT)`;
  const where = isContainer ? 'at the port of its image' : own;
  return health === undefined
    ? `It is waited until the program listens ${where}.`
    : `It is waited until the program answers GET ${health} ${where}.`;
}

/** Says where a program that does not become ready listens, and where it must; `listening`: undefined when unknown. */
export function portAdvice(wanted: Wanted, listening: readonly Endpoint[] | undefined): string {
  const { port, health, isContainer } = wanted;
  if (isContainer) return `It must answer GET ${health} at the port of its image, and at all addresses (0.0.0.0).`;
  const must = `It must listen at the port that the environment variable PORT names, at 127.0.0.1 or 0.0.0.0.`;
  if (!listening) return must;
  const own = listening.filter((one) => one.port === port);
  if (own.some(({ address }) => address === 'any' || address === 'loopback')) {
    return health === undefined
      ? `It listens at port ${port}, but takes no connections there.`
      : `It listens at port ${port}, but does not answer GET ${health} there.`;
  }
  const first = own[0] && NAMES[own[0].address];
  if (first) return `It listens at port ${port} of ${first} only. It must listen at 127.0.0.1 or 0.0.0.0.`;
  const elsewhere = [...new Set(listening.map((one) => one.port))].sort((a, b) => a - b).slice(0, MOST_NAMED);
  if (elsewhere.length === 0) return `It listens at no port. ${must}`;
  return `It listens at port ${elsewhere.join(', ')} instead of ${port}. ${must}`;
}

const NAMES: Readonly<Record<Endpoint['address'], string>> = {
  any: '0.0.0.0',
  loopback: '127.0.0.1',
  'any of IPv6': 'IPv6',
  'loopback of IPv6': 'the IPv6 address ::1',
  another: 'another address',
};
