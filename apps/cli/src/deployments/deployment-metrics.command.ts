import type { Command } from 'commander';
import { Option } from 'commander';
import { does } from '../api/context';
import { deploymentId } from '../api/lookups';
import { examples } from '../output/help';
import { bytes, when } from '../output/text';
import { reaches } from '../table/group';

const ROUTE = 'GET /v2/deployments/{deployment_id}/metrics';

interface Point {
  readonly at: string;
  readonly requests: number | null;
  readonly errors: number | null;
  readonly latency_p50_ms: number | null;
  readonly latency_p99_ms: number | null;
  readonly memory_bytes: number | null;
  readonly restarts: number | null;
}

export function addMetrics(group: Command): void {
  const metrics = group
    .command('metrics')
    .description('show requests, errors, latency, memory and restarts over time; - is not measured')
    .argument('<deployment>', 'id or name')
    .addOption(
      new Option('--period <period>', 'the minutes of a day or the hours of 31 days')
        .choices(['minute', 'hour'])
        .default('minute'),
    );
  examples(metrics, 'deployments metrics support-agent --period hour');
  reaches(metrics, ROUTE);
  does<{ period: string }>(metrics, async ({ api, out }, [name], { period }) => {
    const path = `/v2/deployments/${await deploymentId(api, name!)}/metrics`;
    const { text } = await api.send({ method: 'GET', path, query: { period } });
    if (out.json) return out.text(text);
    const { points } = JSON.parse(text) as { points: readonly Point[] };
    if (points.length === 0) return out.note('Nothing was measured.');
    const counts = ['REQUESTS', 'ERRORS', 'P50', 'P99', 'MEMORY', 'RESTARTS'];
    out.table(
      [{ title: 'FROM' }, ...counts.map((title) => ({ title, right: true }))],
      points.map(({ at, requests, errors, latency_p50_ms: p50, latency_p99_ms: p99, memory_bytes, restarts }) => [
        when(at),
        shown(requests),
        shown(errors),
        shown(p50, ' ms'),
        shown(p99, ' ms'),
        memory_bytes === null ? '-' : bytes(memory_bytes),
        shown(restarts),
      ]),
    );
  });
}

function shown(value: number | null, unit = ''): string {
  return value === null ? '-' : `${value}${unit}`;
}
