/**
 * Members of one run that were sent: those that are absent are not known yet, or stay. Opaque members are JSON text.
 */
export interface RunChange {
  readonly id: string;
  readonly name?: string;
  readonly run_type?: string;
  readonly start_time?: string;
  readonly end_time?: string;
  readonly parent_run_id?: string;
  readonly trace_id?: string;
  readonly dotted_order?: string;
  readonly reference_example_id?: string;
  readonly error?: string;
  readonly inputs?: string;
  readonly outputs?: string;
  readonly extra?: string;
  readonly tags?: string;
  readonly events?: string;
  readonly serialized?: string;
  /** Attachments that were added; each takes the place of one of the same name. */
  readonly attachments?: readonly RunAttachment[];
  /** Names of members that were sent and are not stored, because they are too large. */
  readonly left_out?: readonly string[];
}

export interface RunAttachment {
  readonly name: string;
  /** Media type without parameters. */
  readonly type: string;
  /** SHA-256 of the content, hex. */
  readonly sha256: string;
  readonly bytes: number;
}
