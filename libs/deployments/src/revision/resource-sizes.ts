import { InvalidDeployment } from '../deployment/deployment.errors';

type Sizes = Readonly<Record<string, unknown>>;

const PARTS = ['', 'queue_', 'orchestrator_', 'executor_', 'cache_', 'db_'];
/** What is at least, or at first, and what it must not exceed. */
const PAIRS = PARTS.flatMap((part) => [
  [`${part}min_scale`, `${part}max_scale`],
  [`${part}cpu`, `${part}cpu_limit`],
  [`${part}memory_mb`, `${part}memory_limit_mb`],
]) as readonly (readonly [string, string])[];

/**
 * Checks sizes that are sent against those that stay as they are.
 * @throws InvalidDeployment naming a member that is sent and its counterpart when nothing can satisfy both.
 */
export function checkSizes(sent: Sizes | undefined, current: Sizes | undefined): void {
  if (!sent) return;
  const sizes = { ...current, ...sent };
  for (const [least, most] of PAIRS) {
    if (sent[least] === undefined && sent[most] === undefined) continue;
    const [low, high] = [sizes[least], sizes[most]];
    if (typeof low !== 'number' || typeof high !== 'number' || low <= high) continue;
    throw new InvalidDeployment(`${least} (${low}) must not be greater than ${most} (${high}).`);
  }
}
