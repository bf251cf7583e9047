/** A map that keeps a limited number of entries: those that were read or set last. */
export class Recent<V> extends Map<string, V> {
  constructor(private readonly most: number) {
    super();
  }

  override get(key: string): V | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value!);
    return this;
  }
}
