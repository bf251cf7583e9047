/** Sizes of a deployment, as `resource_spec` names them. */
export type Sizes = Readonly<Record<string, unknown>> | null;

export function wantsToStayAwake(sizes: Sizes | undefined): boolean {
  return Number(sizes?.min_scale ?? 0) >= 1;
}

export function leastOf(sizes: Sizes | undefined): number {
  return Math.max(1, Number(sizes?.min_scale ?? 1));
}

export function memoryOf(sizes: Sizes | undefined): number | undefined {
  const megabytes = sizes?.memory_limit_mb ?? sizes?.memory_mb;
  return typeof megabytes === 'number' ? megabytes * 1e6 : undefined;
}

export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

export function coresOf(sizes: Sizes | undefined): number | undefined {
  const cores = sizes?.cpu_limit;
  return typeof cores === 'number' && cores > 0 ? cores : undefined;
}
