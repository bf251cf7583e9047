import { parentPort } from 'node:worker_threads';
import { HttpProblem } from '@fairlead/schema';
import type { SentExamples } from '../../examples/examples-body';
import { type ExamplesToRead, readExamplesBody } from '../../examples/read-examples';
import type { SentParts } from './live-runs-body';
import { type BodyToRead, readRunBody } from './read-run-body';

export type AnyBody = BodyToRead | ExamplesToRead;

export type BodyRead =
  | { readonly read: SentParts | SentExamples }
  | { readonly problem: Pick<HttpProblem, 'status' | 'detail' | 'headers' | 'members'> }
  | { readonly failure: unknown };

// The file that runs on the thread: each message is a body to read.
parentPort?.on('message', (body: AnyBody) => {
  const read = answer(body);
  // Contents of attachments share the memory of the body, which goes back with them.
  const shared = 'read' in read && read.read.contents.size > 0 ? [body.body.buffer as ArrayBuffer] : [];
  parentPort?.postMessage(read, shared);
});

function answer(body: AnyBody): BodyRead {
  try {
    return { read: 'examples' in body ? readExamplesBody(body) : readRunBody(body) };
  } catch (error) {
    if (!(error instanceof HttpProblem)) return { failure: error };
    const { status, detail, headers, members } = error;
    return { problem: { status, detail, headers, members } };
  }
}
