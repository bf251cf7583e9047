import { parentPort } from 'node:worker_threads';
import { HttpProblem } from '@fairlead/schema';

/** Message of the thread: the content of a body, or why it cannot be read. */
export type BodyRead<Content> =
  | { readonly read: Content }
  | { readonly problem: Pick<HttpProblem, 'status' | 'detail' | 'headers' | 'members'> }
  | { readonly failure: unknown };

/** Reads each message of the calling thread, which is a body, and sends back its content. */
export function readBodies<Asked extends { readonly body: Uint8Array }>(
  read: (asked: Asked) => { readonly contents: ReadonlyMap<string, Uint8Array> },
): void {
  parentPort?.on('message', (asked: Asked) => {
    const answer = answerTo(() => read(asked));
    // Contents of attachments share the memory of the body, which goes back with them.
    const shared = 'read' in answer && answer.read.contents.size > 0 ? [asked.body.buffer as ArrayBuffer] : [];
    parentPort?.postMessage(answer, shared);
  });
}

function answerTo<Content>(read: () => Content): BodyRead<Content> {
  try {
    return { read: read() };
  } catch (error) {
    if (!(error instanceof HttpProblem)) return { failure: error };
    const { status, detail, headers, members } = error;
    return { problem: { status, detail, headers, members } };
  }
}
