import type { FastifyReply } from 'fastify';
import { Counter } from 'prom-client';

/** Largest number of names in one answer. */
const MOST_NAMES = 10;
const LONGEST_NAME = 60;

const ignored = new Counter({
  name: 'fairlead_ignored_members_total',
  help: 'Members and parts of bodies that were sent and are not kept; the answers name them',
});

/** Names in the header `warning` what was sent and is not stored, and counts it. */
export function warnOfIgnored(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  ignored.inc(names.length);
  const distinct = [...new Set(names)];
  const shown = distinct.slice(0, MOST_NAMES).map((name) => name.replaceAll(/[^\w.-]/g, '?').slice(0, LONGEST_NAME));
  const more = distinct.length > MOST_NAMES ? ', ...' : '';
  void reply.header('warning', `299 - "Not kept: ${shown.join(', ')}${more}"`);
}
