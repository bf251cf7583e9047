/** Sizes of a deployment, as `resource_spec` names them. */
export type Sizes = Readonly<Record<string, unknown>> | null;

/** True when these sizes ask for a program that never sleeps. */
export function wantsToStayAwake(sizes: Sizes | undefined): boolean {
  return Number(sizes?.min_scale ?? 0) >= 1;
}

/** Number of processes that a program needs, at least one. */
export function leastOf(sizes: Sizes | undefined): number {
  return Math.max(1, Number(sizes?.min_scale ?? 1));
}

/** Bytes of memory that a process of a program may use; undefined when its sizes do not say. */
export function memoryOf(sizes: Sizes | undefined): number | undefined {
  const megabytes = sizes?.memory_limit_mb ?? sizes?.memory_mb;
  return typeof megabytes === 'number' ? megabytes * 1e6 : undefined;
}

/** Megabytes for a sentence. */
export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

/** Processor cores that a process of a program may use; undefined when its sizes do not say. */
export function coresOf(sizes: Sizes | undefined): number | undefined {
  const cores = sizes?.cpu_limit;
  return typeof cores === 'number' && cores > 0 ? cores : undefined;
}
