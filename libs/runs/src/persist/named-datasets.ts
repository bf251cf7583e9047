/** Datasets that stored rows name; a library above this one knows them. Also the injection token. */
export abstract class NamedDatasets {
  /** Returns true while the log has the dataset; the view may be behind. */
  abstract isThere(id: string): Promise<boolean>;
}
