import { int, list, literal, note, nullable, object, optional, timestamp, uuid } from '@fairlead/schema';
import { PERIODS } from './sample';

export const metricsQuery = object({
  period: note(
    optional(literal(PERIODS), 'minute'),
    '`minute`: the minutes of the last day. `hour`: the hours of the last 31 days.',
  ),
});

const point = object('MetricsPoint', {
  at: note(timestamp(), 'When the minute or hour began.'),
  requests: note(nullable(int()), 'Requests that came to its program through this service; null: not measured.'),
  errors: note(nullable(int()), 'Those of them that were answered with a status of 500 or more; null: not measured.'),
  latency_p50_ms: note(
    nullable(int()),
    'Median of the time until a response began (ms), exact to an eighth; null without requests and where it is not measured.',
  ),
  latency_p99_ms: note(nullable(int()), 'The same for 99 of 100 requests; null as there.'),
  memory_bytes: note(
    nullable(int()),
    'Most memory that its processes used together; null while none runs and where it is not measured.',
  ),
  restarts: note(nullable(int()), 'How often a process was started again after it had ended; null: not measured.'),
});

export const metrics = object('DeploymentMetrics', {
  deployment_id: note(uuid(), 'Identifier of the deployment.'),
  period: note(literal(PERIODS), 'Length of time of each point.'),
  points: note(list(point), 'The oldest first. A time without a point was not measured at all.'),
});
