/** A question that customers ask, about five different things: `{x}` stands for the thing. */
export interface Case {
  readonly ask: string;
  /** The reference: what a correct answer has to say. */
  readonly reference: string;
  readonly right: string;
  readonly wrong: string;
  /** Why a judge refuses the wrong answer. */
  readonly fault: string;
}

/** A subject of the support team's questions. */
export interface Topic {
  readonly name: string;
  /** The tool that an agent calls for it, and what the tool answers. */
  readonly tool: string;
  readonly found: Readonly<Record<string, string | number | boolean>>;
  /** Five things that each of its questions can be about. */
  readonly things: readonly string[];
  readonly cases: readonly Case[];
}

/** A case from its parts, in the order of {@link Case}. */
export function asked(ask: string, reference: string, right: string, wrong: string, fault: string): Case {
  return { ask, reference, right, wrong, fault };
}
