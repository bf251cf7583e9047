/** Comparative experiments that feedback may name; a library above this one knows them. Also the injection token. */
export abstract class NamedComparisons {
  /** @throws NotFound when the workspace has no such comparative experiment */
  abstract find(tenantId: string, id: string): Promise<unknown>;
}
